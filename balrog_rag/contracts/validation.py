"""Conversion of what plug-ins return: to the contracts' exact types, or one line that names the first fault.

A type annotation is a promise that nobody keeps at run time. Whatever crosses from a plug-in to the harness
passes through here once, on every path, so that a journal can always be read back and a worker never sends
what the main process cannot decode. Integers of other libraries become `int`, lists become tuples, and half
characters are replaced; anything else that does not fit is a `PluginError`.
"""

import contextlib
import math
import operator
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Literal, TypeVar, cast, get_args, get_origin

import msgspec

from balrog_rag.contracts.blame import blame_of
from balrog_rag.contracts.data import Decision, Observation, Passage, Reply, TaskView, Transition
from balrog_rag.contracts.errors import PluginError
from balrog_rag.contracts.outcome import PLAYER_LOST, RESUMABLE, Outcome
from balrog_rag.contracts.surrogates import cleaned

S = TypeVar("S", bound=msgspec.Struct)

LONGEST_VALUE = 60
"""Characters of a wrong value that a message shows."""
LONGEST_TEXT = 4_000_000
"""Characters of a single text."""
LEAST, LARGEST = -(2**63), 2**64 - 1
"""The integers that a message to a worker can contain."""
DEEPEST = 40
"""Most levels of lists and mappings within each other."""
GAME_ENDS = frozenset(Outcome) - RESUMABLE - PLAYER_LOST - {Outcome.GIVEN_UP}
"""How a game itself may end. Caps are the run's business, and crashes are a program's."""


def shown(value: object) -> str:
    """Return a value as a message shows it; the `__repr__` of a plug-in's object may fail or be long."""
    try:
        text = " ".join(repr(value).split())
    except Exception:  # noqa: BLE001 - the object is a plug-in's
        text = f"a {type(value).__name__}"
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}..."


def article(noun: str) -> str:
    """Return a noun with its indefinite article."""
    return f"{'an' if noun[0] in 'AEIOU' else 'a'} {noun}"


def raised(who: str, what: str, error: Exception, fix: str = "correct it there") -> PluginError:
    """Return the error for code of a plug-in that raised; the message says where."""
    line, trace = blame_of(error, what)
    return PluginError(f"{who}: {what} raised {line.removeprefix(what).strip()}; {fix}", trace)


def fault(who: str, what: str, value: object, fix: str) -> PluginError:
    """Return the error for a value that does not fit."""
    return PluginError(f"{who}: {what} is {shown(value)}; {fix}")


# --- single values ---


def text(value: Any, who: str, what: str) -> str:
    """Return a text."""
    if not isinstance(value, str):
        raise fault(who, what, value, "return a str")
    if len(value) > LONGEST_TEXT:
        raise PluginError(f"{who}: {what} has {len(value):,} characters; return at most {LONGEST_TEXT:,}")
    return value if type(value) is str else str(value)


def flag(value: Any, who: str, what: str) -> bool:
    """Return a truth value."""
    if type(value) is bool:
        return value
    if value is None or isinstance(value, str | bytes):  # truthy by accident: a missing return, or "False"
        raise fault(who, what, value, "return True or False")
    try:
        return bool(value)
    except Exception as error:  # such as an array of several
        raise fault(who, what, value, "return True or False") from error


def integer(value: Any, who: str, what: str) -> int:
    """Return an integer."""
    try:
        number = value if type(value) is int else int(operator.index(value))
    except TypeError as error:
        raise fault(who, what, value, "use an integer: round it, or choose a smaller unit") from error
    if not LEAST <= number <= LARGEST:
        raise fault(who, what, value, "use an integer of at most 64 bits")
    return number


def number(value: Any, who: str, what: str) -> float:
    """Return a finite number."""
    try:
        found = value if type(value) is float else float(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise fault(who, what, value, "use a finite number") from error
    if not math.isfinite(found) or isinstance(value, str | bytes):
        raise fault(who, what, value, "use a finite number")
    return found


def share(value: Any, who: str, what: str) -> float:
    """Return a number from 0 to 1."""
    found = number(value, who, what)
    if not 0.0 <= found <= 1.0:
        raise fault(who, what, value, "it must be from 0 to 1")
    return found


def texts(value: Any, who: str, what: str) -> list[str]:
    """Return a list of texts."""
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Sequence | frozenset | set):
        raise fault(who, what, value, "return a list of str")
    return [text(each, who, f"{what}[{place}]") for place, each in enumerate(value)]


def numbers(value: Any, who: str, what: str) -> Mapping[str, int]:
    """Return integers by name."""
    # Exact types, within bounds: passes in C, since a program's every press comes here.
    if type(value) is dict and set(map(type, value.values())) <= _INT and set(map(type, value)) <= _STR:
        with contextlib.suppress(OverflowError):
            _encoder.encode(value)
            return cast(dict[str, int], value)
    if not isinstance(value, Mapping):
        raise fault(who, what, value, "use a mapping of names to integers")
    return {
        text(name, who, f"a name in {what}"): integer(each, who, f"{what}[{shown(name)}]")
        for name, each in value.items()
    }


_INT, _STR = {int}, {str}


def text_mapping(value: Any, who: str, what: str) -> dict[str, str]:
    """Return texts by name."""
    if not isinstance(value, Mapping):
        raise fault(who, what, value, "return a mapping of names to str")
    return {
        text(name, who, f"a name in {what}"): text(each, who, f"{what}[{shown(name)}]")
        for name, each in value.items()
    }


def plain(value: Any, who: str, what: str, depth: int = 0) -> Any:
    """Copy free-form facts as JSON data, which a journal reads back as they were."""
    if value is None or type(value) is bool:
        return value
    if isinstance(value, str):
        return cleaned(str(value))
    if isinstance(value, float):
        return number(float(value), who, what)
    if depth == DEEPEST:
        raise fault(who, what, value, f"nest at most {DEEPEST} levels")
    if isinstance(value, msgspec.Struct):
        value = msgspec.structs.asdict(value)
    if isinstance(value, Mapping):
        return {
            cleaned(text(name, who, f"a name in {what}")): plain(
                each, who, f"{what}[{shown(name)}]", depth + 1
            )
            for name, each in value.items()
        }
    if isinstance(value, list | tuple):
        return [plain(each, who, f"{what}[{place}]", depth + 1) for place, each in enumerate(value)]
    return _plain_number(value, who, what)


def _plain_number(value: Any, who: str, what: str) -> int | float:
    if hasattr(type(value), "__index__"):
        return integer(value, who, what)
    if hasattr(type(value), "__float__"):  # a float of another library
        return number(value, who, what)
    raise fault(
        who, what, value, "use plain data: str, int, float, bool, None, lists, and dicts with str keys"
    )


# --- structs ---


def converted(value: Any, wanted: type[S], who: str, what: str) -> S:
    """Return a struct of exactly the declared types; raise PluginError that names its first wrong field."""
    if not isinstance(value, wanted):
        raise fault(who, what, value, f"return {article(wanted.__name__)} of balrog_rag.contracts.data")
    try:
        try:
            found: S = _decoder(wanted).decode(_encoder.encode(value))
        except UnicodeEncodeError:  # half a character
            found = msgspec.convert(cleaned(msgspec.to_builtins(value, enc_hook=_native)), wanted)
        return found
    except (msgspec.MsgspecError, TypeError, ValueError, OverflowError, RecursionError) as error:
        raise PluginError(f"{who}: {_first_fault(value, wanted, what) or f'{what}: {error}'}") from error


def _native(value: Any) -> int | float | str:
    """Convert numbers and texts of other libraries, such as NumPy's."""
    kind = type(value)
    if isinstance(value, str):
        return str(value)
    if hasattr(kind, "__index__"):
        return int(operator.index(value))
    if hasattr(kind, "__float__"):
        return float(value)
    raise TypeError(f"unsupported type {kind.__name__}")


_encoder = msgspec.msgpack.Encoder(enc_hook=_native)


@cache
def _decoder(wanted: Any) -> "msgspec.msgpack.Decoder[Any]":
    return msgspec.msgpack.Decoder(wanted)


def _first_fault(value: Any, wanted: Any, path: str) -> str:
    """Describe the first part of a value that is not of the wanted type; "" if every part is."""
    origin, inner = get_origin(wanted), get_args(wanted)
    if isinstance(wanted, type) and issubclass(wanted, msgspec.Struct) and isinstance(value, wanted):
        parts = [
            (getattr(value, each.name), each.type, f"{path}.{each.name}")
            for each in msgspec.structs.fields(wanted)
        ]
    elif origin is tuple and isinstance(value, list | tuple):
        parts = [(each, inner[0], f"{path}[{place}]") for place, each in enumerate(value)]
    elif isinstance(origin, type) and issubclass(origin, Mapping) and isinstance(value, Mapping):
        names = [(name, inner[0], f"a name in {path}") for name in value]
        parts = [*names, *((each, inner[1], f"{path}[{shown(name)}]") for name, each in value.items())]
    else:
        return "" if _fits(value, wanted) else f"{path} is {shown(value)}; {_fix(wanted)}"
    return next(filter(None, (_first_fault(*part) for part in parts)), "")


def _fits(value: Any, wanted: Any) -> bool:
    try:
        _decoder(wanted).decode(_encoder.encode(value))
    except UnicodeEncodeError:
        return True  # half characters are replaced
    except (msgspec.MsgspecError, TypeError, ValueError, OverflowError, RecursionError):
        return False
    return True


_FIXES: dict[Any, str] = {
    int: "use an integer: round it, or choose a smaller unit",
    float: "use a finite number",
    str: "use a str",
    bool: "use True or False",
    bytes: "use bytes",
}


def _fix(wanted: Any) -> str:
    if wanted in _FIXES:
        return _FIXES[wanted]
    if get_origin(wanted) is Literal:
        return f"use one of {', '.join(map(repr, get_args(wanted)))}"
    if get_origin(wanted) is not None or not isinstance(wanted, type):
        return f"use {str(wanted).replace('typing.', '').replace('collections.abc.', '')}"
    return f"use {article(wanted.__name__)}"


# --- a game's ---


def transition(value: Any, who: str, what: str, player_lost: bool = False) -> Transition:
    """Return a transition whose numbers are integers and whose end is an outcome.

    `player_lost`: it may also be the end that a program's failure made.
    """
    if isinstance(value, Transition) and isinstance(value.observation, Observation):
        seen, path = value.observation, f"{what}.observation.numbers"
        if (counted := numbers(seen.numbers, who, path)) is not seen.numbers:
            seen = msgspec.structs.replace(seen, numbers=counted)
            value = msgspec.structs.replace(value, observation=seen)
        if value.end:
            value = msgspec.structs.replace(value, end=plain(value.end, who, f"{what}.end"))
    found = converted(value, Transition, who, what)
    if found.ended or found.reward - found.reward != 0.0 or found.keys < 0:  # the rare cases
        _check_values(found, who, what, player_lost)
    return found


def _check_values(found: Transition, who: str, what: str, player_lost: bool) -> None:
    number(found.reward, who, f"{what}.reward")
    if found.keys < 0:
        raise fault(who, f"{what}.keys", found.keys, "use the number of key presses, at least 0")
    ended(found.ended, who, f"{what}.ended", player_lost)


def ended(value: Any, who: str, what: str, player_lost: bool = False) -> str:
    """Return how a game ended: one of the outcomes that a game may have, or "" while it goes on."""
    found = text(value, who, what)
    if found and found not in GAME_ENDS and not (player_lost and found in PLAYER_LOST):
        ends = ", ".join(sorted(GAME_ENDS))
        raise fault(who, what, value, f'use one of {ends}, or "" while the game goes on')
    return found


def task_view(value: Any, who: str, what: str) -> TaskView:
    """Return a task whose default action is accepted."""
    view = converted(value, TaskView, who, what)
    if not view.takes(view.default_action):
        raise fault(
            who, f"{what}.default_action", view.default_action, f"use one that {what}.accepted contains"
        )
    return view


# --- an agent's, a model's, a knowledge base's ---


def decision(value: Any, who: str, what: str) -> Decision:
    """Return a decision whose notes are plain data."""
    if isinstance(value, Decision) and value.notes:
        value = msgspec.structs.replace(value, notes=plain(value.notes, who, f"{what}.notes"))
    return converted(value, Decision, who, what)


def reply(value: Any, who: str, what: str) -> Reply:
    """Return a model's answer whose cost and latency are finite."""
    found = converted(value, Reply, who, what)
    number(found.latency, who, f"{what}.latency")
    number(found.cost or 0.0, who, f"{what}.cost")
    return found


def passages(value: Any, who: str, what: str) -> tuple[Passage, ...]:
    """Return search results, best first."""
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Sequence):
        raise fault(who, what, value, "return a list of Passage")
    return tuple(_passage(each, who, f"{what}[{place}]") for place, each in enumerate(value))


def _passage(value: Any, who: str, what: str) -> Passage:
    # Kept as it is if it can be: all episodes share one text, which a copy for each would multiply.
    if type(value) is not Passage or any(type(getattr(value, name)) is not kind for name, kind in _PASSAGE):
        value = converted(value, Passage, who, what)
    number(value.score, who, f"{what}.score")
    try:
        _encoder.encode(value)
    except UnicodeEncodeError:
        value = converted(value, Passage, who, what)
    return cast(Passage, value)


_PASSAGE = tuple((each.name, each.type) for each in msgspec.structs.fields(Passage))
