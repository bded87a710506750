"""A run's results as a record of Every Eval Ever, schema 0.3.0, with this project's intervals.

A record is a file of results and one of samples, an episode each, at the paths that the datastore of Every
Eval Ever expects: data/balrog_rag/DEVELOPER/MODEL/UUID.json and UUID_samples.jsonl.
"""

import re
import time
from collections.abc import Mapping, Sequence
from hashlib import sha256
from math import sqrt
from pathlib import Path
from statistics import fmean, stdev
from typing import Any
from uuid import UUID

import msgspec

from balrog_rag import __version__
from balrog_rag.contracts.kinds import kind_of
from balrog_rag.export.turns import DESCRIPTIONS, TOOLS, ChatLine, Turns, conversation
from balrog_rag.results.episodes import NO_MODEL, Episode
from balrog_rag.results.runs import LoadedRun
from balrog_rag.results.scoring import interval

VERSION = "0.3.0"


class ModelIdentity(msgspec.Struct, frozen=True):
    """The model of a run, named as Every Eval Ever names models: DEVELOPER/MODEL."""

    name: str
    developer: str
    model: str
    platform: str = ""
    local: bool = False

    @property
    def id(self) -> str:
        """The model's identifier."""
        return f"{self.developer}/{self.model}"

    @classmethod
    def of(cls, episode: Episode) -> "ModelIdentity":
        """Name the model of a run; a player without a model is a program of this package.

        A name without a developer, such as a file's, gets its back end's as the developer, because the
        datastore refuses records of unknown developers.
        """
        asked = episode.asked_model
        if not asked:
            return cls(f"{episode.agent_name} ({NO_MODEL})", "balrog_rag", episode.agent_name, local=True)
        name, backend = str(asked.get("name", "")), str(asked.get("backend", "litellm"))
        parts = [part for part in name.split("/") if part]
        if backend == "local" or len(parts) < 2:
            return cls(name, backend, parts[-1] if parts else backend, local=backend == "local")
        platform = parts.pop(0) if len(parts) > 2 else ""
        return cls(name, parts[0], "/".join(parts[1:]), platform)


class EvalRecord:
    """The record of one run; `part` names the episode if it is of a single one."""

    def __init__(
        self, run: LoadedRun, started: str, organization: str, relationship: str, part: str = ""
    ) -> None:
        self._run, self._started = run, started
        self._part = f"/{part}" if part else ""
        self._organization, self._relationship = organization, relationship
        self._now = str(int(time.time()))
        self.model = ModelIdentity.of(run.episodes[0])
        self.id = f"balrog_rag-{run.digest[:12]}{self._part}/{self.model.id}/{self._now}"

    @property
    def path(self) -> Path:
        """Where the datastore has the results, without the suffix; the same run has the same path."""
        drawn = sha256(f"{self._run.digest}/{self._run.name}{self._part}".encode()).digest()
        folders = (_portable(part) for part in (self.model.developer, self.model.model))
        return Path("data", "balrog_rag", *folders, str(UUID(bytes=drawn[:16], version=4)))

    def sample(self, found: Turns, episode: Episode) -> dict[str, Any]:
        """Return one episode: its conversation and its score."""
        messages = [_message(line, place) for place, line in enumerate(conversation(found))]
        called = sum(len(message.get("tool_calls") or ()) for message in messages)
        screen = found.first.screen if found.first else ""
        total = episode.total
        made = {
            "schema_version": VERSION,
            "evaluation_id": self.id,
            "model_id": self.model.id,
            "evaluation_name": f"balrog_rag/{episode.env}",
            "evaluation_result_id": self._result_id(episode.env),
            "sample_id": episode.name,
            "sample_hash": sha256(screen.encode()).hexdigest(),
            "interaction_type": "agentic",
            "input": {"raw": screen, "reference": []},
            "messages": messages,
            "answer_attribution": [],  # the game counts progression; nothing is read from an answer
            "evaluation": {
                "score": episode.percent,
                "is_correct": episode.progression >= 1,
                "num_turns": len(found.turns) or None,
                "tool_calls_count": called,
            },
            "performance": {"latency_ms": 1000 * episode.seconds},
            "metadata": {
                "outcome": episode.outcome,
                "ended_by": episode.ended_by,
                "steps": str(episode.steps),
                "spec_digest": episode.spec_digest,
            },
        }
        if total.count and not total.unseen:
            made["token_usage"] = {
                "input_tokens": total.input,
                "output_tokens": total.output,
                "total_tokens": total.tokens,
                "input_tokens_cache_read": total.cached,
                "reasoning_tokens": total.reasoning,
            }
        return made

    def results(self, rows: int, checksum: str) -> dict[str, Any]:
        """Return the results; `rows` and `checksum` (SHA-256) are those of the file of samples."""
        run = self._run
        made = {
            "schema_version": VERSION,
            "evaluation_id": self.id,
            "retrieved_timestamp": self._now,
            "source_metadata": {
                "source_name": "balrog_rag",
                "source_type": "evaluation_run",
                "source_organization_name": self._organization,
                "evaluator_relationship": self._relationship,
            },
            "eval_library": {"name": "balrog_rag", "version": __version__},
            "model_info": self._model_info(),
            "evaluation_results": [
                _result(env, episodes)
                | {"evaluation_result_id": self._result_id(env), "generation_config": _generation(run)}
                for env, episodes in run.by_env().items()
            ],
            "detailed_evaluation_results": {
                "format": "jsonl",
                "file_path": f"{self.path}_samples.jsonl",
                "hash_algorithm": "sha256",
                "checksum": checksum,
                "total_rows": rows,
            },
        }
        # A run that recorded no start has no such field, rather than a time that nobody knows.
        return made if self._started == "unknown" else made | {"evaluation_timestamp": self._started}

    def _result_id(self, env: str) -> str:
        return f"{self.id}/{env}/progression"

    def _model_info(self) -> dict[str, Any]:
        # A configuration does not say whether a model's weights are open.
        details = {
            "deployment_type": "self_deployed" if self.model.local else "unknown",
            "model_availability": "unknown",
            "agent": self._run.episodes[0].agent_name,
            "configuration": self._run.digest,
            "partial": self._run.partial or "no",
        }
        platform = {"inference_platform": self.model.platform} if self.model.platform else {}
        return {"name": self.model.name, "id": self.model.id, "additional_details": details} | platform


def _portable(part: str) -> str:
    """Make a folder's name as the datastore does, and replace what it refuses."""
    return re.sub(r'[<>"\\|?*:/\x00-\x1f]', "_", part).rstrip(". ") or "_"


def _message(line: ChatLine, place: int) -> dict[str, Any]:
    message: dict[str, Any] = {"turn_idx": place, "role": line.role, "content": line.text}
    if line.reasoning:
        message["reasoning_trace"] = line.reasoning
    if line.uses:
        message["tool_calls"] = [
            {"id": use.id, "name": use.name, "arguments": _texts(use.arguments)} for use in line.uses
        ]
    if line.answers:
        message["tool_call_id"] = [line.answers]
    return message


def _texts(values: Mapping[str, Any]) -> dict[str, str]:
    """The schema takes texts only: other values are written as JSON."""
    return {
        name: value if isinstance(value, str) else msgspec.json.encode(value).decode()
        for name, value in values.items()
    }


def _generation(run: LoadedRun) -> dict[str, Any]:
    """The settings of the model and the limits of an episode, as far as they are known."""
    first, limits = run.episodes[0], run.config.get("limits") or {}
    caps = limits.get("episode") or {}
    made: dict[str, Any] = {
        "agentic_eval_config": {
            "available_tools": [{"name": name, "description": DESCRIPTIONS[name]} for name in TOOLS]
        }
    }
    for name in ("temperature", "max_tokens"):
        value = first.asked_model.get(name)
        if isinstance(value, int | float):
            made[name] = value
    bounds = {"time_limit": caps.get("seconds"), "token_limit": caps.get("tokens")}
    known = {name: int(value) for name, value in bounds.items() if isinstance(value, int | float)}
    if known:
        made["eval_limits"] = known
    steps = limits.get("steps")
    return {"generation_args": made} | ({"additional_details": {"step_limit": str(steps)}} if steps else {})


def _result(env: str, episodes: Sequence[Episode]) -> dict[str, Any]:
    values = [episode.percent for episode in episodes]
    uncertainty: dict[str, Any] = {"num_samples": len(values)}
    if len(values) > 1:
        deviation = stdev(values)
        error = {"value": deviation / sqrt(len(values)), "method": "analytic"}
        uncertainty |= {"standard_deviation": deviation, "standard_error": error}
    found = interval(episodes)
    if found.known:
        bounds = {"lower": found.low, "upper": found.high, "confidence_level": 0.95, "method": found.method}
        uncertainty["confidence_interval"] = bounds
    return {
        "evaluation_name": f"balrog_rag/{env}",
        "source_data": {"dataset_name": kind_of(env).title, "source_type": "other"},
        "metric_config": {
            "evaluation_description": "BALROG's progression, mean over episodes",
            "metric_id": f"balrog.{env}.progression",
            "metric_name": "progression",
            "metric_unit": "percent",
            "lower_is_better": False,
            "score_type": "continuous",
            "min_score": 0,
            "max_score": 100,
        },
        "score_details": {"score": fmean(values), "uncertainty": uncertainty, "details": _ends(episodes)},
    }


def _ends(episodes: Sequence[Episode]) -> Mapping[str, str]:
    outcomes = [episode.outcome for episode in episodes]
    return {f"ended: {name}": str(outcomes.count(name)) for name in sorted(set(outcomes))}
