"""Agents, programs, models and kinds of game defined in the running program, such as a notebook.

What is registered here is known to this process alone. Agents and models live here anyway; games of a kind
or with a program registered here are played in this process, too, without the workers' protection.
"""

from collections.abc import Callable
from typing import Any, TypeVar

from balrog_rag.contracts import registry
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.contracts.kinds import EnvironmentKind
from balrog_rag.contracts.programs import ProgramKind

T = TypeVar("T")


class Register:
    """What can be registered; the same name again replaces what was registered, never what is built in."""

    def agent(self, name: str) -> Callable[[T], T]:
        """Decorator of an agent's class: agent=NAME."""
        return self._decorator(registry.agents, name)

    def model(self, name: str) -> Callable[[T], T]:
        """Decorator of a model's factory, which takes a ModelConfig: model=NAME."""
        return self._decorator(registry.models, name)

    def program(self, kind: ProgramKind) -> ProgramKind:
        """A program: an action by env.programs=[NAME], or a player by agent=NAME."""
        return self._decorator(registry.programs, kind.name)(kind)

    def environment(self, kind: EnvironmentKind) -> EnvironmentKind:
        """A kind of game: env.tasks=[NAME/TASK]."""
        return self._decorator(registry.environments, kind.name)(kind)

    def _decorator(self, kinds: "registry.Registry[Any]", name: str) -> Callable[[T], T]:
        if name in kinds.names() and not kinds.added(name):
            raise ConfigError(f"{kinds.kind} {name!r} exists already; choose another name")
        return kinds.add(name)


register = Register()
