"""Configurations as a run folder and a spec keep them: plain, frozen, with a digest and dotted keys."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any, TypeVar

import msgspec
from omegaconf import MISSING

from balrog_rag.config.schema import leaves
from balrog_rag.contracts.data import CONNECTION_KEYS, digest
from balrog_rag.contracts.errors import ConfigError

CHANGEABLE_ON_RESUME = (
    "resume",
    "run.csv",
    "run.ttyrec",
    "limits.episode.",
    "limits.run.",
    "runner.",
    *(f"{section}.{name}" for section, names in CONNECTION_KEYS.items() for name in names),
)
"""Keys that do not change what an episode is, and so may differ when a run is resumed."""

_NO_IDENTITY = (*CHANGEABLE_ON_RESUME, "run.folder", "run.name")

SETTLED = {
    "agent.options.digest": ("agent.name", "agent.options.path", "agent.options.file"),
    "agent.demonstrations_digest": ("agent.demonstrations",),
    "knowledge.corpus_digest": ("knowledge.corpus", "knowledge.tokens", "knowledge.overlap"),
}
"""Keys that a run fills in when it starts, with the content of what other keys name and shape."""

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
    return tree_digest({key: value for key, value in leaf_items(config) if not key.startswith(_NO_IDENTITY)})


def leaf_items(tree: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """The dotted keys of a plain configuration, with their values."""
    for name, value in tree.items():
        key = prefix + (f"'{name}'" if "." in name else name)  # a file's name, say, is one name all the same
        if isinstance(value, dict):
            yield from leaf_items(value, f"{key}.")
        else:
            yield key, value


def value_at(tree: dict[str, Any], key: str) -> Any:
    """The value of a dotted key of the schema; None where there is none."""
    value: Any = tree
    for name in key.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return value


def with_value(tree: dict[str, Any], key: str, value: Any) -> dict[str, Any]:
    """A copy with another value at a dotted key."""
    name, _, rest = key.partition(".")
    return {**tree, name: with_value(tree.get(name, {}), rest, value) if rest else value}


def differing_keys(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """The dotted keys in which two plain configurations differ."""
    before, after = dict(leaf_items(old)), dict(leaf_items(new))
    return sorted(key for key in {*before, *after} if before.get(key) != after.get(key))
