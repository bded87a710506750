"""A run's results as a file for `.eval_results/` of a model's repository on the Hugging Face Hub."""

from statistics import fmean
from typing import Any

from balrog_rag import __version__
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.results.episodes import NO_MODEL, any_asked
from balrog_rag.results.leaderboard.site_entries import tools_of
from balrog_rag.results.runs import LoadedRun
from balrog_rag.results.scoring import interval


def model_results(run: LoadedRun, started: str, dataset: str) -> list[dict[str, Any]]:
    """Return one entry per environment; `dataset` is the benchmark's dataset repository on the Hub."""
    if not any_asked(run.episodes):
        raise ConfigError(f"{run.folder}: {NO_MODEL} was asked; results of a model's card need one")
    if run.partial:
        raise ConfigError(f"{run.folder}: {run.partial}; finish the run first")
    first, tools = run.episodes[0], tools_of(run)
    made = []
    for env, episodes in run.by_env().items():
        found = interval(episodes)
        between = f" [{found.low:.2f}, {found.high:.2f}]" if found.known else ""
        value = fmean(episode.percent for episode in episodes)
        notes = (
            f"BALROG progression {value:.2f} %{between} (95 % interval), n={len(episodes)}, agent "
            f"{first.agent_name}, {'with ' + ', '.join(tools) if tools else 'without tools'}, "
            f"balrog_rag {__version__}, configuration {run.digest}"
        )
        entry: dict[str, Any] = {"dataset": {"id": dataset, "task_id": env}, "value": round(value, 4)}
        if started != "unknown":
            entry["date"] = started.partition("T")[0]
        made.append(entry | {"notes": notes})
    return made
