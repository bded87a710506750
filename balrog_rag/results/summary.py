"""BALROG's summary files of a run, recomputed from its journals.

Per environment: the mean over all episodes pooled, and the population standard error. Over environments: the
unweighted mean, and the standard error of that mean. BALROG adds episodes in the order in which the file
system lists them, so its last digit is arbitrary. Here sums are exact (`math.fsum`), independent of the
order, and equal to BALROG's except for that digit.
"""

from collections.abc import Iterable, Mapping, Sequence
from math import fsum, sqrt
from pathlib import Path
from typing import Any

import msgspec

from balrog_rag.contracts.errors import RunFolderError
from balrog_rag.contracts.kinds import kind_of
from balrog_rag.contracts.outcome import Outcome
from balrog_rag.contracts.programs import plays
from balrog_rag.results import run_folder as folder
from balrog_rag.results import user_statistics
from balrog_rag.results.coded_values import summed
from balrog_rag.results.episode_arrays import EpisodeArrays, arrays_of
from balrog_rag.results.episode_table import write_csv
from balrog_rag.results.episodes import ENDED_BY_GAME, Calls, Episode, answering, fingerprints
from balrog_rag.results.experiments import departure
from balrog_rag.results.runs import LoadedRun, load
from balrog_rag.util.files import FileNotWritten, replacing


class Summary(msgspec.Struct):
    """A run, and BALROG's summary of it."""

    run: LoadedRun
    overall: dict[str, Any]
    """summary.json"""
    environments: dict[str, dict[str, Any]]
    """<env>/<env>_summary.json by environment"""


def write_all(run_folder: Path, use_index: bool = True) -> Summary:
    """Recompute everything in a run folder except its journals, and write it."""
    folder.refuse_links(run_folder)
    run = load(run_folder, use_index)
    summary = summarise(run)
    for episode in run.with_files:
        path = folder.episode_stem(run_folder, episode.name).with_suffix(".json")
        if episode.name in run.fresh or not path.exists():
            _write_derived(path, episode_record(episode))
    for name in run.unfinished:
        (run_folder / f"{name}.json").unlink(missing_ok=True)
    for env, values in summary.environments.items():
        folder.write_json(run_folder / env / f"{env}_summary.json", values)
    write_csv(run_folder / "episodes.csv", run.episodes)
    folder.write_json(run_folder / "summary.json", summary.overall)
    user_statistics.log_problems(run_folder)
    return summary


def summarise(run: LoadedRun) -> Summary:
    """Compute BALROG's summaries of a loaded run."""
    figures = {
        env: found
        for env, episodes in run.by_env().items()
        if (found := user_statistics.figures(env, episodes))
    }
    environments = {
        env: env_summary(episodes) | statistics_key(figures.get(env)) | partial_key(run.partial_in(env))
        for env, episodes in run.by_env().items()
    }
    first = run.episodes[0] if run.episodes else None
    agent = first.agent if first else run.config.get("agent", {})
    model = asked_model(run)
    overall = overall_summary(run.by_env()) | {"client": client_keys(model), "agent": agent_keys(agent)}
    overall |= experiment_keys(run) | statistics_key(figures) | served_keys(run)
    return Summary(run, overall | partial_key(run.partial), environments)


def statistics_key(figures: Mapping[str, Any] | None) -> dict[str, Any]:
    """{"statistics": ...} if the user has registered some; all other keys of a summary stay the same."""
    return {"statistics": figures} if figures else {}


def served_keys(run: LoadedRun) -> dict[str, Any]:
    """What the servers said of the model that answered, if they named a fingerprint."""
    found = fingerprints(run.episodes)
    return {"served": {"models": answering(run.episodes), "fingerprints": found}} if found else {}


def asked_model(run: LoadedRun) -> Mapping[str, Any]:
    """The settings of the model that was called; empty for a run of programs, whatever is configured."""
    if run.episodes:
        return next((episode.asked_model for episode in run.episodes if episode.calls), {})
    agent = run.config.get("agent", {}).get("name")
    return {} if plays(str(agent)) else run.config.get("model", {})


def partial_key(partial: str) -> dict[str, str]:
    """{"partial": "7 of 204"} if episodes are open or missing, otherwise empty."""
    return {"partial": partial.removeprefix("partial: ")} if partial else {}


def experiment_keys(run: LoadedRun) -> dict[str, Any]:
    """The experiment that a run is named after, and how it departs from it; empty if there is none."""
    named = run.config.get("run", {}).get("experiment")
    departed = departure(run.config)
    return ({"experiment": named} if named else {}) | ({"departure": departed} if departed else {})


def mean_and_error(progressions: Sequence[float]) -> tuple[float, float]:
    """BALROG's mean and standard error (population standard deviation), as fractions."""
    count = len(progressions)
    if not count:
        return 0.0, 0.0
    mean = fsum(progressions) / count
    if count == 1:
        return mean, 0.0
    deviation = sqrt(fsum((value - mean) ** 2 for value in progressions) / count)
    return mean, deviation / sqrt(count)


def _scored(progressions: Sequence[float]) -> dict[str, Any]:
    mean, error = mean_and_error(progressions)
    return {"progression_percentage": 100 * mean, "standard_error": 100 * error}


def env_summary(episodes: Sequence[Episode]) -> dict[str, Any]:
    """The content of <env>_summary.json."""
    arrays = arrays_of(episodes)
    progressions, played = arrays.numbers("progression"), arrays.task
    tasks = {task: progressions[played.where(task)].tolist() for task, _ in played.counted()}
    return {
        **_scored(progressions.tolist()),
        "average_steps": summed(arrays.numbers("steps")) / len(episodes) if episodes else 0.0,
        "episodes_played": len(episodes),
        "tasks": {
            task: {**_scored(values), "episodes_played": len(values)} for task, values in tasks.items()
        },
        "input_tokens": _tokens(arrays, "input"),
        "output_tokens": _tokens(arrays, "output"),
    }


def _tokens(arrays: EpisodeArrays, name: str) -> int | None:
    """The tokens of these episodes' calls; null if nobody reported any."""
    known = arrays.total(name)[~arrays.unseen]
    return int(summed(known)) if len(known) or not len(arrays) else None


def overall_summary(by_env: Mapping[str, Sequence[Episode]]) -> dict[str, Any]:
    """The content of summary.json, except for `client` and `agent`."""
    environments = {env: env_summary(episodes) for env, episodes in by_env.items()}
    count = len(environments)
    means = [
        mean_and_error(arrays_of(episodes).numbers("progression").tolist())[0] for episodes in by_env.values()
    ]
    squares = fsum(env["standard_error"] ** 2 for env in environments.values())
    return {
        "average_progress": 100 * (fsum(means) / count) if count else 0.0,
        "standard_error": sqrt(squares) / count if count else 0.0,
        "environments": {
            name: {key: env[key] for key in ("progression_percentage", "standard_error", "episodes_played")}
            for name, env in environments.items()
        },
        "total_input_tokens": _summed(env["input_tokens"] for env in environments.values()),
        "total_output_tokens": _summed(env["output_tokens"] for env in environments.values()),
    }


def reported(calls: Calls, name: str) -> int | None:
    """The tokens of these calls; null if nobody reported any."""
    return None if calls.unseen else getattr(calls, name)


def _summed(counts: Iterable[int | None]) -> int | None:
    found = list(counts)
    known = [count for count in found if count is not None]
    return None if found and not known else sum(known)


def episode_record(episode: Episode) -> dict[str, Any]:
    """The content of an episode's own .json: BALROG's keys in BALROG's order, then the class of its end."""
    total = episode.total
    record: dict[str, Any] = {
        "task": episode.task,
        "action_frequency": episode.actions,
        "input_tokens": reported(total, "input"),
        "output_tokens": reported(total, "output"),
    }
    at_its_limit = episode.outcome == Outcome.STEPS and episode.keys >= episode.game.max_steps
    if episode.outcome in ENDED_BY_GAME or at_its_limit:
        record["done"] = True
    record |= {
        "episode_return": episode.total_reward,
        "num_steps": episode.steps,
        "failed_candidates": episode.failed_candidates,
    }
    record |= kind_of(episode.env).retrospect.record(episode)
    return record | {
        "progression": episode.progression,
        "end_reason": end_reason(episode),
        "process_num": None,
        "seed": episode.game.seeds.core,
        "agent": agent_keys(episode.agent),
        "client": client_keys(episode.asked_model),
        "cause": episode.cause,
        "preventable": episode.preventable,
        **({"segments": episode.segments} if episode.segments else {}),
    }


def end_reason(episode: Episode) -> str:
    """How it ended, with the game's own description, such as what killed the player."""
    said = episode.ended_by
    return f"{episode.outcome}: {said}" if said else episode.outcome


def agent_keys(agent: Mapping[str, Any]) -> dict[str, Any]:
    """The agent's settings, with its name under BALROG's key."""
    return {"type": agent.get("name"), **{key: value for key, value in agent.items() if key != "name"}}


def client_keys(model: Mapping[str, Any]) -> dict[str, Any]:
    """The model's settings under BALROG's names; every value is None if no model was called."""
    retry = model.get("retry") or {}
    return {
        "client_name": model.get("backend"),
        "model_id": model.get("name"),
        "base_url": model.get("base_url"),
        "generate_kwargs": {
            "temperature": model.get("temperature"),
            "max_tokens": model.get("max_tokens"),
            "thinking_budget": model.get("thinking_budget"),
        },
        "timeout": model.get("timeout"),
        "max_retries": retry.get("attempts"),
        "delay": retry.get("first_wait"),
        "alternate_roles": model.get("fuse_roles"),
    }


def _write_derived(path: Path, value: Any) -> None:
    """Write atomically, but without waiting for the disk: the file can be recreated from the journal."""
    try:
        with replacing(path) as file:
            file.write(msgspec.json.format(msgspec.json.encode(value), indent=4))
    except FileNotWritten as error:
        raise RunFolderError(str(error)) from error
    except OSError as error:
        raise RunFolderError(f"{path}: cannot be written ({error.strerror})") from error
