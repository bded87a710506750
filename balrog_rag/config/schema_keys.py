"""How keys of the schema are declared: one-line descriptions and valid values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import Field, field, fields, is_dataclass
from typing import Any

from balrog_rag.contracts import registry

MISSING: Any = "???"
"""OmegaConf's sign of a value that must be set; its import would make `--help` slower."""


def key(
    doc: str,
    *,
    ge: float | None = None,
    le: float | None = None,
    choices: tuple[str, ...] = (),
    names: registry.Registry[Any] | None = None,
) -> Any:
    """Declare a schema field: its one-line description and its valid values, without a default."""
    return field(default=MISSING, metadata=described(doc, ge, le, choices, names))


def described(
    doc: str,
    ge: float | None = None,
    le: float | None = None,
    choices: tuple[str, ...] = (),
    names: registry.Registry[Any] | None = None,
    implied: bool = False,
) -> dict[str, Any]:
    """The metadata of a schema field; an `implied` one is not stored while it has its default."""
    return {"doc": doc, "ge": ge, "le": le, "choices": choices, "names": names, "implied": implied}


def leaves(section: Any, prefix: str) -> Iterator[tuple[str, Field[Any], Any]]:
    """Yield every key below a section, with its schema field and its value."""
    for spec in fields(section):
        value = getattr(section, spec.name)
        if is_dataclass(value) and not isinstance(value, type):
            yield from leaves(value, f"{prefix}{spec.name}.")
        else:
            yield f"{prefix}{spec.name}", spec, value
