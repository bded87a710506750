"""Validate configuration values; every invalid one is a ConfigError that names the key."""

from dataclasses import Field
from math import isfinite
from typing import Any

from balrog_rag.config.schema_keys import leaves
from balrog_rag.contracts import registry
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.contracts.kinds import kind_of
from balrog_rag.contracts.option_schema import resolved_options
from balrog_rag.contracts.programs import plays


def player_names() -> list[str]:
    """Names that agent= accepts: agents, and programs that play whole episodes."""
    return [*registry.agents.names(), *(name for name in registry.programs.names() if plays(name))]


def check(config: Any) -> None:
    """Raise a ConfigError for the first value that is out of range or unknown."""
    check_section(config, "")
    if config.runner.backend == "ray" and config.run.ttyrec:
        raise ConfigError("run.ttyrec: not available with runner=ray, which leaves recordings on the nodes")
    players = player_names()
    if config.agent.name not in players:
        raise ConfigError(
            f"agent.name: unknown agent {config.agent.name!r}{registry.nearest(config.agent.name, players)}"
        )


def check_together(config: Any) -> None:
    """Raise a ConfigError for keys of a new run that are valid alone but contradict each other."""
    env, agent = config.env, config.agent
    if not env.tasks:
        raise ConfigError("env.tasks: empty; set env.tasks=[env/task]")
    known = registry.environments.names()
    for task in env.tasks:
        name, slash, _ = task.partition("/")
        if not slash:
            raise ConfigError(
                f"env.tasks: {task!r}: expected env/task; list tasks with `balrog-rag envs tasks NAME`"
            )
        if name not in known:
            raise ConfigError(f"env.tasks: unknown environment {name!r}{registry.nearest(name, known)}")
    for name in env.max_steps:
        if name not in known:
            played = " and ".join(dict.fromkeys(task.partition("/")[0] for task in env.tasks))
            near = registry.nearest(name, known)
            raise ConfigError(f"env.max_steps.{name}: no such environment; this run plays {played}{near}")
    if env.seeds and env.seeding not in ("list", "fixed"):
        raise ConfigError(
            f"env.seeds: env.seeding={env.seeding} does not use seeds; add env.seeding=list or fixed, "
            "or set run.seed instead"
        )
    if not config.model.name.rpartition("/")[2].strip():
        raise ConfigError("model.name: empty; set model.name=NAME")
    _check_pictures(env, agent)


def _check_pictures(env: Any, agent: Any) -> None:
    """The games must make images exactly if the agent reads images."""
    kinds = [kind_of(name) for name in dict.fromkeys(task.partition("/")[0] for task in env.tasks)]
    shown = [kind for kind in kinds if kind.hints.pictures(resolved_options(kind, env.options, kinds))]
    if agent.max_image_history and not shown:
        hints = dict.fromkeys(f"; add {kind.hints.picture_hint}" for kind in kinds if kind.hints.picture_hint)
        raise ConfigError(
            f"agent.max_image_history={agent.max_image_history}: "
            f"{' and '.join(kind.title for kind in kinds)} makes no images with these options{''.join(hints)}"
        )
    if shown and not agent.max_image_history and registry.agents.has(agent.name):
        raise ConfigError(
            f"{shown[0].hints.picture_hint or 'env.options'}: agent.max_image_history=0 would ignore the "
            "images; add agent.max_image_history=1, or turn images off"
        )


def check_section(section: Any, prefix: str) -> None:
    """Check the ranges and names of one section; `prefix` is its key followed by a dot."""
    for path, spec, value in leaves(section, prefix):
        _check_value(path, spec, value)


def _check_value(path: str, spec: Field[Any], value: Any) -> None:
    rules = spec.metadata
    if not rules or value is None:
        return
    if isinstance(value, dict | list):
        for name, one in value.items() if isinstance(value, dict) else enumerate(value):
            _check_value(f"{path}.{name}", spec, one)
        return
    if rules["choices"] and value not in rules["choices"]:
        raise ConfigError(f"{path}={value}: no such value{registry.nearest(str(value), rules['choices'])}")
    if rules["names"] is not None and value not in rules["names"].names():
        raise ConfigError(
            f"{path}={value}: unknown {rules['names'].kind}{registry.nearest(value, rules['names'].names())}"
        )
    if isinstance(value, float) and not isfinite(value):  # not comparable, so it would lift every limit
        raise ConfigError(f"{path}={value}: must be a finite number")
    if rules["ge"] is not None and value < rules["ge"]:
        raise ConfigError(f"{path}={value}: must be at least {rules['ge']}")
    if rules["le"] is not None and value > rules["le"]:
        raise ConfigError(f"{path}={value}: must be at most {rules['le']}")
