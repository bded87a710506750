"""How many episodes and calls there can be at once, and notes where that is fewer than asked for."""

from collections.abc import Sequence

from balrog_rag import agents
from balrog_rag.config.frozen import plain, tree_digest
from balrog_rag.config.schema import RunnerConfig
from balrog_rag.run.backend import PlannedRun
from balrog_rag.run.scheduler import EpisodeSlots
from balrog_rag.util.open_files import raised_limit
from balrog_rag.workers.pool import WORKERS_PER_CORE, most_workers

FILES_AN_EPISODE = 3
"""Its journal, its CSV, its connection to the model; a game has as many in the process that holds it."""
OTHER_FILES = 200
MOST_IN_PLAY = 10_000
"""Most episodes in play at once in one process, whatever the settings say."""


def most_at_once() -> int:
    """The most episodes in play: a fixed bound, and by the files that this process may have open."""
    return min(MOST_IN_PLAY, max(1, (raised_limit() - OTHER_FILES) // FILES_AN_EPISODE))


def lowered(runner: RunnerConfig) -> list[str]:
    """One line for the settings that are above what a machine like this can carry."""
    bounds = {
        "workers": (runner.workers, most_workers(), f"{WORKERS_PER_CORE} per core"),
        "concurrency": (runner.concurrency, MOST_IN_PLAY, "the most in one process"),
    }
    said = [
        f"runner.{name}={asked} lowered to {most} ({why})"
        for name, (asked, most, why) in bounds.items()
        if asked > most
    ]
    return [", ".join(said)] if said else []


def narrowed(runner: RunnerConfig, runs: Sequence[PlannedRun], gate: EpisodeSlots) -> list[str]:
    """What to say where fewer episodes can be in play than are wanted."""
    wanted = min(runner.concurrency, MOST_IN_PLAY, sum(len(run.specs) for run in runs))
    if wanted <= gate.width:
        return []
    return [
        f"{gate.width} episodes at once, not {wanted}: this process may not open files for more "
        f"(ulimit -Hn); {wanted} need {wanted * FILES_AN_EPISODE + OTHER_FILES} of them"
    ]


def few_calls(runner: RunnerConfig, runs: Sequence[PlannedRun]) -> list[str]:
    """What to say where a model is asked less at once than there are episodes in play that ask it."""
    episodes: dict[str, int] = {}
    models = {tree_digest(plain(run.config.model)): run.config.model for run in runs}
    for run in runs:
        if agents.asks_model(run.config.agent) and run.config.model.backend == "litellm":
            name = tree_digest(plain(run.config.model))
            episodes[name] = episodes.get(name, 0) + len(run.specs)
    notes = []
    for name, count in episodes.items():
        at_once, model = min(count, runner.concurrency), models[name]
        if at_once > model.concurrency:
            notes.append(
                f"model.concurrency={model.concurrency}: at most {model.concurrency:,} of {at_once:,} "
                f"episodes in play are answered at once (runner.concurrency={runner.concurrency}); "
                f"if {model.name} can take more, add model.concurrency={at_once}"
            )
    return notes


def held_back(runner: RunnerConfig, runs: Sequence[PlannedRun], gate: EpisodeSlots) -> list[str]:
    """Limits that will hold the run back, known before it starts."""
    return [*lowered(runner), *narrowed(runner, runs, gate), *few_calls(runner, runs)]
