"""Expand short forms of keys, and recognize mappings whose names the schema leaves open."""

from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, get_type_hints

from balrog_rag.config import schema

ALIASES = {"agent.memory": "env.level_memory"}
"""Other names of options of a kind of game, which read better beside an agent."""


def in_full(word: str) -> str:
    """Expand `env.NAME=...` to `env.options.NAME=...` for an option of a kind of game."""
    key, equals, value = word.partition("=")
    key = ALIASES.get(key, key)
    section, _, name = key.lstrip("+~").partition(".")
    own = {spec.name for spec in fields(schema.EnvConfig)}
    if section != "env" or not name or "." in name or name in own:
        return f"{key}{equals}{value}"
    return f"{key.replace('env.', 'env.options.', 1)}{equals}{value}"


def in_mapping(path: str) -> bool:
    """Whether a key is, or is below, a mapping whose names the schema leaves open."""
    return str(type_of(path)).startswith("dict")


def type_of(path: str) -> Any:
    """Return the type of a key, or of the mapping or list that contains it; None if it does not exist."""
    section: Any = schema.Config
    for part in path.split("."):
        types = _types_in(section)
        if part not in types:
            return None
        section = types[part]
        if not is_dataclass(section):
            return section
    return None


@cache
def _types_in(section: type) -> dict[str, Any]:
    hints = get_type_hints(section)
    return {spec.name: hints[spec.name] for spec in fields(section)}
