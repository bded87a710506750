"""Conditions on a moment of an episode, such as `depth >= 5 and hp * 3 < max_hp`.

A small language with Python's syntax: the game's numbers and events by name, numbers, comparisons,
`and or not`, `+ - * / // %`, and two functions, shows("TEXT") and did("ACTION"). Everything else is refused.
Nothing is executed: the syntax tree is translated to functions, node by node.
"""

import ast
import operator
from collections.abc import Callable, Iterator
from typing import Any, Protocol

from balrog_rag.contracts.errors import ConfigError
from balrog_rag.contracts.registry import nearest

LONGEST = 1000
"""Characters of an expression."""
DEEPEST = 20
"""Levels of nesting."""
LARGEST = 10**15
"""Numbers beyond this are refused."""
LONGEST_TEXT = 100
"""Characters of a text in it."""
MOST_NAMES = 60
"""Known names that an error message lists."""
FUNCTIONS = ("shows", "did")


class MomentValues(Protocol):
    """What an expression reads."""

    def value(self, name: str) -> float:
        """Return the number of that name; for an event whether it has happened."""
        ...

    def shows(self, text: str) -> bool:
        """Whether the observation contains a text, whatever its case."""
        ...

    def did(self, action: str) -> int:
        """Return how often an action was taken, or a key pressed, so far."""
        ...


class Unknown(Exception):
    """A value that does not exist, such as a division by zero."""


Node = Callable[[MomentValues], float]

_ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
_SIGNS: dict[type[ast.unaryop], Callable[[Any], Any]] = {ast.USub: operator.neg, ast.UAdd: operator.pos}


class Expression:
    """A parsed expression."""

    def __init__(self, text: str) -> None:
        """Parse it; raise ConfigError with the reason if it is not in the language."""
        self.text = text
        tree = _parsed(text)
        self.names = frozenset(
            node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id not in FUNCTIONS
        )
        """The numbers and events that it reads."""
        called = {node.func.id for node in _calls(tree) if isinstance(node.func, ast.Name)}
        self.reads_screen = "shows" in called
        self._node = _translated(tree, text, 0)

    def holds(self, moment: MomentValues) -> bool:
        """Whether it is true; false if a value that decides it is unknown."""
        try:
            return bool(self._node(moment))
        except Unknown:
            return False

    def refuse_unknown(self, known: set[str]) -> None:
        """Raise ConfigError for a name that is neither a number nor an event of any searched episode."""
        for name in sorted(self.names - known):
            listed = ", ".join(sorted(known)[:MOST_NAMES])
            raise ConfigError(f"--where: unknown name {name!r}{nearest(name, known)}; known: {listed}")


def _parsed(text: str) -> ast.expr:
    if len(text) > LONGEST:
        raise ConfigError(f"--where: {len(text):,} characters; use at most {LONGEST:,}")
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        why = getattr(error, "msg", "") or type(error).__name__
        raise ConfigError(f"--where {text!r:.80}: not an expression ({why}); e.g. 'depth > 4'") from error


def _calls(tree: ast.expr) -> Iterator[ast.Call]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.Call))


def _translated(node: ast.expr, text: str, depth: int) -> Node:
    """Return the function of a node; everything that is not listed here is refused."""
    if depth > DEEPEST:
        raise ConfigError(f"--where: nested more than {DEEPEST} levels deep; simplify it")
    match node:
        case ast.Constant(value=bool() | int() | float() as value) if abs(value) <= LARGEST:
            return lambda moment: value
        case ast.Name(id=name) if name not in FUNCTIONS:
            return lambda moment: moment.value(name)
        case ast.BoolOp(op=op, values=values):
            return _any_or_all(
                [_translated(each, text, depth + 1) for each in values], isinstance(op, ast.Or)
            )
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            inner = _translated(operand, text, depth + 1)
            return lambda moment: not inner(moment)
        case ast.UnaryOp(op=op, operand=operand) if type(op) in _SIGNS:
            sign, signed = _SIGNS[type(op)], _translated(operand, text, depth + 1)
            return lambda moment: sign(signed(moment))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _ARITHMETIC:
            sides = _translated(left, text, depth + 1), _translated(right, text, depth + 1)
            return _calculated(_ARITHMETIC[type(op)], *sides)
        case ast.Compare(left=left, ops=ops, comparators=others) if all(
            type(op) in _COMPARISONS for op in ops
        ):
            operands = [_translated(each, text, depth + 1) for each in (left, *others)]
            return _compared([_COMPARISONS[type(op)] for op in ops], operands)
        case ast.Call(func=ast.Name(id=name), args=[ast.Constant(value=str() as said)], keywords=[]):
            return _called(name, said)
    raise ConfigError(_refusal(node, text))


def _refusal(node: ast.expr, text: str) -> str:
    said = ast.get_source_segment(text.strip(), node) or type(node).__name__
    return (
        f"--where: {said!r:.80} cannot be used; use names, numbers, comparisons, and or not, "
        '+ - * / // %, shows("TEXT") and did("ACTION")'
    )


def _any_or_all(parts: list[Node], decisive: bool) -> Node:
    """Return `or` (decided by the first true part) or `and` (by the first false one)."""

    def decide(moment: MomentValues) -> bool:
        unknown = False
        for part in parts:
            try:
                if bool(part(moment)) is decisive:
                    return decisive
            except Unknown:
                unknown = True
        if unknown:
            raise Unknown
        return not decisive

    return decide


def _calculated(operation: Callable[[Any, Any], Any], left: Node, right: Node) -> Node:
    def calculate(moment: MomentValues) -> float:
        try:
            made: float = operation(left(moment), right(moment))
        except (ZeroDivisionError, OverflowError) as error:
            raise Unknown from error
        return made

    return calculate


def _compared(operations: list[Callable[[Any, Any], bool]], operands: list[Node]) -> Node:
    def compare(moment: MomentValues) -> bool:
        values = [operand(moment) for operand in operands]
        pairs = zip(operations, values, values[1:], strict=False)
        return all(operation(left, right) for operation, left, right in pairs)

    return compare


def _called(name: str, said: str) -> Node:
    if name not in FUNCTIONS:
        raise ConfigError(f"--where: unknown function {name!r}{nearest(name, FUNCTIONS)}")
    if not said or len(said) > LONGEST_TEXT:
        raise ConfigError(f"--where: {name}(...) takes a text of 1 to {LONGEST_TEXT} characters")
    if name == "shows":
        return lambda moment: moment.shows(said)
    return lambda moment: moment.did(said)
