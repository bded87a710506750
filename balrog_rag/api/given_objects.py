"""Keyword arguments of `evaluate` as overrides: classes and objects are registered, then chosen by name."""

import copy
import re
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from balrog_rag.api.registering import register
from balrog_rag.config.own_files import quoted
from balrog_rag.contracts import registry
from balrog_rag.contracts.behaviour import Agent, Model
from balrog_rag.contracts.data import Reply, Request
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.contracts.kinds import EnvironmentKind
from balrog_rag.contracts.programs import ProgramKind

AgentLike: TypeAlias = str | ProgramKind | type | Callable[..., Agent] | Agent
"""A name, a program, a class or factory taking (config, view, llm, knowledge), or an object with `act`."""
ModelLike: TypeAlias = str | type | Callable[..., Model] | Model
"""A name, a class or factory taking a ModelConfig, or an object with `complete`."""
EnvLike: TypeAlias = str | EnvironmentKind | Sequence[str]
"""A preset of conf/env, a task as ENV/TASK, several tasks, or a kind of game: all of its tasks."""


class AgentCopies:
    """Makes a copy of an agent object for every episode, so that no episode remembers another."""

    def __init__(self, agent: Any) -> None:
        self.given = agent
        self.asks_model: bool = getattr(agent, "asks_model", False)  # an object has no handle to the model

    def __call__(self, *_: Any) -> Any:
        """A fresh copy of the object as it was passed."""
        return copy.deepcopy(self.given)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.given, name)


class SharedModel:
    """A model object that a run borrows; its owner closes it, since it may serve other runs."""

    def __init__(self, model: Any, name: str) -> None:
        self.given = model
        self.name = str(getattr(model, "name", name))

    async def complete(self, request: Request) -> Reply:
        """Ask it."""
        reply: Reply = await self.given.complete(request)
        return reply

    async def close(self) -> None:
        """Leave it open."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self.given, name)


class ModelObject:
    """The factory of a model object."""

    def __init__(self, model: Any, name: str) -> None:
        self.given, self._name = model, name

    def __call__(self, config: Any) -> SharedModel:
        """The object itself, whatever the settings are."""
        return SharedModel(self.given, self._name)


def overrides_of(
    agent: AgentLike | None, env: EnvLike | None, model: ModelLike | None, episodes: int | None
) -> list[str]:
    """The overrides that these keyword arguments stand for."""
    found = [] if agent is None else [f"agent={agent_name(agent)}"]
    found += [] if model is None else [f"model={model_name(model)}"]
    found += [] if env is None else [_env_override(env)]
    return found + ([] if episodes is None else [f"env.episodes={episodes}"])


def refuse_repeated(overrides: Sequence[str], keyword: Sequence[str]) -> None:
    """Refuse a key that is given both as an override string and as a keyword argument."""
    keys = {word.partition("=")[0].lstrip("+") for word in overrides}
    for key in (word.partition("=")[0] for word in keyword):
        if key in keys:
            raise ConfigError(
                f"{key}: given as an override and as a keyword argument; leave out one of the two"
            )


def agent_name(agent: Any) -> str:
    """Return the name by which agent=NAME chooses it; a class or object is registered."""
    if isinstance(agent, str):
        return agent
    if isinstance(agent, ProgramKind):
        if not _known(registry.programs, agent.name, agent):
            register.program(agent)
        return agent.name
    if callable(agent):  # a class, a function, or an object that makes agents
        return _named_factory(registry.agents, agent)
    if not callable(getattr(agent, "act", None)):
        raise ConfigError(
            f"agent: a {type(agent).__name__} cannot play; pass a name, a class, a factory or an object with "
            "act(observation) and recall(observation, decision)"
        )
    try:
        copy.deepcopy(agent)
    except Exception as error:
        raise ConfigError(
            f"agent: the {type(agent).__name__} object cannot be copied for each episode "
            f"({type(error).__name__}: {error}); pass its class or a factory instead"
        ) from error
    return _named_object(registry.agents, agent, lambda _: AgentCopies(agent))


def model_name(model: Any) -> str:
    """Return the name by which model=NAME chooses it; a class or object is registered."""
    if isinstance(model, str):
        return model
    if callable(getattr(model, "complete", None)) and not isinstance(model, type):
        return _named_object(registry.models, model, lambda name: ModelObject(model, name))
    if callable(model):
        return _named_factory(registry.models, model)
    raise ConfigError(
        f"model: a {type(model).__name__} cannot answer; pass a name, a class, a factory or an object with "
        "complete(request)"
    )


def _env_override(env: Any) -> str:
    if isinstance(env, EnvironmentKind):
        if not _known(registry.environments, env.name, env):
            register.environment(env)
        return _tasks([f"{env.name}/{task}" for task in env.tasks()])
    if isinstance(env, str):
        return _tasks([env]) if "/" in env else f"env={env}"
    if isinstance(env, list | tuple) and all(isinstance(task, str) for task in env):
        return _tasks(env)
    raise ConfigError(
        f"env: expected a preset, ENV/TASK, a list of tasks or an EnvironmentKind, got {type(env).__name__}"
    )


def _tasks(tasks: Sequence[str]) -> str:
    return f"env.tasks=[{', '.join(map(quoted, tasks))}]"


def _known(kinds: "registry.Registry[Any]", name: str, given: Any) -> bool:
    return name in kinds.names() and kinds.get(name) is given


def _named_factory(kinds: "registry.Registry[Any]", factory: Any) -> str:
    """Register a factory; one defined anew, as when a notebook's cell is run again, replaces the old one."""
    place = _place(factory)
    name = _free(kinds, factory, lambda other: other is factory or _place(other) == place)
    kinds.add(name)(factory)
    return name


def _named_object(kinds: "registry.Registry[Any]", given: Any, factory: Callable[[str], Any]) -> str:
    """Register an object; every other one gets a name of its own, so that their runs are told apart."""
    name = _free(kinds, given, lambda other: getattr(other, "given", None) is given)
    kinds.add(name)(factory(name))
    return name


def _place(factory: Any) -> tuple[Any, Any]:
    return getattr(factory, "__module__", None), getattr(factory, "__qualname__", id(factory))


def _free(kinds: "registry.Registry[Any]", given: Any, same: Callable[[Any], bool]) -> str:
    """The first of NAME, NAME_2, ... that is not taken, or that `same` recognises."""
    own = getattr(given, "__name__", type(given).__name__)
    stem = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", own).lower() if own.isidentifier() else kinds.kind
    taken, number, name = set(kinds.names()), 1, stem
    while name in taken and not (kinds.added(name) and same(kinds.get(name))):
        number += 1
        name = f"{stem}_{number}"
    return name
