"""The groups of conf/ with their options; registered agents and models are options too."""

from copy import deepcopy
from functools import cache
from typing import Any

from balrog_rag.config import schema, user_presets
from balrog_rag.contracts import registry
from balrog_rag.contracts.programs import plays
from balrog_rag.util.paths import data


def group_options() -> dict[str, list[str]]:
    """Return the groups of conf/ with their options."""
    root = data("conf")
    found = {
        folder.name: {path.stem for path in folder.glob("*.yaml")}
        for folder in sorted(root.iterdir())
        if folder.is_dir()
    }
    for group, names in found.items():
        names |= user_presets.options(group)
    found["agent"] |= set(plugged_agents())
    found["model"] |= set(registry.models.plugged())
    return {group: sorted(options) for group, options in found.items()}


def plugged_agents() -> tuple[str, ...]:
    """Agents and players of plug-ins, which have no file in conf/agent; excludes action programs."""
    programs = (name for name in registry.programs.names() if plays(name))
    players = {*registry.agents.names(), *programs}
    return tuple(sorted(name for name in players if not (data("conf") / "agent" / f"{name}.yaml").exists()))


def register_schema() -> None:
    """Register with Hydra the types of conf/ and the options of registered agents and models."""
    from hydra.core.config_store import ConfigStore

    store = ConfigStore.instance()
    store.store("schema", node=deepcopy(_types()))  # Hydra modifies it while composing
    for name in plugged_agents():
        preset: dict[str, Any] = {"defaults": ["common/defaults@_here_", "_self_"], "name": name}
        store.store(name, preset, group="agent", provider=f"agent plug-in {name}")
    for name in registry.models.plugged():
        preset = {"defaults": ["common/defaults@_here_", "_self_"], "backend": name, "name": name}
        store.store(name, preset, group="model", provider=f"model plug-in {name}")


@cache
def _types() -> Any:
    """The schema as an OmegaConf tree, cached since building it takes a tenth of the time of composing."""
    from omegaconf import OmegaConf

    return OmegaConf.structured(schema.Config)
