"""Another Python than that of .venv: one line that says what to do, and no broken .venv."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

import pytest

from balrog_rag.util import interpreter
from tests.support import CLEAN

ROOT = Path(__file__).resolve().parents[2]
REMEDY = "activate .venv (. .venv/bin/activate) or run make setup"


@pytest.mark.parametrize("command", ["eval", "compare", "knowledge", "report", "cli.verbs"])
def test_a_python_without_the_packages_is_one_line(command: str) -> None:
    done = subprocess.run(
        [sys.executable, "-S", "-m", f"balrog_rag.{command}", "--help"],
        cwd=ROOT,
        env=CLEAN,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert done.stderr == f"error: {sys.executable}: package msgspec is missing; {REMEDY}\n"
    assert done.stdout == ""


def test_an_import_says_the_same() -> None:
    code = "import sys; sys.path.insert(0, '.'); import balrog_rag"
    done = subprocess.run([sys.executable, "-S", "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.stderr.splitlines()[-1].startswith("ImportError: ")
    assert done.stderr.rstrip().endswith(REMEDY)


def other_python() -> str | None:
    """A Python that is too old, if there is one."""
    for minor in range(6, 11):
        found = shutil.which(f"python3.{minor}")
        if found and subprocess.run([found, "-c", ""], capture_output=True).returncode == 0:
            return found
    return None


def test_an_older_python_is_one_line() -> None:
    python = other_python()
    if python is None:
        pytest.skip("no older Python here")
    done = subprocess.run(
        [python, "-m", "balrog_rag.eval"], cwd=ROOT, env=CLEAN, capture_output=True, text=True
    )
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert re.search(r": Python 3\.\d+, but balrog_rag needs Python 3\.11 to 3\.13; activate \.venv", line)


def test_versions_are_those_of_the_project() -> None:
    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["requires-python"]
    least, most = interpreter.LEAST, interpreter.MOST
    assert wanted == f">={least[0]}.{least[1]},<{most[0]}.{most[1] + 1}"
    assert interpreter.wrong_with((3, 10), []).endswith(f"needs Python 3.11 to 3.13; {REMEDY}")
    assert interpreter.wrong_with((3, 14), [])
    assert not interpreter.wrong_with((3, 13), [])


def checkout(folder: Path, requires: str) -> Path:
    """A checkout with our Makefile that installs nothing, for Pythons of these versions."""
    shutil.copy(ROOT / "Makefile", folder)
    (folder / ".ci").mkdir()
    shutil.copy(ROOT / ".ci/install", folder / ".ci")
    (folder / "constraints.txt").touch()
    (folder / "pyproject.toml").write_text(
        f'[project]\nname = "nothing"\nversion = "1"\nrequires-python = "{requires}"\n'
        "\n[project.optional-dependencies]\nlocal = []\ndev = []\nmore-games = []\n"
    )
    return folder


def made(folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    words = (f"PYTHON={sys.executable}", *words)
    return subprocess.run(["make", "setup", *words], cwd=folder, env=CLEAN, capture_output=True, text=True)


def test_make_refuses_a_python_before_it_makes_an_environment(tmp_path: Path) -> None:
    done = made(checkout(tmp_path, ">=3.98,<3.99"))
    assert done.returncode != 0
    assert f"PYTHON={sys.executable}: is Python 3.{sys.version_info[1]}" in done.stderr
    assert "name another: make setup PYTHON=python3" in done.stderr
    assert not (tmp_path / ".venv").exists()


@pytest.mark.slow
@pytest.mark.parametrize("python", ["exit 1", "exec /no/such/python"])
def test_make_replaces_an_environment_that_cannot_work(tmp_path: Path, python: str) -> None:
    """Its Python is of another version, or gone; an earlier make may have installed into it."""
    folder = checkout(tmp_path, f">=3.{sys.version_info[1]},<3.{sys.version_info[1] + 1}")
    binaries = folder / ".venv/bin"
    binaries.mkdir(parents=True)
    (binaries / "python").write_text(f"#!/bin/sh\n{python}\n")
    (binaries / "python").chmod(0o755)
    (folder / ".venv/.installed").touch()
    made(folder)  # what it installs, and whether it can, is of no interest here
    done = subprocess.run([binaries / "python", "-c", "import pip"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_make_keeps_an_environment_that_works(tmp_path: Path) -> None:
    folder = checkout(tmp_path, f">=3.{sys.version_info[1]},<3.{sys.version_info[1] + 1}")
    venv.create(folder / ".venv", with_pip=False)
    (folder / ".venv/mine").touch()
    installed = folder / ".venv/.installed"
    installed.write_text("dev local\n")
    os.utime(installed, (4e9, 4e9))
    done = made(folder)
    assert done.returncode == 0, done.stderr
    assert (folder / ".venv/mine").exists()


def test_make_installs_extras_that_are_missing_and_keeps_the_others(tmp_path: Path) -> None:
    folder = checkout(tmp_path, f">=3.{sys.version_info[1]},<3.{sys.version_info[1] + 1}")
    venv.create(folder / ".venv", with_pip=False)
    log = folder / "log"
    (folder / ".ci/install").write_text(f'[ ! -e {folder}/broken ] && echo "${{@: -1}}" >>{log}\n')

    def installs(*words: str) -> list[str]:
        before = log.read_text().splitlines() if log.exists() else []
        done = made(folder, *words)
        assert done.returncode == 0, done.stderr
        return log.read_text().splitlines()[len(before) :]

    assert installs() == [".[dev,local]"]
    assert installs() == []
    (folder / "broken").touch()
    assert made(folder, "EXTRAS=more-games").returncode != 0
    (folder / "broken").unlink()
    assert installs("EXTRAS=more-games") == [".[dev,local,more-games]"]
    assert installs("EXTRAS=more-games") == []
    assert installs("EXTRAS=local,dev") == []  # they are there


def test_make_refuses_an_extra_that_does_not_exist(tmp_path: Path) -> None:
    folder = checkout(tmp_path, f">=3.{sys.version_info[1]},<3.{sys.version_info[1] + 1}")
    done = made(folder, "EXTRAS=local,more-game")
    assert done.returncode != 0
    assert "EXTRAS: unknown extra more-game; choose from local dev more-games" in done.stderr
    assert not (folder / ".venv").exists()
