"""`kill -9` of a whole run and of a worker while a program plays: every game stays the same."""

import os
import shutil
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from balrog_rag.episode import journal
from balrog_rag.results.run_folder import journals
from tests.e2e.test_kill import timeless
from tests.run.support import game_workers, running
from tests.support import command, until

GAMES = (
    *(
        "agent=delver",
        "env.episodes=2",
        "run.seed=1",
        "env.character=val-dwa-law-fem",
        "env.autopickup=false",
    ),
    *("runner.concurrency=2", "runner.workers=2", "limits.steps=1500"),
)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The games, played without interruption."""
    folder = tmp_path_factory.mktemp("whole")
    done = command("balrog_rag.eval", *GAMES, "run.name=r", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder / "results" / "r"


def presses(run: Path) -> int:
    """Key presses of open games that are safe on disk."""
    found = [journal.read(path) for path in journals(run)] if run.exists() else []
    return sum(read.count for read in found if read.end is None)


def reached(run: Path, process: subprocess.Popen[str], most: int) -> bool:
    """Wait until this many presses of open games are journaled; false if the games end before."""

    def state() -> str:
        return "reached" if presses(run) >= most else "" if process.poll() is None else "over"

    return bool(until(state, f"{most} presses") == "reached")


def kill_at(folder: Path, words: list[str], mark: int, kill: Callable[[subprocess.Popen[str]], None]) -> str:
    """Play and kill at the mark; return the output. Repeated once if the games were over too soon."""
    run, before = folder / "results" / "r", folder / "before"
    if run.exists():
        shutil.copytree(run, before)
    for _ in range(10):
        with running(folder, *words) as process:
            if reached(run, process, mark):
                os.killpg(process.pid, signal.SIGSTOP)  # so that no game ends between the look and the kill
                if presses(run) >= mark:
                    kill(process)
                    os.killpg(process.pid, signal.SIGCONT)
                    shutil.rmtree(before, ignore_errors=True)
                    return process.communicate()[1]
        shutil.rmtree(run)
        if before.exists():
            shutil.copytree(before, run)
    raise AssertionError("the games were always over already")


def equal(run: Path, whole: Path) -> None:
    """The journals of both runs without times."""
    names = [path.relative_to(whole) for path in journals(whole)]
    assert [path.relative_to(run) for path in journals(run)] == names
    for name in names:
        assert journal.read(run / name).end is not None
        assert timeless(run / name) == timeless(whole / name), name


def kill_group(process: subprocess.Popen[str]) -> None:
    os.killpg(process.pid, signal.SIGKILL)


def kill_workers(process: subprocess.Popen[str]) -> None:
    for worker in game_workers(process.pid):
        worker.kill()


def kill_run(folder: Path, whole: Path, marks: list[int]) -> None:
    run, words = folder / "results" / "r", [*GAMES, "run.name=r"]
    for mark in marks:
        kill_at(folder, words, mark, kill_group)
        assert presses(run) >= mark
        words = [f"resume={run}"]
    done = command("balrog_rag.eval", *words, cwd=folder)
    assert done.returncode == 0, done.stderr
    equal(run, whole)
    assert command("balrog_rag.episode", "verify", str(run), cwd=folder).stdout.count("equal\t") == 2


@pytest.mark.slow
def test_a_run_killed_in_mid_game_goes_on_as_if_it_had_not_been(tmp_path: Path, whole: Path) -> None:
    kill_run(tmp_path, whole, [300])


@pytest.mark.slow
def test_a_run_killed_again_and_again(tmp_path: Path, whole: Path) -> None:
    kill_run(tmp_path, whole, [1, 150, 300, 450, 600])


def test_workers_killed_in_mid_game_are_replaced(tmp_path: Path, whole: Path) -> None:
    run = tmp_path / "results" / "r"
    err = kill_at(tmp_path, [*GAMES, "run.name=r"], 300, kill_workers)
    assert "is replayed" in (run / "eval.log").read_text(), err
    equal(run, whole)
