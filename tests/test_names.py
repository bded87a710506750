"""No name has two meanings: file names, public classes, and functions that many modules would define."""

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "balrog_rag"

SHARED_FILES = {
    *("__init__", "__main__"),
    *("kind", "game", "player", "words", "levels", "tasks"),  # one each per environment
    *("compare", "counterfactual", "leaderboard", "prompts", "report"),  # `python -m` modules beside cli/
}
"""File names that several packages may use."""

GAMES = ("envs/", "bots/")
"""Folders in which each game may have classes of its own under a name that games share, such as `World`."""

SHARED_FUNCTIONS = {"gate", "ending", "endings", "tidy", "collecting", "judging"}
"""Names that used to have several meanings: at most one public function each."""


def modules() -> Iterator[Path]:
    for path in sorted(PACKAGE.rglob("*.py")):
        if "_data" not in path.parts:
            yield path.relative_to(PACKAGE)


def defined(kinds: type | tuple[type, ...]) -> Mapping[str, list[str]]:
    """The modules that define a public name of this kind at their top level."""
    found = defaultdict(list)
    for path in modules():
        for node in ast.parse((PACKAGE / path).read_text()).body:
            if isinstance(node, kinds) and not node.name.startswith("_"):
                found[node.name].append(path.as_posix())
    return found


def test_no_two_packages_use_a_file_name() -> None:
    found = defaultdict(list)
    for path in modules():
        found[path.stem].append(path.as_posix())
    assert {name: paths for name, paths in found.items() if len(paths) > 1 and name not in SHARED_FILES} == {}


def test_a_public_class_is_defined_once() -> None:
    """Except that games share words for what they are made of: a world, a level, a place."""
    wrong = {
        name: paths
        for name, paths in defined(ast.ClassDef).items()
        if len(paths) > 1 and not all(path.startswith(GAMES) for path in paths)
    }
    assert wrong == {}


def test_names_that_once_had_several_meanings_have_one() -> None:
    functions = defined((ast.FunctionDef, ast.AsyncFunctionDef))
    assert {name: paths for name in SHARED_FUNCTIONS if len(paths := functions.get(name, [])) > 1} == {}
