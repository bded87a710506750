"""What the pages and the examples say can be done: every block of Python runs, every command is one."""

import ast
import asyncio
import importlib
import re
import runpy
import shlex
import sys
import warnings
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest

import balrog_rag
from balrog_rag.config.compose import compose
from balrog_rag.contracts.errors import ConfigError

TOP = Path(__file__).parents[2]
PAGES = sorted([TOP / "README.md", *(TOP / "docs").glob("*.md")])
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^(?: {4})?python -m balrog_rag\.(\w+)((?:[^\\\n]|\\\n)*)$", re.MULTILINE)
"""A line of its own, goes on behind a backslash."""
STANDS_FOR = re.compile(r"\.\.\.|<|\b[A-Z]{2,}\b|\[--|\{|\$")
"""Signs of a word that stands for others: RUN, KEY=VALUE, <model>, [--json]."""
THE_READERS = re.compile(r"agent=planner|@balrog_prompts|orchard")
"""What a page has its reader make: an agent or a game of a package, a folder of prompts."""


@pytest.mark.parametrize(
    "page", [page for page in PAGES if BLOCK.search(page.read_text())], ids=lambda p: p.name
)
def test_every_block_of_python_runs(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One after the other, as the cells of a notebook; nothing may be warned of."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": f"page_{page.stem}"}
    for block in BLOCK.findall(page.read_text()):
        code = compile(block, page.name, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        with warnings.catch_warnings():
            warnings.simplefilter("error", UserWarning)
            waiting = eval(code, names)  # noqa: S307
            if waiting is not None:
                asyncio.run(waiting)


def commands() -> Iterator[tuple[str, str, list[str]]]:
    """Every command on a line of its own that names no placeholder."""
    for page in PAGES:
        for module, rest in COMMAND.findall(page.read_text()):
            line = rest.replace("\\\n", " ").partition(" #")[0]
            if not STANDS_FOR.search(line) and not THE_READERS.search(line):
                yield page.name, module, shlex.split(line.strip().partition("  ")[0])


def test_every_command_is_understood(capsys: pytest.CaptureFixture[str]) -> None:
    """Words of a run are composed, options of other commands are parsed; nothing is carried out."""
    wrong, seen = [], set()
    for page, module, words in commands():
        if (module, *words) in seen:
            continue
        seen.add((module, *words))
        try:
            composed(words) if module == "eval" else parsed(module, words)
        except (ConfigError, SystemExit) as error:
            if str(error) != "0":  # --help
                said = capsys.readouterr().err or error
                wrong.append(f"{page}: python -m balrog_rag.{module} {' '.join(words)}: {said}")
    assert "\n".join(wrong) == ""
    assert len(seen) > 20


def composed(words: list[str]) -> None:
    """Compose the words of a run, of a sweep's its first."""
    own = [word for word in words if not word.startswith(("-", "resume=", "hydra"))]
    compose([word.partition(",")[0] if "-m" in words and "[" not in word else word for word in own])


def parsed(module: str, words: list[str]) -> None:
    """Parse the words as the command does."""
    found = importlib.import_module(f"balrog_rag.cli.{module}")
    parser = getattr(found, "parser", None) or found._parser
    _, rest = parser().parse_known_args(words)
    if bad := [word for word in rest if "=" not in word]:
        raise ConfigError(f"not understood: {bad}")


def example(name: str, *words: str) -> None:
    """Run an example as a script."""
    before, sys.argv = sys.argv, [name, *words]
    try:
        runpy.run_path(str(TOP / "examples" / f"{name}.py"), run_name="__main__")
    finally:
        sys.argv = before


def test_the_examples_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdin", StringIO("east\nnowhere\n\n"))
    example("play_by_hand")
    said = capsys.readouterr().out
    assert "unknown action 'nowhere'" in said
    assert "step 1," in said
    quiet = ("runner.log=none", "limits.steps=3")
    example("own_agent", *quiet)
    assert "2 episodes ended" in capsys.readouterr().out
    example("compare_agents", *quiet, "env.episodes=2")
    assert "undecided" in capsys.readouterr().out


def test_the_example_walks_to_a_death(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = (
        "env=nethack",
        "env.episodes=1",
        "limits.steps=20000",
        "env.no_progress=20000",
        "runner.log=none",
    )
    run = balrog_rag.evaluate("agent=random", *words, folder=tmp_path / "run")
    example("how_it_died", str(run.folder))
    assert "end: died: " in capsys.readouterr().out
