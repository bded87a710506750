"""Runs as logs of Inspect: one `.eval` file per environment, one sample per episode.

An `.eval` file is a zip of JSON files, written here directly, so exporting needs no package. Samples are
written one at a time; only their summaries are kept in memory.
"""

from collections.abc import Mapping, Sequence
from math import sqrt
from statistics import fmean, stdev
from typing import Any, BinaryIO
from zipfile import ZIP_DEFLATED, ZipFile

import msgspec

from balrog_rag import __version__
from balrog_rag.contracts.outcome import Outcome, in_words
from balrog_rag.episode.journal import Header
from balrog_rag.export.turns import ChatLine, Turns, conversation
from balrog_rag.results.episodes import NO_MODEL, Calls, Episode

VERSION = 2
"""The log schema of Inspect that is written."""
SCORE = "progression"
LIMITS = {
    Outcome.STEPS: "turn",
    Outcome.TOKENS: "token",
    Outcome.DOLLARS: "cost",
    Outcome.SECONDS: "time",
}
"""Inspect's names for limits that end an episode."""


class InspectLog:
    """Writes the log of one environment of a run."""

    def __init__(self, file: BinaryIO, env: str, run: str, created: str) -> None:
        self._zip = ZipFile(file, "w", ZIP_DEFLATED)
        self._env, self._run, self._created = env, run, created
        self._summaries: list[dict[str, Any]] = []
        self._episodes: list[Episode] = []
        self._settings: dict[str, Any] = {}
        self._model = NO_MODEL

    def add(self, header: Header, found: Turns, episode: Episode | None) -> None:
        """Add an episode; one that has not ended becomes a sample without a score."""
        sample = sample_of(header, found, episode, len(self._summaries) + 1)
        self._zip.writestr(f"samples/{sample['id']}_epoch_1.json", msgspec.json.encode(sample))
        self._summaries.append(_summary(sample, episode is not None))
        player = header.spec.last_player
        self._settings = {"agent": player.agent, "knowledge": player.knowledge, "versions": header.versions}
        if episode is not None:
            self._episodes.append(episode)
            self._model = str(episode.asked_model.get("name", NO_MODEL))

    def close(self) -> None:
        """Write the header, and complete the file."""
        ids = [summary["id"] for summary in self._summaries]
        spec = {
            "created": self._created,
            "task": f"balrog_rag/{self._env}",
            "task_version": 1,
            "dataset": {"name": self._env, "samples": len(ids), "sample_ids": ids},
            "model": self._model,
            "config": {"epochs": 1},
            "packages": {"balrog_rag": __version__},
            "metadata": {"run": self._run, **self._settings},
            "run_id": self._run,
            "eval_id": f"{self._run}-{self._env}",
            "task_id": f"balrog_rag-{self._env}",
        }
        plan = {"name": "plan", "steps": [], "config": {}}
        header = {
            "version": VERSION,
            "status": "success" if len(self._episodes) == len(ids) else "cancelled",
            "eval": spec,
            "plan": plan,
            "results": self._results(len(ids)),
            "stats": {
                "started_at": self._created,
                "completed_at": self._created,
                "model_usage": self._usage(),
            },
        }
        start = {"version": VERSION, "eval": spec, "plan": plan}
        for name, content in (
            ("_journal/start.json", start),
            ("summaries.json", self._summaries),
            ("header.json", header),
        ):
            self._zip.writestr(name, msgspec.json.encode(content))
        self._zip.close()

    def _results(self, samples: int) -> dict[str, Any]:
        values = [episode.progression for episode in self._episodes]
        metrics = {"mean": fmean(values)} if values else {}
        if len(values) > 1:
            metrics["stderr"] = stdev(values) / sqrt(len(values))
        named = {name: {"name": name, "value": value} for name, value in metrics.items()}
        score = {"name": SCORE, "scorer": SCORE, "scored_samples": len(values), "metrics": named}
        return {"total_samples": samples, "completed_samples": len(values), "scores": [score]}

    def _usage(self) -> dict[str, Any]:
        total = Calls()
        for episode in self._episodes:
            total.add(episode.total)
        return {self._model: usage_of(total)} if total.count else {}


def sample_of(header: Header, found: Turns, episode: Episode | None, number: int) -> dict[str, Any]:
    """Return one episode as an EvalSample. Hugging Face `datasets` reads only logs whose ids are numbers."""
    spec, end = header.spec, found.end
    messages = [_message(line, place) for place, line in enumerate(conversation(found))]
    asked = any(message.get("model") for message in messages)
    name = str(spec.last_player.model.get("name", NO_MODEL)) if asked else NO_MODEL
    sample: dict[str, Any] = {
        "id": number,
        "epoch": 1,
        # The list of samples begins with the input: only there can an episode be recognised.
        "input": f"{spec.episode}\n\n{found.first.screen if found.first else ''}",
        "target": "",
        "messages": messages,
        "metadata": {
            "episode": spec.episode,
            "spec_digest": spec.digest,
            "seeds": msgspec.to_builtins(spec.game.seeds),
            "outcome": end.outcome if end else "unfinished",
            "steps": end.steps if end else None,
        },
        # Inspect's answers name a model without its provider.
        "output": {"model": name.partition("/")[2] or name, "choices": []},
    }
    if episode is not None and end is not None:
        why = f"{in_words(end.outcome)}{f': {end.how}' if end.how else ''}"
        reached = f"; reached {episode.highest}" if episode.highest else ""
        explanation = f"{why}, after {episode.steps} steps{reached}"
        sample["scores"] = {
            SCORE: {"value": episode.progression, "answer": end.outcome, "explanation": explanation}
        }
        sample["total_time"] = sample["working_time"] = episode.seconds
        if episode.total.count:
            sample["model_usage"] = {episode.model_name: usage_of(episode.total)}
        if limit := LIMITS.get(Outcome(end.outcome)):
            # What was used when the limit ended the episode.
            total = episode.total
            used = {"turn": episode.steps, "token": total.input + total.output, "cost": total.dollars}
            sample["limit"] = {"type": limit, "limit": float(used.get(limit, episode.seconds)), "reason": why}
    return sample


def usage_of(calls: Calls) -> dict[str, Any]:
    """Return the tokens of calls as Inspect counts them; the cost only if every price is known."""
    return {
        "input_tokens": calls.input - calls.cached,
        "output_tokens": calls.output,
        "total_tokens": calls.input + calls.output,
        "input_tokens_cache_read": calls.cached,
        "reasoning_tokens": calls.reasoning,
        "total_cost": None if calls.unpriced else calls.dollars,
    }


def _message(line: ChatLine, place: int) -> dict[str, Any]:
    message: dict[str, Any] = {"id": f"message-{place}", "role": line.role, "content": line.text}
    if line.reasoning:
        message["content"] = [
            {"type": "reasoning", "reasoning": line.reasoning},
            {"type": "text", "text": line.text},
        ]
    if line.role == "assistant":
        message |= {"source": "generate", "model": line.model or None}
        message["tool_calls"] = [
            {"id": use.id, "function": use.name, "arguments": use.arguments, "type": "function"}
            for use in line.uses
        ] or None
    if line.answers:
        message |= {"tool_call_id": line.answers, "function": line.tool}
    return message


def _summary(sample: Mapping[str, Any], completed: bool) -> dict[str, Any]:
    kept: Sequence[str] = (
        "id",
        "epoch",
        "input",
        "target",
        "metadata",
        "scores",
        "model_usage",
        "total_time",
    )
    summary = {name: sample[name] for name in kept if name in sample}
    limit = sample["limit"]["type"] if "limit" in sample else None
    return summary | {"completed": completed, "message_count": len(sample["messages"]), "limit": limit}
