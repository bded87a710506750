"""`kill -9` while a program plays, of the whole run and of a worker: no game is another for it."""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from balrog_rag.episode import journal
from balrog_rag.results.folder import journals
from tests.e2e.test_kill import timeless
from tests.run.support import game_workers, running
from tests.support import command

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
    """The games, played undisturbed."""
    folder = tmp_path_factory.mktemp("whole")
    done = command("balrog_rag.eval", *GAMES, "run.name=r", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder / "results" / "r"


def presses(run: Path) -> int:
    """Key presses that are safe on disk, of games that go on."""
    found = [journal.read(path) for path in journals(run)] if run.exists() else []
    return sum(read.count for read in found if read.end is None)


def wait_for_presses(run: Path, process: subprocess.Popen[str], most: int) -> None:
    """Until so many presses of open games are journaled."""
    deadline = time.monotonic() + 200
    while presses(run) < most:
        assert process.poll() is None, "the games are over already"
        assert time.monotonic() < deadline
        time.sleep(0.02)


def equal(run: Path, whole: Path) -> None:
    """The journals of both runs, but for what a clock wrote."""
    names = [path.relative_to(whole) for path in journals(whole)]
    assert [path.relative_to(run) for path in journals(run)] == names
    for name in names:
        assert journal.read(run / name).end is not None
        assert timeless(run / name) == timeless(whole / name), name


def kill_run(folder: Path, whole: Path, marks: list[int]) -> None:
    run, words = folder / "results" / "r", [*GAMES, "run.name=r"]
    for mark in marks:
        with running(folder, *words) as process:
            wait_for_presses(run, process, mark)
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        assert presses(run) >= mark
        words = [f"resume={run}"]
    done = command("balrog_rag.eval", *words, cwd=folder)
    assert done.returncode == 0, done.stderr
    equal(run, whole)
    assert command("balrog_rag.episode", "verify", str(run), cwd=folder).stdout.count("equal\t") == 2


def test_a_run_killed_in_mid_game_goes_on_as_if_it_had_not_been(tmp_path: Path, whole: Path) -> None:
    kill_run(tmp_path, whole, [300])


@pytest.mark.slow
def test_a_run_killed_again_and_again(tmp_path: Path, whole: Path) -> None:
    kill_run(tmp_path, whole, [1, 150, 300, 450, 600])


def test_a_worker_killed_in_mid_game_is_replaced(tmp_path: Path, whole: Path) -> None:
    run = tmp_path / "results" / "r"
    with running(tmp_path, *GAMES, "run.name=r") as process:
        wait_for_presses(run, process, 300)
        os.kill(game_workers(process.pid)[0].pid, signal.SIGKILL)
        _, err = process.communicate(timeout=250)
    assert process.returncode == 0, err
    assert "is replayed" in (run / "eval.log").read_text()
    equal(run, whole)
