"""The values of code and what may be done with them, every operation bounded before it is done."""

import ast
import operator
from collections.abc import Callable, Iterable
from typing import Any

from balrog_rag.code_actions.code_syntax import LARGEST, METHODS, CodeRefused

MOST_STEPS = 50_000
"""Nodes that one action may evaluate."""
MOST_CELLS = 200_000
"""Characters and elements that one action may create altogether; nothing is given back."""
MOST_ELEMENTS = 5_000
LONGEST_TEXT = 10_000
LARGEST_DICT = 1_000
DEEPEST_VALUE = 50
"""Levels of lists, tuples and dicts within each other; far below what Python's own recursion allows."""
MOST_EXPONENT = 64


class Budget:
    """What one action may still spend, in operations, not seconds, so that it is the same everywhere."""

    def __init__(self) -> None:
        self.steps = self.cells = 0

    def step(self, count: int = 1) -> None:
        """Count evaluated nodes."""
        self.steps += count
        if self.steps > MOST_STEPS:
            raise CodeRefused(f"the code took more than {MOST_STEPS:,} operations; is there an endless loop?")

    def create(self, cells: int) -> None:
        """Count created characters or elements, before they are created."""
        self.cells += cells
        if self.cells > MOST_CELLS:
            raise CodeRefused("the code used too much memory")

    def weigh(self, *values: Any) -> int:
        """Return how many cells values have, counting what is contained twice twice; refuse too many."""
        level, count = list(values), 0
        for _ in range(DEEPEST_VALUE):
            inner: list[Any] = []
            for value in level:
                count += 1 + (len(value) if isinstance(value, str) else 0)
                if isinstance(value, list | tuple):
                    inner += value
                elif isinstance(value, dict):
                    inner += [*value.keys(), *value.values()]
                if count + len(inner) > MOST_CELLS:
                    raise CodeRefused("a value is too large")
            if not (level := inner):
                break
        else:
            raise CodeRefused(f"a value may be nested in at most {DEEPEST_VALUE} others")
        self.step(1 + count // 8)
        return count


def number(value: Any) -> Any:
    """Return a number within its bounds."""
    if type(value) is int and abs(value) >= LARGEST:
        raise CodeRefused("a number does not fit in 64 bits")
    if isinstance(value, complex):
        raise CodeRefused("complex numbers are not available here")
    return value


def text_of(value: Any, budget: Budget) -> str:
    """Return a value as text."""
    budget.create(budget.weigh(value))
    if isinstance(value, str):
        return value
    if isinstance(value, None | bool | int | float):
        return str(value)
    return repr(value)


ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Sub: operator.sub,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
ORDER: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    **{ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le},
    **{ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Is: operator.is_, ast.IsNot: operator.is_not},
}


def combine(kind: type[ast.operator], left: Any, right: Any, budget: Budget) -> Any:
    """Return the result of a binary operation."""
    if _numeric(left) and _numeric(right):
        return number(_calculated(kind, left, right))
    if kind is ast.Add and type(left) is type(right) and isinstance(left, str | list | tuple):
        return _sized(len(left) + len(right), budget, lambda: left + right)
    if kind is ast.Mult and isinstance(left, str | list | tuple) and type(right) is int:
        return _sized(len(left) * max(right, 0), budget, lambda: left * right)
    raise CodeRefused(f"{kind.__name__.lower()} does not work for {_kind(left)} and {_kind(right)}")


def _numeric(value: Any) -> bool:
    return isinstance(value, bool | int | float)


def _calculated(kind: type[ast.operator], left: Any, right: Any) -> Any:
    if kind is ast.Add:
        return left + right
    if kind is ast.Mult:
        return left * right  # of at most 64 bits each
    if kind is ast.Pow:
        if abs(right) > MOST_EXPONENT or (left < 0 and isinstance(right, float)):
            raise CodeRefused(f"exponents must be whole numbers of at most {MOST_EXPONENT}")
        return left**right
    return ARITHMETIC[kind](left, right)


def _kind(value: Any) -> str:
    return "a function" if callable(value) else type(value).__name__


def _sized(length: int, budget: Budget, make: Callable[[], Any]) -> Any:
    if length > LONGEST_TEXT:
        raise CodeRefused(f"a value of {length:,} elements is too large")
    budget.create(length)
    return make()


def compare(kind: type[ast.cmpop], left: Any, right: Any, budget: Budget) -> bool:
    """Return the result of a comparison."""
    if kind not in (ast.Is, ast.IsNot):
        budget.weigh(left, right)
    if kind in (ast.In, ast.NotIn):
        if not isinstance(right, str | list | tuple | dict):
            raise CodeRefused(f"in does not work for {_kind(right)}")
        return (left in right) is (kind is ast.In)
    return bool(ORDER[kind](left, right))


def elements(value: Any, budget: Budget) -> list[Any]:
    """Return what a loop goes through."""
    if not isinstance(value, str | list | tuple | dict):
        raise CodeRefused(f"a loop cannot go through {_kind(value)}")
    return _sized(len(value), budget, lambda: list(value))  # type: ignore[no-any-return]


def item(value: Any, key: Any, budget: Budget) -> Any:
    """Return an element or a slice."""
    if isinstance(value, str | list | tuple) and (type(key) is int or isinstance(key, slice)):
        budget.create(len(value) if isinstance(key, slice) else 1)
        return value[key]
    if isinstance(value, dict):
        return value[hashable(key, budget)]
    raise CodeRefused(f"{_kind(value)} has no such element")


def hashable(key: Any, budget: Budget) -> Any:
    """Return a key of a dict."""
    if isinstance(key, tuple):
        budget.weigh(key)
    elif not (key is None or isinstance(key, bool | int | float | str)):
        raise CodeRefused(f"{_kind(key)} cannot be a key")
    return key


def set_item(value: Any, key: Any, new: Any, budget: Budget) -> None:
    """Set an element."""
    budget.create(1)
    if isinstance(value, list) and type(key) is int:
        value[key] = new
    elif isinstance(value, dict):
        value[hashable(key, budget)] = new
        if len(value) > LARGEST_DICT:
            raise CodeRefused(f"a dict may have at most {LARGEST_DICT:,} keys")
    else:
        raise CodeRefused(f"elements of {_kind(value)} cannot be set")


def method(value: Any, name: str, arguments: list[Any], budget: Budget) -> Any:
    """Call a method of a value."""
    kind = type(value).__name__
    if type(value) not in (str, list, dict) or name not in METHODS[kind]:
        raise CodeRefused(f"{_kind(value)} has no method {name!r} here")
    budget.weigh(*arguments)
    if isinstance(value, str):
        return _text_method(value, name, arguments, budget)
    if kind == "list" and name in ("remove", "index", "count"):
        budget.weigh(value)
    if kind == "dict" and arguments:
        hashable(arguments[0], budget)
    if name in ("append", "insert"):
        _sized(len(value) + 1, budget, lambda: None)
    found = getattr(value, name)(*arguments)
    return _sized(len(value), budget, lambda: list(found)) if name in ("keys", "values", "items") else found


def _text_method(value: str, name: str, arguments: list[Any], budget: Budget) -> Any:
    length = len(value)
    if name == "replace":
        if len(arguments) != 2 or not all(isinstance(each, str) for each in arguments):
            raise CodeRefused("replace takes two texts")
        length += (value.count(arguments[0]) if arguments[0] else length + 1) * len(arguments[1])
    elif name == "join":
        parts = arguments[0] if len(arguments) == 1 and isinstance(arguments[0], list | tuple) else None
        if parts is None or not all(isinstance(part, str) for part in parts):
            raise CodeRefused("join takes a list of texts")
        length = sum(map(len, parts)) + length * len(parts)
    return _sized(length, budget, lambda: getattr(value, name)(*arguments))


def summed(values: Iterable[Any]) -> Any:
    """Return the sum of numbers."""
    total: Any = 0
    for value in values:
        if not _numeric(value):
            raise CodeRefused(f"sum does not work for {_kind(value)}")
        total = number(total + value)
    return total
