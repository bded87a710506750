"""Configurations as stored in run folders and specs: plain, frozen, with a digest and dotted keys."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from threading import Lock
from typing import Any, TypeVar

import msgspec

from balrog_rag.config.schema_keys import MISSING, leaves
from balrog_rag.contracts.data import CONNECTION_KEYS, digest
from balrog_rag.contracts.errors import ConfigError

CHANGEABLE_ON_RESUME = (
    "resume",
    "run.csv",
    "run.pack",
    "run.watch",
    "run.ttyrec",
    "limits.until",
    "limits.against",
    "limits.episode.",
    "limits.run.",
    "runner.",
    *(f"{section}.{name}" for section, names in CONNECTION_KEYS.items() for name in names),
)
"""Keys that do not affect what an episode is, and so may differ when a run is resumed."""

FIXED = frozenset({"runner.shard"})
"""Keys that look changeable on resume but say which episodes a folder is for."""

_NO_IDENTITY = (*CHANGEABLE_ON_RESUME, "run.folder", "run.name")

SETTLED = {
    "agent.options.digest": ("agent.name", "agent.options.path", "agent.options.file"),
    "agent.demonstrations_digest": ("agent.demonstrations",),
    "knowledge.corpus_digest": ("knowledge.corpus", "knowledge.tokens", "knowledge.overlap"),
}
"""Keys that a run sets when it starts, with the content of files and names in other keys."""

T = TypeVar("T")
_converting = Lock()
"""msgspec describes a dataclass at its first use. Another thread that converts meanwhile reads a half of the
description and crashes the process (seen with 0.22), so one thread at a time converts sections. Not described
at import as stored structs are: every command imports this module, few convert a section.
"""


def plain(section: Any) -> dict[str, Any]:
    """Convert a section to dictionaries, lists, numbers and strings, without implied defaults."""
    tree = asdict(section)
    for path in implied(section):
        *above, name = path.split(".")
        at = tree
        for step in above:
            at = at[step]
        del at[name]
    return tree


def implied(section: Any) -> list[str]:
    """Return the keys that are not stored because they have their defaults.

    Keys that later versions add are declared so: specs of configurations without them keep their digests.
    """
    return [
        path
        for path, spec, value in leaves(section, "")
        if spec.metadata.get("implied") and value == spec.default
    ]


def thaw(tree: Mapping[str, Any], kind: type[T]) -> T:
    """Convert a plain section back to its type; raises ConfigError if it does not match the schema."""
    try:
        with _converting:
            section = msgspec.convert(tree, kind)
    except msgspec.ValidationError as error:
        raise ConfigError(f"frozen configuration: {error}; it was written by another version") from error
    for path, _, value in leaves(section, ""):
        if value == MISSING:
            raise ConfigError(f"frozen configuration: {path} has no value; it was written by another version")
    return section


def tree_digest(tree: Mapping[str, Any]) -> str:
    """Hash a whole tree, independent of the order of its keys."""
    return digest(msgspec.json.encode(tree, order="sorted"))


def config_digest(config: dict[str, Any]) -> str:
    """Identify a configuration, independent of the run's location and concurrency."""
    identity = {key: value for key, value in leaf_items(config) if not key.startswith(_NO_IDENTITY)}
    return tree_digest(identity)


def leaf_items(tree: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the dotted keys of a plain configuration with their values."""
    for name, value in tree.items():
        key = prefix + (f"'{name}'" if "." in name else name)  # e.g. a file name is a single name
        if isinstance(value, dict):
            yield from leaf_items(value, f"{key}.")
        else:
            yield key, value


def value_at(tree: dict[str, Any], key: str) -> Any:
    """Return the value of a dotted key, or None if there is none."""
    value: Any = tree
    for name in key.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return value


def with_value(tree: dict[str, Any], key: str, value: Any) -> dict[str, Any]:
    """Return a copy with another value at a dotted key."""
    name, _, rest = key.partition(".")
    return {**tree, name: with_value(tree.get(name, {}), rest, value) if rest else value}


def differing_keys(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Return the dotted keys in which two plain configurations differ."""
    before, after = dict(leaf_items(old)), dict(leaf_items(new))
    return sorted(key for key in {*before, *after} if before.get(key) != after.get(key))
