"""How many episodes and calls there can be at once, and notes where that is fewer than asked for."""

from collections.abc import Sequence

from balrog_rag import agents
from balrog_rag.config.frozen import plain, tree_digest
from balrog_rag.config.schema import RunnerConfig
from balrog_rag.run.backend import PlannedRun
from balrog_rag.run.scheduler import Gate
from balrog_rag.util.open_files import raised_limit

FILES_AN_EPISODE = 3
"""Its journal, its CSV, its connection to the model; a game has as many in the process that holds it."""
OTHER_FILES = 200


def most_at_once() -> int:
    """The episodes that can be in play, by the files that this process may have open."""
    return max(1, (raised_limit() - OTHER_FILES) // FILES_AN_EPISODE)


def narrowed(runner: RunnerConfig, runs: Sequence[PlannedRun], gate: Gate) -> list[str]:
    """What to say where fewer episodes can be in play than are wanted."""
    wanted = min(runner.concurrency, sum(len(run.specs) for run in runs))
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


def held_back(runner: RunnerConfig, runs: Sequence[PlannedRun], gate: Gate) -> list[str]:
    """Limits that will hold the run back, known before it starts."""
    return [*narrowed(runner, runs, gate), *few_calls(runner, runs)]
