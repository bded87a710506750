"""What a key of a command line stands for: short forms in full, and names that the schema leaves free."""

from dataclasses import fields, is_dataclass
from typing import Any, get_type_hints

from balrog_rag.config import schema


def in_full(word: str) -> str:
    """`env.NAME=...` of an option of a kind of game as `env.options.NAME=...`; any other word as it is."""
    key, equals, value = word.partition("=")
    section, _, name = key.lstrip("+~").partition(".")
    own = {spec.name for spec in fields(schema.EnvConfig)}
    if section != "env" or not name or "." in name or name in own:
        return word
    return f"{key.replace('env.', 'env.options.', 1)}{equals}{value}"


def in_mapping(path: str) -> bool:
    """Whether a key is, or lies below, a mapping whose names the schema leaves free."""
    return str(type_of(path)).startswith("dict")


def type_of(path: str) -> Any:
    """The type of a key; below a mapping or a list, that one's; None where there is no such key."""
    section: Any = schema.Config
    for part in path.split("."):
        if part not in {spec.name for spec in fields(section)}:
            return None
        section = get_type_hints(section)[part]
        if not is_dataclass(section):
            return section
    return None
