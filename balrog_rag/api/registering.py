"""Agents, programs, models and kinds of game that the running program defines, for example a notebook.

They are known to this process only. Agents and models always run here; games of a registered kind, or with a
registered program, are played in this process too, without the isolation of worker processes.
"""

from collections.abc import Callable
from typing import Any, TypeVar

from balrog_rag.contracts import registry
from balrog_rag.contracts.commands import Command
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.contracts.kinds import EnvironmentKind
from balrog_rag.contracts.programs import ProgramKind
from balrog_rag.contracts.statistics import Statistic

T = TypeVar("T")


class Register:
    """Registers extensions; registering a name again replaces it, but built-in names cannot be replaced."""

    def agent(self, name: str) -> Callable[[T], T]:
        """Decorate an agent class, selected by agent=NAME.

        >>> @balrog_rag.register.agent("noting")
        ... class Noting(BaseAgent):
        ...     own_prompts = {"note": "Your note: {{ note }}"}
        """
        return self._decorator(registry.agents, name)

    def model(self, name: str) -> Callable[[T], T]:
        """Decorate a model factory, which takes a ModelConfig and is selected by model=NAME.

        >>> @balrog_rag.register.model("north")
        ... class North:
        ...     name = "north"
        ...     def __init__(self, config):
        ...         pass
        ...     async def complete(self, request):
        ...         return Reply("north")
        """
        return self._decorator(registry.models, name)

    def program(self, kind: ProgramKind) -> ProgramKind:
        """Register a program: one action with env.programs=[NAME], or a player with agent=NAME."""
        return self._decorator(registry.programs, kind.name)(kind)

    def watcher(self, name: str) -> Callable[[T], T]:
        """Decorate a watcher, selected by run.watch=[NAME].

        It is a function of one argument, an event, or a class with `see(event)`, created once for each run.

        >>> from balrog_rag.contracts.events import Stepped
        >>> @balrog_rag.register.watcher("print_actions")
        ... def print_actions(event):
        ...     if isinstance(event, Stepped):
        ...         print(event.episode, event.step, event.taken)
        """
        return self._decorator(registry.watchers, name)

    def statistic(self, statistic: Statistic) -> Statistic:
        """Register a figure that summaries, reports and comparisons show from now on.

        >>> from balrog_rag.contracts.statistics import Statistic
        >>> balrog_rag.register.statistic(
        ...     Statistic(name="kinds_of_action", episode=lambda episode: len(episode.actions))
        ... )
        """
        return self._decorator(registry.statistics, statistic.name)(statistic)

    def command(self, command: Command) -> Command:
        """Register a command of `balrog-rag`, for programs that call `balrog_rag.cli.verbs.main` themselves.

        A command that a shell can run is installed through the entry-point group `balrog_rag.commands`.
        """
        return self._decorator(registry.commands, command.name)(command)

    def environment(self, kind: EnvironmentKind) -> EnvironmentKind:
        """Register a kind of game, selected by env.tasks=[NAME/TASK]."""
        return self._decorator(registry.environments, kind.name)(kind)

    def _decorator(self, kinds: "registry.Registry[Any]", name: str) -> Callable[[T], T]:
        if name in kinds.names() and not kinds.added(name):
            raise ConfigError(f"{kinds.kind} {name!r} already exists; choose another name")
        return kinds.add(name)


register = Register()
