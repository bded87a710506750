"""requirements-light.txt: enough to import and to play, and what is left out is named in one line."""

import re
import subprocess
import sys
import tomllib
import venv
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from balrog_rag.cli.command_line import NOT_IN_LIGHT
from tests.support import CLEAN

ROOT = Path(__file__).resolve().parents[2]
LIGHT = [
    line for line in (ROOT / "requirements-light.txt").read_text().splitlines() if not line.startswith("#")
]
MODULES = {"faiss-cpu": "faiss", "PyStemmer": "Stemmer"}


def test_each_is_required_and_the_rest_is_known_to_be_left_out() -> None:
    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    names = {Requirement(one).name for one in wanted}
    assert set(LIGHT) <= names
    assert {MODULES.get(name, name) for name in names - set(LIGHT)} == NOT_IN_LIGHT


def closure(names: list[str]) -> Iterator[str]:
    """The packages that an installer would install for these, by their own metadata."""
    seen: set[str] = set()
    todo = list(names)
    while todo:
        name = re.sub(r"[-_.]+", "-", todo.pop()).lower()
        if name in seen:
            continue
        seen.add(name)
        try:
            needed = distribution(name).requires or []
        except PackageNotFoundError:
            continue
        yield name
        wanted = map(Requirement, needed)
        todo += [one.name for one in wanted if one.marker is None or one.marker.evaluate({"extra": ""})]


@pytest.fixture(scope="module")
def light(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with links to the installed files of exactly these packages; nothing is downloaded."""
    folder = tmp_path_factory.mktemp("light")
    venv.create(folder, with_pip=False)
    site = next(folder.glob("lib/python*/site-packages"))
    for name in closure(LIGHT):
        found = distribution(name)
        tops = {file.parts[0] for file in found.files or [] if file.parts[0] not in ("..", "__pycache__")}
        for top in tops:
            if not (site / top).exists():
                (site / top).symlink_to(Path(str(found.locate_file(top))))
    (site / "project.pth").write_text(str(ROOT))
    return folder


def called(light: Path, cwd: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in CLEAN.items() if name != "PYTHONPATH"}
    python = light / "bin" / Path(sys.executable).name
    return subprocess.run([python, *words], cwd=cwd, env=environment, capture_output=True, text=True)


@pytest.mark.slow
def test_it_imports_and_plays(light: Path, tmp_path: Path) -> None:
    absent = "import importlib.util as u, balrog_rag; print([m for m in {} if u.find_spec(m)])"
    done = called(light, tmp_path, "-c", absent.format(sorted(NOT_IN_LIGHT)))
    assert (done.stdout.strip(), done.stderr) == ("[]", "")
    short = ("env.episodes=1", "limits.steps=5", "runner.log=none", "runner.workers=1")
    for name, words in {
        "a": ("agent=delver", "env=nethack"),
        "b": ("agent=naive", "model=scripted", "env=corridor"),
    }.items():
        done = called(light, tmp_path, "-m", "balrog_rag", "run", f"run.name={name}", *words, *short)
        assert done.returncode == 0, done.stderr
        assert "run folder: results/" in done.stdout
        done = called(light, tmp_path, "-m", "balrog_rag", "verify", f"results/{name}")
        assert done.stdout.startswith("equal\t5 steps"), done.stdout
    done = called(light, tmp_path, "-m", "balrog_rag", "report", "results/a")
    assert done.returncode != 0
    (line,) = done.stderr.splitlines()
    assert re.match(r"error: \w+: not installed, since the light install leaves it out; run: pip", line)
