"""What can be played, by name: agents and tasks."""

from balrog_rag.contracts import registry
from balrog_rag.contracts.kinds import kind_of


def list_agents() -> list[str]:
    """List what `agent=` accepts: presets, registered agents, and programs that play whole episodes.

    >>> "cot" in list_agents()
    """
    from balrog_rag.config.groups import group_options

    return group_options()["agent"]


def list_tasks(env: str | None = None) -> list[str]:
    """List the tasks of an environment as `env/task`, or those of all environments.

    >>> list_tasks()[:2]
    """
    names = registry.environments.names() if env is None else [env]
    return [f"{name}/{task}" for name in names for task in kind_of(name).tasks()]
