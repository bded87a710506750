"""What pages and examples claim: every block of Python runs, every command is valid."""

import ast
import asyncio
import importlib
import json
import re
import runpy
import shlex
import shutil
import sys
import tomllib
import warnings
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import yaml

import balrog_rag
from balrog_rag.cli.verbs import VERBS
from balrog_rag.config.compose import compose
from balrog_rag.contracts import registry
from balrog_rag.contracts.errors import ConfigError

TOP = Path(__file__).parents[2]
PACKAGE = TOP / "balrog_rag"
PAGES = sorted([TOP / "README.md", *(TOP / "docs").rglob("*.md")])
LINKED = [*PAGES, TOP / "ARCHITECTURE.md", TOP / "CONTRIBUTING.md"]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^(?: {4})?balrog-rag (\w+)((?:[^\\\n]|\\\n)*)$", re.MULTILINE)
"""A command on a separate line; a backslash at the end of a line continues it."""
STANDS_FOR = re.compile(r"\.\.\.|<|\bKEY=|\[--|\{|\$")
"""Signs of a placeholder that no word can take the place of: KEY=VALUE, <model>, [--json]."""
MADE_HERE = {
    "careful.txt": "Answer carefully.",
    "balrog_prompts/answer_cot.j2": "Answer.",
    "my_conf/agent/mine.yaml": "defaults: [cot, _self_]\nmax_text_history: 3\n",
    "my_conf/env/short.yaml": "defaults: [nethack, _self_]\nepisodes: 1\n",
    "my_conf/experiment/study.yaml": "# @package _global_\nlimits: {steps: 100}\n",
    "my_conf/arms/study.yaml": "{title: T, question: Q?, baseline: a, arms: {a: [agent=cot]}}",
}
"""Files that readers of a page write themselves."""


LONG = {"python.md", "runs.md", "extend-with-an-agent.md", "extend-with-a-statistic.md"}
"""Pages whose blocks play several runs; the examples' own tests and shorter pages play the same in parts."""


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, id=page.name, marks=[pytest.mark.slow] if page.name in LONG else [])
        for page in PAGES
        if BLOCK.search(page.read_text())
    ],
)
def test_every_block_of_python_runs(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Run a page's blocks in order, like the cells of a notebook; no warning may be raised."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": f"page_{page.stem}"}
    for block in BLOCK.findall(page.read_text()):
        code = compile(block, page.name, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        with warnings.catch_warnings():
            warnings.simplefilter("error", UserWarning)
            waiting = eval(code, names)  # noqa: S307
            if waiting is not None:
                asyncio.run(waiting)


READERS = {"toml": tomllib.loads, "json": json.loads, "yaml": yaml.safe_load}
"""What reads the blocks of other languages."""


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(TOP)))
def test_every_block_of_another_language_can_be_read(page: Path) -> None:
    """Python is run and commands are parsed; a block in a language without a test is refused."""
    blocks = re.findall(r"^```(\w+)\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)
    for language, text in blocks:
        assert language in {"python", *READERS}
        if language in READERS:
            READERS[language](text)


def commands() -> Iterator[tuple[str, str, list[str]]]:
    """Yield the page, verb and words of every command without placeholders."""
    for page in PAGES:
        for verb, rest in COMMAND.findall(page.read_text()):
            line = re.sub(r" *\\\n *", " ", rest).partition(" #")[0].strip().partition("  ")[0]
            line = re.sub(r"\b([A-Z]+)\.\.\.", r"\1", line)  # RUN...: one or more of them
            if not STANDS_FOR.search(line):
                yield page.name, verb, shlex.split(line)


@pytest.fixture
def readers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What readers of the pages have by then: the examples' plug-ins, a package's, prompts and presets."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(TOP / "tests/plugin_package")
    for name, text in MADE_HERE.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    shutil.copy(TOP / "examples/extend_agent.py", "noting.py")
    made: dict[str, Any] = {}
    for example in (TOP / "examples").glob("extend_*.py"):
        made |= runpy.run_path(str(example))
    for name in ("planner", "orchard", "wander"):
        made |= vars(importlib.import_module(f"balrog_rag_sample.{name}"))
    balrog_rag.register.agent("planner")(made["Planner"])
    balrog_rag.register.program(made["WANDER"])
    balrog_rag.register.environment(made["GUESS"])
    balrog_rag.register.environment(made["ORCHARD"])
    balrog_rag.register.command(made["LONGEST"])
    balrog_rag.register.watcher("report")(made["InvalidAnswers"])


def test_every_command_is_understood(readers: None, capsys: pytest.CaptureFixture[str]) -> None:
    """Compose the words of runs and parse the options of other commands, without running them."""
    wrong, seen = [], set()
    for page, verb, words in commands():
        if (verb, *words) in seen:
            continue
        seen.add((verb, *words))
        try:
            understood(verb, words)
        except (ConfigError, SystemExit) as error:
            if str(error) != "0":  # --help
                said = capsys.readouterr().err or error
                wrong.append(f"{page}: balrog-rag {verb} {' '.join(words)}: {said}")
    assert "\n".join(wrong) == ""
    assert len(seen) > 180


def understood(verb: str, words: list[str]) -> None:
    """Parse the words of a verb as `balrog-rag` does."""
    if verb in registry.commands.names():
        return
    if verb not in VERBS:
        raise ConfigError(f"{verb}: no such verb")
    words = VERBS[verb].words(words)
    composed(words) if VERBS[verb].module == "main" else parsed(VERBS[verb].module, words)


def composed(words: list[str]) -> None:
    """Compose the overrides of a run, or of the first run of a sweep."""
    own = [word for word in words if not word.startswith(("-", "resume=", "hydra"))]
    compose([word.partition(",")[0] if "-m" in words and "[" not in word else word for word in own])


def parsed(module: str, words: list[str]) -> None:
    """Parse the words as the command does, if it offers its parser."""
    if module == "knowledge" and words[:1] in (["judge"], ["endings"], ["gate"]):
        study = getattr(importlib.import_module("balrog_rag.studies.study_commands"), f"{words[0]}_parser")
        study().parse_known_args(words[1:])
        return
    found = importlib.import_module(f"balrog_rag.cli.{module}")
    parser = getattr(found, "parser", None) or getattr(found, "_parser", None)
    if parser is None:
        return
    _, rest = parser().parse_known_args(words)
    if bad := [word for word in rest if "=" not in word]:
        raise ConfigError(f"not understood: {bad}")


def anchors(page: Path) -> set[str]:
    """The anchors that GitHub makes of a page's headings."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    plain = [re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings]
    return {heading.replace(" ", "-") for heading in plain}


@pytest.mark.parametrize("page", LINKED, ids=lambda p: str(p.relative_to(TOP)))
def test_every_link_leads_somewhere(page: Path) -> None:
    broken = []
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
        if target.startswith(("http://", "https://")):
            continue
        name, _, anchor = target.partition("#")
        file = (page.parent / name).resolve() if name else page
        if not file.exists() or (anchor and anchor not in anchors(file)):
            broken.append(target)
    assert broken == []


def test_pages_name_files_that_exist() -> None:
    wrong = []
    for page in [TOP / "ARCHITECTURE.md", TOP / "CONTRIBUTING.md", *PAGES]:
        for name in re.findall(r"`([\w-]+(?:/[\w-]+)+\.py)`", page.read_text()):
            if page.parent.name != "notes" and not ((TOP / name).exists() or (PACKAGE / name).exists()):
                wrong.append(f"{page.name}: {name}")
    assert wrong == []


@pytest.mark.parametrize("page", sorted((TOP / "docs/reference").glob("*.md")), ids=lambda p: p.name)
def test_reference_pages_stay_short(page: Path) -> None:
    assert len(page.read_text().split()) <= 1800


def test_the_index_lists_every_page() -> None:
    index = (TOP / "docs/README.md").read_text()
    pages = [page.relative_to(TOP / "docs").as_posix() for page in (TOP / "docs").glob("*/*.md")]
    assert [page for page in sorted(pages) if f"]({page})" not in index] == []


def test_code_and_configuration_name_pages_that_exist() -> None:
    files = [
        *(TOP / "balrog_rag").rglob("*.py"),
        *(TOP / "conf").rglob("*.yaml"),
        *TOP.glob("benchmarks/*.py"),
    ]
    named = {name for file in files for name in re.findall(r"\bdocs/[\w/-]+\.md", file.read_text())}
    assert named
    assert [name for name in sorted(named) if not (TOP / name).exists()] == []


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
    example("compare_agents", "runner.log=none", "runner.workers=1", "limits.steps=3", "env.episodes=2")
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
