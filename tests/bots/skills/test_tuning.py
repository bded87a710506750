"""Every number that the delver plays by stands in one table, with its basis."""

import ast
import re
from dataclasses import fields
from pathlib import Path

from balrog_rag.bots.nethack import delver, skills
from balrog_rag.bots.nethack.skills import tuning
from balrog_rag.bots.nethack.skills.tuning import CHOSEN, SOURCE, Tuning

FOLDERS = [Path(module.__file__ or "").parent for module in (delver, skills)]
ELSEWHERE = {"_PAGES", "_LEAP", "TRIES", "SIGHT"}
"""Numbers of the game's interface, and of what models call."""


def numbers(text: str) -> list[str]:
    """The names that a module gives to bare numbers."""
    found = []
    for line in ast.parse(text).body:
        if isinstance(line, ast.Assign) and all(
            isinstance(each, ast.Constant) and isinstance(each.value, (int, float))
            for each in (line.value.elts if isinstance(line.value, ast.Tuple) else [line.value])
        ):
            found += [each.id for each in ast.walk(line.targets[0]) if isinstance(each, ast.Name)]
    return found


def test_every_number_has_a_basis() -> None:
    for each in fields(Tuning):
        assert each.metadata["says"]
        assert bool(each.metadata["basis"]) is (each.metadata["kind"] != CHOSEN), each.name
        if each.metadata["kind"] == SOURCE:
            assert re.search(r"\w\.(c|h|def)\b|as write_near_dwarf", each.metadata["basis"]), each.name


def test_no_module_has_numbers_of_its_own_and_none_is_idle() -> None:
    texts = {path: path.read_text() for folder in FOLDERS for path in folder.glob("*.py")}
    assert numbers("A, _B = 1, 2.5\nC = 'no'\nD = 3") == ["A", "_B", "D"]
    assert {name for text in texts.values() for name in numbers(text)} <= ELSEWHERE
    used = set(re.findall(r"\bTUNING\.(\w+)", " ".join(texts.values())))
    assert used == {each.name for each in fields(tuning.Tuning)}


def inline(text: str) -> list[tuple[int, float]]:
    """The numbers that stand in the functions of a module, with their lines; small ones count, or index."""
    functions = (each for each in ast.walk(ast.parse(text)) if isinstance(each, ast.FunctionDef))
    found = {each for function in functions for each in ast.walk(function) if isinstance(each, ast.Constant)}
    numbered = ((each.lineno, each.value) for each in found if type(each.value) in (int, float))
    return sorted((line, value) for line, value in numbered if value not in (0, 1, 2, 3))


def test_no_function_has_numbers_of_its_own() -> None:
    assert inline("def f(x):\n    return 0.7 * x[3] + g(x)\nA = 7") == [(2, 0.7)]
    for folder in FOLDERS:
        for path in folder.glob("*.py"):
            assert not inline(path.read_text()), path.name
