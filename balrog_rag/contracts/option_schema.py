"""Validation of env.options against the schema of their kind of game, with plain error messages."""

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, get_args, get_origin

import msgspec

from balrog_rag.contracts import registry
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.contracts.kinds import EnvironmentKind

MOST = 2**63 - 1
"""Largest number that a worker's messages and journals can hold."""


def resolved_options(
    kind: EnvironmentKind, given: Mapping[str, Any], also: Sequence[EnvironmentKind]
) -> dict[str, Any]:
    """Return the complete options of a game of the kind; ignore those that only kinds in `also` have.

    `given` may have a mapping under a kind's name, for that kind alone.
    """
    mine, others = names_of(kind), {name for other in also for name in names_of(other)}
    special = {other.name for other in also} - mine
    own = given.get(kind.name, {}) if kind.name not in mine else {}
    chosen = {name: value for name, value in given.items() if name in mine} | dict(own)
    unknown = [name for name in given if name not in mine | others | special]
    if unknown or not isinstance(own, Mapping):
        name = unknown[0] if unknown else kind.name
        raise ConfigError(f"env.{name}: no such option of {kind.name}{registry.nearest(name, mine | others)}")
    try:
        found = dict(msgspec.to_builtins(msgspec.convert(chosen, kind.options)))
    except msgspec.ValidationError as error:
        raise ConfigError(explained(error, chosen, kind)) from error
    for name, value in found.items():
        if isinstance(value, int) and abs(value) > MOST:
            raise ConfigError(f"env.{name}={value}: must be from {-MOST} to {MOST}")
    return found


def explained(error: msgspec.ValidationError, chosen: Mapping[str, Any], kind: EnvironmentKind) -> str:
    """Return one line that names the option, its value and, if there are few, the valid values."""
    text = str(error)
    name = text.partition("`$.")[2].partition("`")[0]
    value = chosen.get(name)
    field = next((each for each in msgspec.structs.fields(kind.options) if each.name == name), None)
    choices = literals(field.type) if field else []
    if choices:
        return f"env.{name}={value}: no such value{registry.nearest(str(value), choices)}"
    return f"env.{name}={value}: {in_words(text)}" if name else f"env.options: {text}"


WORDS = {"int": "a whole number", "float": "a number", "str": "a text"}


def in_words(text: str) -> str:
    """Describe the expected value in plain words instead of type names."""
    expected = re.match(r"Expected `([\w |]+)`([^,]*)", text.partition(" - at")[0])
    if expected is None:
        return text.partition(" - at")[0]
    kinds = expected[1].replace("bool", "true | false").split(" | ")
    *some, last = [WORDS.get(kind, kind) for kind in kinds]
    bound = expected[2].replace(">=", "of at least").replace("<=", "of at most")
    return f"takes {' or '.join(filter(None, (', '.join(some), last)))}{bound}"


def literals(hint: Any) -> list[str]:
    """Return the strings that a Literal allows, also within Annotated."""
    if get_origin(hint) is Annotated:
        return literals(get_args(hint)[0])
    return [one for one in get_args(hint) if isinstance(one, str)] if get_origin(hint) is Literal else []


def names_of(kind: EnvironmentKind) -> set[str]:
    """Return the names of its options."""
    return {each.name for each in msgspec.structs.fields(kind.options)}
