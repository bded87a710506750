"""Parser functions of wiki markup: evaluated where a page alone determines the result, dropped otherwise.

Nothing is guessed: a condition that depends on a template or on another page gives no text.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

_CASES: dict[str, Callable[[str], str]] = {
    "lc": str.lower,
    "uc": str.upper,
    "lcfirst": lambda text: text[:1].lower() + text[1:],
    "ucfirst": lambda text: text[:1].upper() + text[1:],
    "formatnum": lambda text: text,
}
WORDS = frozenset(_CASES)
"""Functions without a #, such as `{{uc:text}}`."""

_UNKNOWN = ("Template", "Argument")


class _Value(NamedTuple):
    text: str
    known: bool
    """Whether the page alone determines it."""


def parser_function(node: Any, text_of: Callable[[Any], str]) -> str:
    """Return the text of a template node that is a parser function; `text_of` converts its arguments."""
    name, _, _ = str(node.name).strip().partition(":")
    first = _first(node, text_of)
    rest = [_branch(each, text_of) for each in node.params]
    match name.strip().lower():
        case "#if":
            return _chosen(first, bool(first.text), rest)
        case "#ifeq" if rest:
            equal = _comparable(first.text) == _comparable(rest[0].text)
            return _chosen(_Value("", first.known and rest[0].known), equal, rest[1:])
        case "#switch":
            return _switched(first, node, text_of)
        case word if word in _CASES:
            return _CASES[word](first.text) if first.known else ""
    return ""


def _first(node: Any, text_of: Callable[[Any], str]) -> _Value:
    """The first argument: what follows the colon in the node's name."""
    nodes = list(node.name.nodes)
    whole = text_of(node.name)
    known = not any(type(each).__name__ in _UNKNOWN for each in nodes)
    return _Value(whole.partition(":")[2].strip(), known)


def _value(code: Any, text_of: Callable[[Any], str]) -> _Value:
    known = not any(type(each).__name__ in _UNKNOWN for each in code.nodes)
    return _Value(text_of(code).strip(), known)


def _branch(parameter: Any, text_of: Callable[[Any], str]) -> _Value:
    """An argument by position, although it may contain an equals sign."""
    value = _value(parameter.value, text_of)
    if not parameter.showkey:
        return value
    return _Value(f"{text_of(parameter.name).strip()} = {value.text}", value.known)


def _chosen(condition: _Value, holds: bool, branches: Sequence[_Value]) -> str:
    place = 0 if holds else 1
    return branches[place].text if condition.known and place < len(branches) else ""


def _comparable(text: str) -> float | str:
    """MediaWiki compares as numbers what are numbers."""
    try:
        return float(text)
    except ValueError:
        return text


def _switched(asked: _Value, node: Any, text_of: Callable[[Any], str]) -> str:
    """`{{#switch: x | a | b = one | #default = two}}`: cases without a value share the next one."""
    if not asked.known:
        return ""
    matched, otherwise = False, ""
    for place, each in enumerate(node.params):
        value = _value(each.value, text_of).text
        if not each.showkey:
            if place == len(node.params) - 1:
                return value  # the last one without a name is the default
            matched = matched or _comparable(value) == _comparable(asked.text)
            continue
        case = text_of(each.name).strip()
        if matched or _comparable(case) == _comparable(asked.text):
            return value
        if case == "#default":
            otherwise = value
    return otherwise
