"""Run checked code, node by node, as a generator that yields what the code presses."""

import ast
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from balrog_rag.code_actions import code_values as values
from balrog_rag.code_actions.builtin_functions import BUILTINS, Console
from balrog_rag.code_actions.code_syntax import CodeRefused
from balrog_rag.code_actions.code_values import Budget

Run: TypeAlias = Generator[Any, Any, Any]
Command = Callable[[Sequence[Any], Mapping[str, Any]], Run]
"""A function of the game's API: it may press keys, and returns a value."""

DEEPEST_CALLS = 20
RUNTIME_ERRORS = (
    *(ArithmeticError, LookupError, TypeError, ValueError, AttributeError, RecursionError, MemoryError),
)
"""What an operation on allowed values can raise."""


class _Leave(Exception):
    """Leaves a loop or a function."""


class _Break(_Leave):
    pass


class _Continue(_Leave):
    pass


class _Return(_Leave):
    def __init__(self, value: Any) -> None:
        super().__init__()
        self.value = value


@dataclass(frozen=True)
class Function:
    """A function that the code defines."""

    node: ast.FunctionDef

    @property
    def names(self) -> list[str]:
        """The names of its arguments."""
        return [each.arg for each in self.node.args.args]

    def __repr__(self) -> str:
        return "<function>"  # an address would differ from process to process


@dataclass
class Interpreter:
    """One action's code, its variables, and the commands that it may use."""

    commands: Mapping[str, Command]
    console: Console = field(default_factory=Console)
    line: int = 1

    def run(self, tree: ast.Module, library: Sequence[ast.Module] = ()) -> Run:
        """Run code to its end, after its library; raise CodeRefused with the line where it stops."""
        scope: dict[str, Any] = {}
        self._globals = scope
        self._depth = 0
        try:
            for kept in library:
                yield from self._block(kept.body, scope)
            yield from self._block(tree.body, scope)
        except CodeRefused as refused:
            raise CodeRefused(f"line {self.line}: {refused}") from None
        except _Leave:
            raise CodeRefused(f"line {self.line}: only a loop or a function can be left") from None
        except RUNTIME_ERRORS as error:
            what = " ".join(str(error).split())[:200]
            raise CodeRefused(f"line {self.line}: {type(error).__name__}: {what}") from None

    @property
    def budget(self) -> Budget:
        """What the code may still spend."""
        return self.console.budget

    @property
    def output(self) -> str:
        """What the code printed."""
        return "\n".join(self.console.printed)

    # --- statements ---

    def _block(self, body: Sequence[ast.stmt], scope: dict[str, Any]) -> Run:
        for statement in body:
            self.line = statement.lineno
            self.budget.step()
            yield from self._statement(statement, scope)

    def _statement(self, node: ast.stmt, scope: dict[str, Any]) -> Run:
        match node:
            case ast.Expr():
                yield from self.value(node.value, scope)
            case ast.Assign():
                new = yield from self.value(node.value, scope)
                for target in node.targets:
                    yield from self._assign(target, new, scope)
            case ast.AugAssign():
                old = yield from self.value(node.target, scope)
                more = yield from self.value(node.value, scope)
                new = values.combine(type(node.op), old, more, self.budget)
                yield from self._assign(node.target, new, scope)
            case ast.If():
                test = yield from self.value(node.test, scope)
                yield from self._block(node.body if test else node.orelse, scope)
            case ast.For():
                yield from self._for(node, scope)
            case ast.While():
                yield from self._while(node, scope)
            case ast.FunctionDef():
                self._set(node.name, Function(node), scope)
            case ast.Return():
                found = None if node.value is None else (yield from self.value(node.value, scope))
                raise _Return(found)
            case ast.Break():
                raise _Break
            case ast.Continue():
                raise _Continue

    def _for(self, node: ast.For, scope: dict[str, Any]) -> Run:
        through = yield from self.value(node.iter, scope)
        for element in values.elements(through, self.budget):
            self.budget.step()
            yield from self._assign(node.target, element, scope)
            if not (yield from self._once(node.body, scope)):
                break

    def _while(self, node: ast.While, scope: dict[str, Any]) -> Run:
        while True:
            self.budget.step()
            test = yield from self.value(node.test, scope)
            if not test or not (yield from self._once(node.body, scope)):
                break

    def _once(self, body: Sequence[ast.stmt], scope: dict[str, Any]) -> Generator[Any, Any, bool]:
        """Run the body of a loop once; return whether the loop goes on."""
        try:
            yield from self._block(body, scope)
        except _Break:
            return False
        except _Continue:
            pass
        return True

    def _assign(self, target: ast.expr, new: Any, scope: dict[str, Any]) -> Run:
        match target:
            case ast.Name():
                self._set(target.id, new, scope)
            case ast.Tuple() | ast.List():
                parts = values.elements(new, self.budget)
                if len(parts) != len(target.elts):
                    raise CodeRefused(f"{len(target.elts)} values are expected, not {len(parts)}")
                for each, part in zip(target.elts, parts, strict=True):
                    yield from self._assign(each, part, scope)
            case ast.Subscript() if not isinstance(target.slice, ast.Slice):
                owner = yield from self.value(target.value, scope)
                key = yield from self.value(target.slice, scope)
                values.set_item(owner, key, new, self.budget)
            case _:
                raise CodeRefused("only names and elements can be assigned")

    def _set(self, name: str, new: Any, scope: dict[str, Any]) -> None:
        if name in self.commands or name in BUILTINS:
            raise CodeRefused(f"{name} is a function of the game and cannot be replaced")
        self.budget.create(1)
        scope[name] = new

    # --- expressions ---

    def value(self, node: ast.expr, scope: dict[str, Any]) -> Run:
        """Return the value of an expression."""
        self.budget.step()
        match node:
            case ast.Constant():
                return node.value
            case ast.Name():
                return self._name(node.id, scope)
            case ast.BinOp():
                left = yield from self.value(node.left, scope)
                right = yield from self.value(node.right, scope)
                return values.combine(type(node.op), left, right, self.budget)
            case ast.BoolOp():
                return (yield from self._bool(node, scope))
            case ast.UnaryOp():
                return self._unary(node, (yield from self.value(node.operand, scope)))
            case ast.Compare():
                return (yield from self._compare(node, scope))
            case ast.IfExp():
                test = yield from self.value(node.test, scope)
                return (yield from self.value(node.body if test else node.orelse, scope))
            case ast.Call():
                return (yield from self._call(node, scope))
            case ast.Subscript():
                return (yield from self._item(node, scope))
            case _:
                return (yield from self._made(node, scope))

    def _made(self, node: ast.expr, scope: dict[str, Any]) -> Run:
        """Return a new list, tuple, dict or text."""
        match node:
            case ast.List() | ast.Tuple():
                self.budget.create(len(node.elts))
                found = yield from self._values(node.elts, scope)
                return found if isinstance(node, ast.List) else tuple(found)
            case ast.Dict():
                made: dict[Any, Any] = {}
                for key, element in zip(node.keys, node.values, strict=True):
                    if key is None:
                        raise CodeRefused("** is not available here")
                    name = yield from self.value(key, scope)
                    values.set_item(made, name, (yield from self.value(element, scope)), self.budget)
                return made
            case ast.ListComp():
                found = []
                yield from self._comprehend(node.elt, node.generators, {**scope}, found)
                return found
            case ast.JoinedStr():
                parts = yield from self._values(node.values, scope)
                texts = [values.text_of(part, self.budget) for part in parts]
                return values.method("", "join", [texts], self.budget)
            case ast.FormattedValue():
                return (yield from self.value(node.value, scope))
        raise CodeRefused(f"{type(node).__name__.lower()} is not available here")

    def _values(self, nodes: Sequence[ast.expr], scope: dict[str, Any]) -> Run:
        found = []
        for node in nodes:
            found.append((yield from self.value(node, scope)))
        return found

    def _name(self, name: str, scope: dict[str, Any]) -> Any:
        for known in (scope, self._globals):
            if name in known:
                return known[name]
        if name in self.commands or name in BUILTINS:
            raise CodeRefused(f"{name} is a function; it can only be called")
        raise CodeRefused(f"the name {name!r} is not defined")

    def _bool(self, node: ast.BoolOp, scope: dict[str, Any]) -> Run:
        found: Any = None
        for each in node.values:
            found = yield from self.value(each, scope)
            if bool(found) is isinstance(node.op, ast.Or):
                break
        return found

    def _unary(self, node: ast.UnaryOp, value: Any) -> Any:
        if isinstance(node.op, ast.Not):
            return not value
        if not isinstance(value, bool | int | float):
            raise CodeRefused("a sign needs a number")
        return values.number(-value if isinstance(node.op, ast.USub) else +value)

    def _compare(self, node: ast.Compare, scope: dict[str, Any]) -> Run:
        left = yield from self.value(node.left, scope)
        for kind, other in zip(node.ops, node.comparators, strict=True):
            right = yield from self.value(other, scope)
            if not values.compare(type(kind), left, right, self.budget):
                return False
            left = right
        return True

    def _item(self, node: ast.Subscript, scope: dict[str, Any]) -> Run:
        owner = yield from self.value(node.value, scope)
        if isinstance(node.slice, ast.Slice):
            bounds = []
            for part in (node.slice.lower, node.slice.upper, node.slice.step):
                bounds.append(None if part is None else (yield from self.value(part, scope)))
            key: Any = slice(*bounds)
        else:
            key = yield from self.value(node.slice, scope)
        return values.item(owner, key, self.budget)

    def _comprehend(
        self, wanted: ast.expr, loops: Sequence[ast.comprehension], scope: dict[str, Any], found: list[Any]
    ) -> Run:
        if not loops:
            self.budget.create(1)
            found.append((yield from self.value(wanted, scope)))
            if len(found) > values.MOST_ELEMENTS:
                raise CodeRefused(f"a list may have at most {values.MOST_ELEMENTS:,} elements")
            return
        first, *others = loops
        through = yield from self.value(first.iter, scope)
        for element in values.elements(through, self.budget):
            self.budget.step()
            yield from self._assign(first.target, element, scope)
            for test in first.ifs:
                if not (yield from self.value(test, scope)):
                    break
            else:
                yield from self._comprehend(wanted, others, scope, found)

    # --- calls ---

    def _call(self, node: ast.Call, scope: dict[str, Any]) -> Run:
        given = yield from self._values(node.args, scope)
        named = {}
        for word in node.keywords:
            assert word.arg is not None
            named[word.arg] = yield from self.value(word.value, scope)
        self.line = node.lineno
        if isinstance(node.func, ast.Attribute):
            owner = yield from self.value(node.func.value, scope)
            if named:
                raise CodeRefused("methods take no named arguments here")
            return values.method(owner, node.func.attr, given, self.budget)
        assert isinstance(node.func, ast.Name)
        name = node.func.id
        if name in self.commands:
            return (yield from self.commands[name](given, named))
        if name in BUILTINS:
            if named and name != "sorted":
                raise CodeRefused(f"{name} takes no named arguments here")
            return BUILTINS[name](self.console, given, named)
        function = self._name(name, scope)
        if not isinstance(function, Function):
            raise CodeRefused(f"{name} is not a function")
        return (yield from self._function(function, given, named))

    def _function(self, function: Function, given: list[Any], named: dict[str, Any]) -> Run:
        node, names = function.node, function.names
        defaults = dict(
            zip(names[::-1], [_constant(each) for each in node.args.defaults[::-1]], strict=False)
        )
        twice = {*names[: len(given)]} & {*named}
        if len(given) > len(names) or {*named} - {*names} or twice:
            raise CodeRefused(f"{node.name} takes {', '.join(names) or 'no arguments'}")
        local = {**defaults, **dict(zip(names, given, strict=False)), **named}
        if lacking := [name for name in names if name not in local]:
            raise CodeRefused(f"{node.name} needs {lacking[0]}")
        if self._depth >= DEEPEST_CALLS:
            raise CodeRefused(f"functions call each other more than {DEEPEST_CALLS} levels deep")
        self._depth += 1
        try:
            yield from self._block(node.body, local)
        except _Return as left:
            return left.value
        finally:
            self._depth -= 1
        return None


def _constant(node: ast.expr) -> Any:
    assert isinstance(node, ast.Constant)
    return node.value
