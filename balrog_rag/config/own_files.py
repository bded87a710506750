"""`agent=FILE.py:NAME`: a class or a function of the user's. The file is read as text, not run."""

import ast
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from balrog_rag.contracts.blame import remember_as_written
from balrog_rag.util.files import read_file


def with_own_file(word: str) -> list[str]:
    """Expand `agent=FILE.py:NAME` into a user's class or function; return others unchanged."""
    # Hydra escapes the colon in the values of a sweep.
    given, _, name = word.removeprefix("agent=").replace("\\:", ":").rpartition(":")
    file = Path(given)
    if not word.startswith("agent=") or file.suffix != ".py":
        return [word]
    path = file.expanduser().resolve()
    remember_as_written(path, str(file))
    if (found := find_class(path, name)) is not None:
        return ["agent=own_class", *(f"agent.options.{key}={_literal(found[key])}" for key in found)]
    options = f"path: {quoted(str(path))}, function: {quoted(name)}"
    return ["agent=policy", f"agent.options={{{options}}}"]


def _literal(value: str | bool) -> str:
    return quoted(value) if isinstance(value, str) else str(value).lower()


def find_class(path: Path, name: str) -> Mapping[str, Any] | None:
    """The options for a class of this file, which is read but not run; None if it defines no such class."""
    try:
        tree = ast.parse(read_file(path))
    except (OSError, SyntaxError, ValueError):  # reported where the file is imported
        return None
    found = [node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name]
    if not found:
        return None
    return {"path": str(path), "class_name": name, "asks_model": _asks_model(found[-1])}


def own_prompts(path: Path) -> list[str]:
    """The names in every `own_prompts = {...}` of the file's classes; other ways to make it are not read."""
    try:
        tree = ast.parse(read_file(path))
    except (OSError, SyntaxError, ValueError):  # reported where the file is imported
        return []
    assigned = (node for node in ast.walk(tree) if isinstance(node, ast.Assign | ast.AnnAssign))
    made = [node.value for node in assigned if _is_own_prompts(node)]
    keys = [key for value in made if isinstance(value, ast.Dict) for key in value.keys]
    return [key.value for key in keys if isinstance(key, ast.Constant) and isinstance(key.value, str)]


def _is_own_prompts(statement: ast.Assign | ast.AnnAssign) -> bool:
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    return any(isinstance(target, ast.Name) and target.id == "own_prompts" for target in targets)


def _asks_model(node: ast.ClassDef) -> bool:
    """Whether the class's own body does not say `asks_model = False`."""
    for statement in node.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id="asks_model")], value=ast.Constant(value=value)):
                return bool(value)
            case ast.AnnAssign(target=ast.Name(id="asks_model"), value=ast.Constant(value=value)):
                return bool(value)
    return True


def quoted(text: str) -> str:
    """Quote a value so that Hydra's grammar takes it literally."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
