"""Configurations as a run folder and a spec keep them: plain, frozen, with a digest and dotted keys."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, TypeVar

import msgspec
from omegaconf import MISSING

from balrog_rag.config import leaves
from balrog_rag.episode.spec import REACH
from balrog_rag.errors import ConfigError
from balrog_rag.vocabulary import digest

CHANGEABLE_ON_RESUME = (
    "resume",
    "run.csv",
    "run.ttyrec",
    "limits.episode.",
    "limits.run.",
    "runner.",
    *(f"{section}.{name}" for section, names in REACH.items() for name in names),
)
"""Keys that do not change what an episode is, and so may differ when a run is resumed."""

_NO_IDENTITY = (*CHANGEABLE_ON_RESUME, "run.folder", "run.name")

SETTLED = {
    "agent.demonstrations_digest": "agent.demonstrations",
    "knowledge.corpus_digest": "knowledge.corpus",
}
"""Keys that a run fills in when it starts, with the content of what another key names."""

T = TypeVar("T")


def plain(section: Any) -> dict[str, Any]:
    """A section as dictionaries, lists, numbers and strings."""
    return asdict(section)


def thaw(tree: Mapping[str, Any], kind: type[T]) -> T:
    """A section from its plain form; refuses what does not fit the schema."""
    try:
        section = msgspec.convert(tree, kind)
    except msgspec.ValidationError as error:
        raise ConfigError(f"frozen configuration: {error}; it was written by another version") from error
    for path, _, value in leaves(section, ""):
        if value == MISSING:
            raise ConfigError(f"frozen configuration: {path} has no value; it was written by another version")
    return section


def tree_digest(tree: Mapping[str, Any]) -> str:
    """A digest of all of a tree, in whatever order it was written."""
    return digest(msgspec.json.encode(tree, order="sorted"))


def config_digest(config: dict[str, Any]) -> str:
    """Identity of a configuration: the same wherever the run lies, however many episodes play at once."""
    return tree_digest(
        {key: value_at(config, key) for key in leaf_keys(config) if not key.startswith(_NO_IDENTITY)}
    )


def leaf_keys(tree: dict[str, Any], prefix: str = "") -> set[str]:
    """The dotted keys of a plain configuration."""
    return {
        key
        for name, value in tree.items()
        for key in (leaf_keys(value, f"{prefix}{name}.") if isinstance(value, dict) else {f"{prefix}{name}"})
    }


def value_at(tree: dict[str, Any], key: str) -> Any:
    """The value of a dotted key; None where there is none."""
    value: Any = tree
    for name in key.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return value


def with_value(tree: dict[str, Any], key: str, value: Any) -> dict[str, Any]:
    """A copy with another value at a dotted key."""
    name, _, rest = key.partition(".")
    return {**tree, name: with_value(tree.get(name, {}), rest, value) if rest else value}


def differing_keys(old: Any, new: Any, prefix: str = "") -> list[str]:
    """The dotted keys in which two plain configurations differ."""
    if isinstance(old, dict) and isinstance(new, dict):
        return [
            path
            for name in sorted({*old, *new})
            for path in differing_keys(old.get(name), new.get(name), f"{prefix}{name}.")
        ]
    return [] if old == new else [prefix.rstrip(".")]
