"""How many episodes and calls can run at once, and notes if that is fewer than requested."""

from collections.abc import Sequence

from balrog_rag import agents
from balrog_rag.config.frozen import plain, tree_digest
from balrog_rag.config.schema import RunnerConfig
from balrog_rag.run.plan import PlannedRun
from balrog_rag.run.scheduler import EpisodeSlots
from balrog_rag.util.open_files import raised_limit
from balrog_rag.workers.pool import WORKERS_PER_CORE, most_workers

FILES_AN_EPISODE = 3
"""Files per episode in this process: journal, CSV, connection to the model."""
OTHER_FILES = 200
MOST_IN_PLAY = 10_000
"""Most episodes in play in one process, whatever the settings say."""


def most_at_once() -> int:
    """Return the most episodes in play: a fixed bound, or fewer if this process may open too few files."""
    return min(MOST_IN_PLAY, max(1, (raised_limit() - OTHER_FILES) // FILES_AN_EPISODE))


def lowered(runner: RunnerConfig) -> list[str]:
    """Describe the settings that exceed what this machine can run, in one line."""
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


def open_file_notes(runner: RunnerConfig, runs: Sequence[PlannedRun], gate: EpisodeSlots) -> list[str]:
    """Describe a shortage of open files that reduces the number of episodes in play."""
    wanted = min(runner.concurrency, MOST_IN_PLAY, sum(len(run.specs) for run in runs))
    if wanted <= gate.width:
        return []
    return [
        f"{gate.width} episodes at once, not {wanted}: the limit on open files is too low "
        f"(ulimit -Hn); {wanted} episodes need {wanted * FILES_AN_EPISODE + OTHER_FILES} files"
    ]


def model_concurrency_notes(runner: RunnerConfig, runs: Sequence[PlannedRun]) -> list[str]:
    """Describe models whose concurrency is lower than the number of episodes that will ask them."""
    episodes: dict[str, int] = {}
    # Runs of a sweep may share a model; its concurrency is one bound for the episodes of all of them.
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


def capacity_notes(runner: RunnerConfig, runs: Sequence[PlannedRun], gate: EpisodeSlots) -> list[str]:
    """Return the limits that will slow the run down, known before it starts."""
    return [*lowered(runner), *open_file_notes(runner, runs, gate), *model_concurrency_notes(runner, runs)]
