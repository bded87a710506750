"""Which Python an action may consist of; everything else is refused before anything runs."""

import ast
from collections.abc import Iterator

from balrog_rag.contracts.surrogates import cleaned

LONGEST_CODE = 4000
"""Characters of one action's code."""
DEEPEST_CODE = 30
"""Levels of expressions and blocks within each other."""
MOST_NODES = 2000
LARGEST = 2**63
"""Integers stay below this, and above its negative."""
SEARCH = "search"
MOST_SEARCHES = 5

STATEMENTS = (
    *(ast.Expr, ast.Assign, ast.AugAssign, ast.If, ast.For, ast.While, ast.Break, ast.Continue, ast.Pass),
    *(ast.FunctionDef, ast.Return),
)
EXPRESSIONS = (
    *(ast.Constant, ast.Name, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Call),
    *(ast.List, ast.Tuple, ast.Dict, ast.Subscript, ast.Slice, ast.ListComp, ast.JoinedStr),
    *(ast.FormattedValue, ast.Attribute),
)
PARTS = (
    *(ast.Module, ast.arguments, ast.arg, ast.keyword, ast.comprehension, ast.expr_context),
    *(ast.operator, ast.unaryop, ast.boolop, ast.cmpop),
)
REFUSED_OPERATORS = (ast.MatMult, ast.LShift, ast.RShift, ast.BitAnd, ast.BitOr, ast.BitXor, ast.Invert)
METHODS = {
    "str": frozenset(
        (
            *("split", "strip", "lower", "upper", "startswith", "endswith", "replace", "find", "join"),
            *("count", "splitlines", "isdigit"),
        )
    ),
    "list": frozenset(("append", "pop", "insert", "remove", "index", "count")),
    "dict": frozenset(("get", "keys", "values", "items", "pop")),
}
"""The methods that may be called, by the type of the value."""
ALL_METHODS = frozenset().union(*METHODS.values())


class CodeRefused(Exception):
    """Code that is not allowed or cannot run; the message is one line for the model."""


def parsed(source: str) -> ast.Module:
    """Parse code and check every node of it; raise CodeRefused."""
    if len(source) > LONGEST_CODE:
        raise CodeRefused(f"the code has {len(source):,} characters; write at most {LONGEST_CODE:,}")
    try:
        tree = ast.parse(source)
    except SyntaxError as error:
        raise CodeRefused(f"line {error.lineno or 1}: {error.msg}") from None
    except (ValueError, RecursionError, MemoryError, OverflowError):
        raise CodeRefused(
            "the code cannot be parsed: it is nested too deeply or has a wrong number"
        ) from None
    _check(tree)
    return tree


def _check(tree: ast.Module) -> None:
    """Check the nodes level by level, so that deep code is refused without recursion."""
    level: list[ast.AST] = [tree]
    count = depth = 0
    while level:
        depth += 1
        count += len(level)
        if depth > DEEPEST_CODE or count > MOST_NODES:
            raise CodeRefused("the code is nested too deeply or too long; divide it into functions and steps")
        for node in level:
            _check_node(node)
        level = [child for node in level for child in ast.iter_child_nodes(node)]


def _check_node(node: ast.AST) -> None:
    line = getattr(node, "lineno", 1)
    if isinstance(node, REFUSED_OPERATORS) or not isinstance(node, (*STATEMENTS, *EXPRESSIONS, *PARTS)):
        raise CodeRefused(f"line {line}: {type(node).__name__.lower()} is not available here")
    for name in _names(node):
        if name.startswith("_"):
            raise CodeRefused(f"line {line}: names must not begin with an underscore")
    for what in _faults(node):
        raise CodeRefused(f"line {line}: {what}")


def _names(node: ast.AST) -> Iterator[str]:
    for field in ("id", "attr", "name", "arg"):
        if isinstance(name := getattr(node, field, None), str):
            yield name


def _faults(node: ast.AST) -> Iterator[str]:
    """Yield what is wrong with a node of an allowed kind."""
    match node:
        case ast.Constant(value=value):
            if value is not None and not isinstance(value, bool | int | float | str):
                yield f"{type(value).__name__} constants are not available here"
            if isinstance(value, int) and abs(value) >= LARGEST:
                yield "numbers must fit in 64 bits"
            if isinstance(value, str) and cleaned(value) != value:
                yield "a text has half a character (a lone surrogate), which cannot be stored"
        case ast.Call(func=ast.Attribute() as method):
            if method.attr not in ALL_METHODS:
                yield f"the method {method.attr!r} is not available here"
        case ast.Call(func=func) if not isinstance(func, ast.Name):
            yield "only named functions and methods can be called"
        case ast.Call(keywords=keywords) if any(each.arg is None for each in keywords):
            yield "** is not available here"
        case ast.FunctionDef():
            yield from _function_faults(node)
        case ast.FormattedValue(format_spec=spec, conversion=conversion):
            if spec is not None or conversion not in (-1, ord("s")):
                yield "format specifications are not available here"
        case ast.comprehension(is_async=1):
            yield "async is not available here"
        case ast.For(orelse=[_, *_]) | ast.While(orelse=[_, *_]):
            yield "else of a loop is not available here"


def _function_faults(node: ast.FunctionDef) -> Iterator[str]:
    given = node.args
    if node.decorator_list or given.vararg or given.kwarg or given.kwonlyargs or given.posonlyargs:
        yield "functions take plain arguments only, without decorators"
    if not all(isinstance(default, ast.Constant) for default in given.defaults):
        yield "default values must be constants"


def check_attributes(tree: ast.Module) -> None:
    """Refuse attributes that are not called at once."""
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and id(node) not in called:
            raise CodeRefused(f"line {node.lineno}: attributes are not available here, only method calls")


def checked(source: str) -> ast.Module:
    """Parse code and check all of it; raise CodeRefused."""
    tree = parsed(source)
    check_attributes(tree)
    return tree


def functions(tree: ast.Module) -> dict[str, str]:
    """Return the source of each function that the code defines at its top level."""
    return {node.name: ast.unparse(node) for node in tree.body if isinstance(node, ast.FunctionDef)}


def called_names(tree: ast.AST) -> set[str]:
    """Return the names that the code uses."""
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def searches(tree: ast.Module) -> list[str]:
    """Return the queries that the code searches for; raise CodeRefused if one is not a literal text."""
    queries: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == SEARCH:
            match node.args:
                case [ast.Constant(value=str() as query)] if not node.keywords:
                    queries.append(query)
                case _:
                    raise CodeRefused(
                        f"line {node.lineno}: search takes one literal text, as in search('newt')"
                    )
    distinct = list(dict.fromkeys(queries))
    if len(distinct) > MOST_SEARCHES:
        raise CodeRefused(f"the code searches {len(distinct)} times; at most {MOST_SEARCHES} times a step")
    return distinct
