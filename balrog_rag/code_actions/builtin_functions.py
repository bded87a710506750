"""The functions without effects that code may call: bounded versions of Python's own."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from balrog_rag.code_actions import code_values as values
from balrog_rag.code_actions.code_syntax import CodeRefused
from balrog_rag.code_actions.code_values import Budget

LONGEST_PRINT = 2000


@dataclass
class Console:
    """What functions share: what may still be spent, and what was printed."""

    budget: Budget = field(default_factory=Budget)
    printed: list[str] = field(default_factory=list)
    left: int = LONGEST_PRINT
    """Characters that may still be printed, line ends included."""


Builtin = Callable[[Console, list[Any], Mapping[str, Any]], Any]


def _range(run: Console, given: list[Any], named: Mapping[str, Any]) -> list[int]:
    numbers = range(*given)
    if len(numbers) > values.MOST_ELEMENTS:
        raise CodeRefused(f"range has at most {values.MOST_ELEMENTS:,} numbers here")
    run.budget.create(len(numbers))
    return list(numbers)


def _print(run: Console, given: list[Any], named: Mapping[str, Any]) -> None:
    said = " ".join(values.text_of(each, run.budget) for each in given)
    if run.left > 0:
        run.printed.append(said[: run.left])
        run.left -= len(said) + 1


def _sorted(run: Console, given: list[Any], named: Mapping[str, Any]) -> list[Any]:
    (through,) = given
    if {*named} - {"reverse"}:
        raise CodeRefused("sorted takes only reverse here")
    run.budget.weigh(through)
    elements = values.elements(through, run.budget)
    run.budget.step(16 * len(elements))
    return sorted(elements, reverse=bool(named.get("reverse")))


def _str(run: Console, given: list[Any], named: Mapping[str, Any]) -> str:
    (value,) = given
    return values.text_of(value, run.budget)


def _int(run: Console, given: list[Any], named: Mapping[str, Any]) -> int:
    (value,) = given
    if isinstance(value, str) and len(value) > 20:
        raise CodeRefused("a number does not fit in 64 bits")
    if not isinstance(value, str | bool | int | float):
        raise CodeRefused("int takes a text or a number")
    return int(values.number(int(value)))


def _float(run: Console, given: list[Any], named: Mapping[str, Any]) -> float:
    (value,) = given
    if not isinstance(value, str | bool | int | float) or len(str(value)) > 40:
        raise CodeRefused("float takes a text or a number")
    return float(value)


def _extreme(of: Callable[[list[Any]], Any]) -> Builtin:
    def chosen(run: Console, given: list[Any], named: Mapping[str, Any]) -> Any:
        through = values.elements(given[0], run.budget) if len(given) == 1 else given
        run.budget.weigh(through)
        return of(through)

    return chosen


def _len(run: Console, given: list[Any], named: Mapping[str, Any]) -> int:
    (value,) = given
    if not isinstance(value, str | list | tuple | dict):
        raise CodeRefused("len takes a text, a list, a tuple or a dict")
    return len(value)


def _over(make: Callable[[list[Any]], Any]) -> Builtin:
    """A function of one value to go through."""

    def called(run: Console, given: list[Any], named: Mapping[str, Any]) -> Any:
        (through,) = given
        elements = values.elements(through, run.budget)
        run.budget.step(len(elements))
        return make(elements)

    return called


def _zip(run: Console, given: list[Any], named: Mapping[str, Any]) -> list[Any]:
    parts = [values.elements(each, run.budget) for each in given]
    run.budget.create(sum(map(len, parts)))
    return list(zip(*parts, strict=False))


def _dict(run: Console, given: list[Any], named: Mapping[str, Any]) -> dict[Any, Any]:
    if given:
        raise CodeRefused("dict takes no arguments here; write {...}")
    return {}


def _calculated(of: Callable[..., Any]) -> Builtin:
    def called(run: Console, given: list[Any], named: Mapping[str, Any]) -> Any:
        if not given or not all(isinstance(each, bool | int | float) for each in given):
            raise CodeRefused(f"{of.__name__} takes numbers")
        if of is round and len(given) > 1 and abs(given[1]) > 20:
            raise CodeRefused("round takes at most 20 digits")
        return values.number(of(*given))

    return called


BUILTINS: Mapping[str, Builtin] = {
    "range": _range,
    "print": _print,
    "sorted": _sorted,
    "len": _len,
    "int": _int,
    "float": _float,
    "str": _str,
    "bool": lambda run, given, named: bool(*given),
    "min": _extreme(min),
    "max": _extreme(max),
    "abs": _calculated(abs),
    "round": _calculated(round),
    "sum": _over(values.summed),
    "any": _over(any),
    "all": _over(all),
    "list": _over(list),
    "tuple": _over(tuple),
    "reversed": _over(lambda elements: elements[::-1]),
    "enumerate": _over(lambda elements: list(enumerate(elements))),
    "zip": _zip,
    "dict": _dict,
}
"""Functions without effects; all are named in the agent's prompt."""
