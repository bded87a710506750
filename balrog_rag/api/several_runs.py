"""Play sweeps from Python."""

import asyncio
import warnings
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from balrog_rag.api.run_api import Place, Run, placed, refuse_flags, refuse_running_loop
from balrog_rag.config.plain_secrets import refuse_in_words
from balrog_rag.contracts.errors import ConfigError

if TYPE_CHECKING:
    from balrog_rag.api.given_objects import AgentLike, EnvLike, ModelLike
    from balrog_rag.run.plan import PlannedRun


def sweep(
    *overrides: str,
    agent: "AgentLike | Sequence[AgentLike] | None" = None,
    env: "EnvLike | None" = None,
    model: "ModelLike | Sequence[ModelLike] | None" = None,
    episodes: int | None = None,
    folder: Place | None = None,
    trust: bool = False,
) -> list[Run]:
    """Play one run for each combination of values, or resume a sweep, and return the runs.

    >>> naive, cot = sweep(agent=["naive", "robust_cot"], model="scripted", env="corridor", episodes=2)
    >>> runs = sweep("agent=naive,cot", "knowledge.index=bm25,flat_ip", folder="results/indexes")
    >>> runs = sweep("resume=results/indexes")

    Args:
        overrides: as for `balrog-rag sweep`: KEY=A,B lists values, +experiment=NAME plays its arms.
        agent: what `evaluate` takes, or a list of that.
        env: what `evaluate` takes; a list means the tasks of every run.
        model: what `evaluate` takes, or a list of that.
        episodes: episodes per task.
        folder: the folder to create for the sweep; without it run.folder and run.name decide.
        trust: resume a folder made by somebody else although its settings reach outside.

    The folder of the runs gets sweep.csv and sweep.md. A ConfigError is raised if any run cannot begin,
    before the first one does. Where an event loop is running, as in a notebook, use `asweep`.
    """
    refuse_running_loop("asweep")
    playing = asweep(
        *overrides, agent=agent, env=env, model=model, episodes=episodes, folder=folder, trust=trust
    )
    return asyncio.run(playing)


async def asweep(
    *overrides: str,
    agent: "AgentLike | Sequence[AgentLike] | None" = None,
    env: "EnvLike | None" = None,
    model: "ModelLike | Sequence[ModelLike] | None" = None,
    episodes: int | None = None,
    folder: Place | None = None,
    trust: bool = False,
) -> list[Run]:
    """Play a sweep like `sweep`, where an event loop is running already, as in a notebook.

    >>> runs = await asweep(agent=["naive", "cot"], model="scripted", env="corridor", episodes=2)

    The arguments are those of `sweep`.
    """
    from balrog_rag.api.given_objects import agent_name, model_name, overrides_of, refuse_repeated
    from balrog_rag.cluster.choice import backend_of
    from balrog_rag.display.display import display
    from balrog_rag.results import sweep_table
    from balrog_rag.run.attempt import attempt
    from balrog_rag.run.run import RunOutcome, blames, troubles
    from balrog_rag.run.sweep_play import play_sweep

    keyword = [
        *_values("agent", agent, agent_name),
        *_values("model", model, model_name),
        *overrides_of(None, env, None, episodes),
        *placed(folder),
    ]
    refuse_repeated(overrides, keyword)
    runs = begin_sweep([*overrides, *keyword], trust)
    outcomes: dict[str, RunOutcome] = {}
    with ExitStack() as locks:
        for run in runs:
            locks.enter_context(attempt(run))
        await play_sweep(runs, outcomes, display, backend_of)
        table = sweep_table.rows([(run.label, run.folder, len(run.specs)) for run in runs])
        sweep_table.write_tables(runs[0].folder.parent, table)
    played = []
    for run in runs:
        problems = [*troubles(outcomes[run.label]), *blames([outcomes[run.label]])]
        for line in problems:
            warnings.warn(f"{run.label}: {line}", stacklevel=2)
        played.append(Run(run.folder, problems))
    return played


def begin_sweep(words: list[str], trust: bool = False) -> "list[PlannedRun]":
    """Create the folders of the sweep that the overrides describe, or read those of an earlier one."""
    from balrog_rag.run.request import is_sweep, resumed_folder
    from balrog_rag.run.sweep_plan import arm_notes, new_sweep, resumed_sweep

    refuse_in_words(words)
    refuse_flags(words)
    if launcher := [word for word in words if word.startswith("hydra")]:
        raise ConfigError(f"{launcher[0]}: only for the command balrog-rag sweep; leave it out")
    folder, words = resumed_folder(words)
    if folder is not None:
        if not is_sweep(folder, words):
            raise ConfigError(f"resume={folder}: not a sweep; resume a single run with balrog_rag.evaluate")
        return resumed_sweep(folder, words, trust)
    for sentence in arm_notes(words):
        warnings.warn(sentence, stacklevel=2)
    return new_sweep(words)


def _values(key: str, given: Any, name_of: Callable[[Any], str]) -> list[str]:
    """The override KEY=A,B of one value or a list of them."""
    if given is None:
        return []
    several = given if isinstance(given, list | tuple) else [given]
    if not several:
        raise ConfigError(f"{key}: an empty list; pass at least one")
    return [f"{key}={','.join(map(name_of, several))}"]
