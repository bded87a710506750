"""Gymnasium's ids of the tasks, and their registration."""

import re
import warnings
from collections.abc import Iterator

import gymnasium

from balrog_rag.contracts import registry
from balrog_rag.contracts.errors import BalrogError
from balrog_rag.contracts.kinds import kind_of

NAMESPACE = "balrog_rag"
_ID_ALREADY = re.compile(r"[\w:.-]+-v\d+")
_NOT_IN_IDS = re.compile(r"[^\w:.-]")


def task_id(kind: str, task: str) -> str:
    """Return the id of a task: its own name if that is an id of Gymnasium, else the kind's name before it."""
    name = task if _ID_ALREADY.fullmatch(task) else _NOT_IN_IDS.sub("-", f"{kind}-{task}")
    return f"{NAMESPACE}/{name}"


def register_tasks() -> list[str]:
    """Register every task of every kind of game and return the ids.

    Importing this package does it. Call it again after you have registered a kind of your own. A task whose
    package or levels are missing is registered as well; making it says what is missing.
    """
    registered: dict[str, str] = {}
    for kind, task in _tasks():
        made = task_id(kind, task)
        if made in registered:
            warnings.warn(
                f"balrog_rag.gym: {kind}/{task} is not registered, because {registered[made]} has the "
                f"id {made}; rename one of the two tasks",
                stacklevel=2,
            )
            continue
        registered[made] = f"{kind}/{task}"
        if made not in gymnasium.registry:
            gymnasium.register(
                made,
                entry_point="balrog_rag.gym.game_env:GameEnv",
                vector_entry_point="balrog_rag.gym.game_vector_env:GameVectorEnv",
                kwargs={"task": registered[made]},
            )
    return list(registered)


def _tasks() -> Iterator[tuple[str, str]]:
    """Every kind and task, built-in kinds first."""
    for name in sorted(registry.environments.names(), key=registry.environments.rank):
        try:
            tasks = kind_of(name).tasks()
        except BalrogError as error:  # one broken plug-in must not take the other kinds with it
            warnings.warn(f"balrog_rag.gym: no task of {name!r} is registered: {error}", stacklevel=3)
            continue
        yield from ((name, task) for task in tasks)
