"""Import the prompts of a user's own BALROG checkout as prompt files of this project.

The checkout's Python files are parsed, never executed. Code that is not written as in BALROG is skipped and
reported.
"""

import ast
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from balrog_rag.contracts.errors import ConfigError

ENVIRONMENTS = {
    "nle": "nle",
    "minihack": "minihack",
    "babyai": "babyai_text",
    "babaisai": "babaisai",
    "crafter": "crafter",
    "textworld": "textworld",
}
"""Our environments, and their folders in BALROG."""
ANSWERS = {
    "answer_naive": "naive",
    "answer_cot": "chain_of_thought",
    "answer_robust_naive": "robust_naive",
    "answer_robust_cot": "robust_cot",
}
"""Our prompts that describe the answer format, and the files of BALROG's agents that contain theirs."""


KEEP_BREAK = "{{ '' }}"
"""Placed after a block, whose end tag would otherwise swallow the line break."""


class ImportedPrompts(NamedTuple):
    """The prompts found, by their names here, and the reason for each one that was skipped."""

    prompts: dict[str, str]
    left_out: dict[str, str]


class _Unlike(Exception):
    """A piece of code that is not written as in BALROG."""


def read(checkout: Path, games: Collection[str]) -> ImportedPrompts:
    """Read the prompts of a checkout for these environments, ready to be written to files."""
    root = checkout / "balrog"
    if not (root / "environments").is_dir():
        raise ConfigError(f"{checkout}: not a BALROG checkout (no folder balrog/environments)")
    found = ImportedPrompts({}, {})

    def keep(name: str, make: Callable[[], str]) -> None:
        try:
            found.prompts[name] = make()
        except _Unlike as error:
            found.left_out[name] = str(error)

    for env, folder in ENVIRONMENTS.items():
        if env in games:
            keep(f"instruction_{env}", partial(_instruction, root, env, folder))
    for name, agent in ANSWERS.items():
        keep(name, partial(_answer, root / "agents" / f"{agent}.py"))
    keep("invalid", partial(_notice, root / "evaluator.py"))
    _demonstrations(root / "agents" / "few_shot.py", keep)
    _closings(found, root / "agents" / "few_shot.py")
    return found


def write(found: ImportedPrompts, folder: Path) -> None:
    """Write one file per prompt."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in found.prompts.items():
            (folder / f"{name}.j2").write_text(f"{text}\n", "utf-8")
    except OSError as error:
        raise ConfigError(f"{folder}: cannot be written ({error.strerror or error})") from error


# --- instructions ---


def _instruction(root: Path, env: str, folder: str) -> str:
    """Build the text that `get_instruction_prompt` of an environment returns."""
    module = _parsed(root / "environments" / folder / "__init__.py")
    function = _function(module, "get_instruction_prompt")
    tables = _tables(module)
    described = tables.get("ACTIONS") or _other_table(root, env)
    values = {"mission": "{{ goal }}", **_by_task(tables)}
    for statement in function.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if _is_call(value, "join"):
                values[name] = _listed(value, tables, described)
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if _is_text(value):
                values[name] = _text(value, values)
            case ast.If():
                values |= _chosen(statement)
            case ast.Return(value=ast.expr() as value):
                return _text(value, values).strip()
    raise _Unlike("get_instruction_prompt returns no text")


def _by_task(tables: Mapping[str, dict[str, str]]) -> dict[str, str]:
    """Translate `TABLE[task].strip()`: one text per task, matched by its exact name."""
    chosen = {}
    for name, table in tables.items():
        word, made = "if", ""
        for task, text in table.items():
            made += f"{{% {word} task == {msgspec.json.encode(task).decode()} %}}{_literal(text.strip())}"
            word = "elif"
        otherwise = (
            "{% else %}{{ instruction_of_this_task }}{% endif %}"  # undefined, so an error, as in BALROG
        )
        chosen[f"{name}[task].strip()"] = f"{made}{otherwise}{KEEP_BREAK}"
    return chosen


def _other_table(root: Path, env: str) -> dict[str, str]:
    """The file of the actions in BALROG's later layout."""
    path = root / "environments" / "nle" / "base.py"
    return _tables(_parsed(path)).get(f"{env.upper()}_ACTIONS_TO_DESCR", {}) if path.is_file() else {}


def _listed(joined: ast.expr, tables: Mapping[str, dict[str, str]], described: Mapping[str, str]) -> str:
    """Translate a list of actions with descriptions: fixed, or built from the actions of the game."""
    match joined:
        case ast.Call(
            func=ast.Attribute(value=ast.Constant(value=str(between))),
            args=[ast.GeneratorExp(elt=ast.JoinedStr() as line, generators=[ast.comprehension() as loop])],
        ):
            return _lines(line, loop, between, tables, described)
    raise _Unlike(f"unsupported list of actions: {_shown(joined)}")


def _lines(
    line: ast.JoinedStr, loop: ast.comprehension, between: str,
    tables: Mapping[str, dict[str, str]], described: Mapping[str, str],
) -> str:  # fmt: skip
    """The lines of such a list; it iterates over a table, a slice of one, or action names."""
    match loop:
        case ast.comprehension(
            target=ast.Tuple(elts=[ast.Name(id=key), ast.Name(id=meaning)]),
            iter=ast.Call(func=ast.Attribute(value=source, attr="items")),
        ):
            table = tables.get(source.id) if isinstance(source, ast.Name) else None
            if table is not None:
                pairs = [(_literal(one), _literal(two)) for one, two in table.items()]
                return _literal(between).join(_text(line, {key: one, meaning: two}) for one, two in pairs)
            each = _text(line, {key: "{{ name }}", meaning: "{{ words[name] }}"})
            return _of_the_game(each, between, described)
        case ast.comprehension(target=ast.Name(id=key), iter=ast.Name()):
            for name, table in tables.items():
                if f"{name}[{key}]" in ast.unparse(line):
                    each = _text(line, {key: "{{ name }}", f"{name}[{key}]": "{{ words[name] }}"})
                    return _of_the_game(each, between, table)
    raise _Unlike(f"unsupported loop over actions: {_shown(loop)}")


def _of_the_game(line: str, between: str, described: Mapping[str, str]) -> str:
    """One line per action of the game, in the game's order."""
    if not described:
        raise _Unlike("descriptions of its actions not found")
    words = msgspec.json.encode(described).decode()
    after = f"{{{{ '' if loop.last else {msgspec.json.encode(between).decode()} }}}}"
    loop = f"{{% for name in actions if name in words %}}{line}{after}{{% endfor %}}"
    return f"{{% set words = {words} %}}{loop}{KEEP_BREAK}"


def _chosen(statement: ast.If) -> dict[str, str]:
    """Translate a value that depends on a substring of the task's name."""
    made, name, node, word = "", "", statement, "if"
    while True:
        match node:
            case ast.If(
                test=ast.Compare(
                    left=ast.Constant(value=str(part)),
                    ops=[ast.In()],
                    comparators=[ast.Call(func=ast.Attribute(value=ast.Name(id="task"), attr="lower"))],
                ),
                body=[ast.Assign(targets=[ast.Name(id=name)], value=value)],
            ):
                quoted = msgspec.json.encode(part).decode()
                made += f"{{% {word} {quoted} in task | lower %}}{_text(value, {})}"
            case _:
                raise _Unlike(f"unsupported condition: {_shown(node.test)}")
        match node.orelse:
            case [ast.If() as node]:
                word = "elif"
            case [ast.Assign(targets=[ast.Name(id=other)], value=value)] if other == name:
                return {name: f"{made}{{% else %}}{_text(value, {})}{{% endif %}}{KEEP_BREAK}"}
            case _:
                raise _Unlike("conditional without else")


# --- agents ---


def _answer(path: Path) -> str:
    """The text that an agent appends to the newest observation."""
    function = _function(_parsed(path), "act")
    for node in ast.walk(function):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if re.search("instructions?$", name):
                return _text(value, {}).strip()
    raise _Unlike("its act has no text that is called an instruction")


def _notice(path: Path) -> str:
    """The text that the evaluator puts before an observation after an invalid answer."""
    for node in ast.walk(_function(_parsed(path), "run_episode")):
        match node:
            case ast.BinOp(left=ast.JoinedStr() as notice, op=ast.Add()):
                return _text(notice, {"action": "{{ action }}"})
    raise _Unlike("run_episode puts no text before an observation")


def _demonstrations(path: Path, keep: Callable[[str, Callable[[], str]], None]) -> None:
    """The lines before, between and after demonstrations."""

    def said(function: str, place: int) -> str:
        shown = list(_contents(_function(_parsed(path), function)))
        if len(shown) < abs(place):
            raise _Unlike(f"{function} has no text there")
        return _text(shown[place], {"len(self.icl_episodes) + 1": "{{ number }}"}).strip()

    keep("demonstration_observation", lambda: _before_observations(_function(_parsed(path), "wrap_episode")))
    keep("demonstration_begins", lambda: said("wrap_episode", 0))
    keep("demonstration_ends", lambda: said("wrap_episode", -1))
    keep("demonstrations_over", lambda: said("get_icl_prompt", -1))


def _before_observations(function: ast.FunctionDef) -> str:
    """The word before an observation, and its position."""
    for node in ast.walk(function):
        match node:
            case ast.BinOp(left=ast.Constant(value=str(before)), op=ast.Add(), right=ast.Subscript()):
                return f"{_literal(before)}{{{{ text }}}}"
    raise _Unlike("it puts no text before an observation")


def _contents(function: ast.FunctionDef) -> Iterator[ast.expr]:
    """The texts of the messages that a function creates, in order."""
    calls = [node for node in ast.walk(function) if isinstance(node, ast.Call)]
    for call in sorted(calls, key=lambda call: (call.lineno, call.col_offset)):
        for keyword in call.keywords:
            if keyword.arg == "content" and isinstance(keyword.value, ast.JoinedStr | ast.Constant):
                yield keyword.value


def _closings(found: ImportedPrompts, path: Path) -> None:
    """The last line of NetHack's instruction, and its replacement for few_shot."""
    closing = found.prompts.get("instruction_nle", "").rpartition("\n")[2]
    try:
        before, after = _replacement(_function(_parsed(path), "get_icl_prompt"))
    except _Unlike as error:
        found.left_out["closing_few_shot"] = str(error)
        return
    if before not in closing:
        found.left_out["closing_few_shot"] = f"NetHack's instruction does not end with {before!r}"
        return
    found.prompts.update(closing=closing, closing_few_shot=closing.replace(before, after))
    for name in [name for name in found.prompts if name.startswith("instruction_")]:
        found.prompts[name] = re.sub(rf"\n{re.escape(closing)}$", "\n{{ closing }}", found.prompts[name])


def _replacement(function: ast.FunctionDef) -> tuple[str, str]:
    for node in ast.walk(function):
        match node:
            case ast.Call(
                func=ast.Attribute(attr="replace"),
                args=[ast.Constant(value=str(before)), ast.Constant(value=str(after))],
            ):
                return before, after
    raise _Unlike("it replaces no text of the instruction")


# --- Python's syntax ---


def _parsed(path: Path) -> ast.Module:
    try:
        return ast.parse(path.read_bytes())
    except OSError as error:
        raise _Unlike(f"{path}: {error.strerror or error}") from error
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise _Unlike(f"{path}: cannot be read as Python ({error})") from error


def _function(module: ast.Module, name: str) -> ast.FunctionDef:
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef) and node.name == name:
            return node
    raise _Unlike(f"has no function {name}")


def _tables(module: ast.Module) -> dict[str, dict[str, str]]:
    """The dictionaries of texts at the top of a file."""
    found = {}
    for node in module.body:
        match node:
            case ast.Assign(
                targets=[ast.Name(id=name)],
                value=ast.Call(func=ast.Name(id="dict"), args=[], keywords=given),
            ):
                words = {each.arg: each.value.value for each in given if isinstance(each.value, ast.Constant)}
                if len(words) == len(given) and all(isinstance(word, str) for word in words.values()):
                    found[name] = dict[Any, Any](words)
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Dict(keys=keys, values=values)):
                pairs = [
                    (key.value, value.value)
                    for key, value in zip(keys, values, strict=True)
                    if isinstance(key, ast.Constant) and isinstance(value, ast.Constant)
                ]
                if all(isinstance(part, str) for pair in pairs for part in pair):
                    found[name] = dict[Any, Any](pairs)
    return found


def _text(expression: ast.expr, values: Mapping[str, str]) -> str:
    """Convert a string or f-string to a template; `values` maps expressions to template code."""
    match expression:
        case ast.Constant(value=str(text)):
            return _literal(text)
        case ast.JoinedStr(values=parts):
            return "".join(_text(part, values) for part in parts)
        case ast.FormattedValue(value=value, conversion=-1, format_spec=None) if ast.unparse(value) in values:
            return values[ast.unparse(value)]
        case ast.Name(id=name) if name in values:
            return values[name]
        case ast.Call() if ast.unparse(expression) in values:
            return values[ast.unparse(expression)]
        case ast.Call(func=ast.Attribute(value=value, attr="strip"), args=[]):
            return _text(value, values).strip()
    raise _Unlike(f"unsupported expression: {_shown(expression)}")


def _is_text(value: ast.expr) -> bool:
    """Whether a string is assigned, with or without `.strip()`."""
    stripped = (
        isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "strip"
    )
    return stripped or isinstance(value, ast.JoinedStr | ast.Constant)


def _is_call(value: ast.expr, name: str) -> bool:
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == name


def _literal(text: str) -> str:
    """Escape text so that a template reproduces it literally."""
    return re.sub(r"\{[{%#]", lambda found: f"{{{{ '{found.group()}' }}}}", text)


def _shown(node: ast.AST) -> str:
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= 60 else f"{text[:60]}..."
