"""A run's results as a record of Every Eval Ever, schema 0.3.0, with this project's intervals."""

import time
from collections.abc import Mapping, Sequence
from math import sqrt
from statistics import fmean, stdev
from typing import Any

from balrog_rag import __version__
from balrog_rag.contracts.kinds import kind_of
from balrog_rag.results.episodes import NO_MODEL, Episode
from balrog_rag.results.runs import LoadedRun
from balrog_rag.results.scoring import interval

VERSION = "0.3.0"


def record(run: LoadedRun, started: str, organization: str) -> dict[str, Any]:
    """Return the record of a run: progression in each environment. Every number stands in the run folder."""
    first = run.episodes[0]
    model = str(first.asked_model.get("name", NO_MODEL))
    now = str(int(time.time()))
    # A configuration does not say who runs the model or whether its weights are open.
    unknown = {"deployment_type": "unknown", "model_availability": "unknown"}
    details = unknown | {
        "agent": first.agent_name,
        "configuration": run.digest,
        "partial": run.partial or "no",
    }
    made = {
        "schema_version": VERSION,
        "evaluation_id": f"balrog_rag/{model}/{run.digest[:16]}",
        "retrieved_timestamp": now,
        "source_metadata": {
            "source_name": "balrog_rag",
            "source_type": "evaluation_run",
            "source_organization_name": organization,
            "evaluator_relationship": "third_party",
        },
        "eval_library": {"name": "balrog_rag", "version": __version__},
        "model_info": {"name": model, "id": model, "additional_details": details},
        "evaluation_results": [_result(env, episodes) for env, episodes in run.by_env().items()],
    }
    # A run that recorded no start has no such field, rather than a time that nobody knows.
    return made if started == "unknown" else made | {"evaluation_timestamp": started}


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
