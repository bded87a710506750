"""A terminal that closes during a run, as when an SSH connection drops: SIGHUP reaches the whole group."""

import os
import pty
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from tests.display.test_index_on_screen import screen
from tests.support import CLEAN

CLOSED = "the terminal was closed (SIGHUP); the run continues without the display"
WORDS = ("model=scripted", "agent=naive", "env.episodes=4", "limits.steps=60", "run.name=r")


@pytest.fixture(autouse=True)
def not_ignored() -> Iterator[None]:
    """Undo nohup: programs started here would inherit an ignored SIGHUP, but do not inherit a handler."""
    before = signal.signal(signal.SIGHUP, lambda *_: None)
    yield
    signal.signal(signal.SIGHUP, before)


@contextmanager
def session(folder: Path, *words: str) -> Iterator[tuple[int, int]]:
    """A run as the leader of a session with a controlling terminal: its process id and the master's end."""
    pid, master = pty.fork()
    if pid == 0:
        os.chdir(folder)
        os.execve(
            sys.executable, [sys.executable, "-m", "balrog_rag.eval", *words], {**CLEAN, "TERM": "xterm"}
        )
    try:
        yield pid, master
    finally:
        if psutil.pid_exists(pid):
            os.kill(pid, signal.SIGKILL)


def wait_for_start(folder: Path, episodes: int) -> Path:
    log = folder / "results/r/eval.log"
    while not log.exists() or log.read_text().count(": started") < episodes:
        time.sleep(0.05)
    return log


@pytest.mark.parametrize("log", ["dashboard", pytest.param("plain", marks=pytest.mark.slow)])
def test_the_run_goes_on_and_says_so_in_its_log(tmp_path: Path, log: str) -> None:
    slow = "model.options.latency=0.05"
    with session(tmp_path, *WORDS, slow, f"runner.log={log}") as (pid, master):
        said = wait_for_start(tmp_path, 4)
        os.close(master)
        os.killpg(pid, signal.SIGHUP)  # as a shell passes it on to its jobs
        _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    text = said.read_text()
    assert text.count(CLOSED) == 1
    assert text.count(" ended after 60 steps") == 4
    assert "is replayed" not in text  # the game processes have outlived it, too
    assert (tmp_path / "results/r/summary.json").exists()


@pytest.mark.slow
def test_a_terminal_closed_while_an_index_is_built(tmp_path: Path) -> None:
    with screen(tmp_path, 100, "limits.steps=2") as run:
        run.until("indexing pages")
        os.kill(run.process.pid, signal.SIGHUP)
        run.until(None)
    assert run.process.returncode == 0
    text = (tmp_path / "results/r/eval.log").read_text()
    assert text.count(CLOSED) == text.count(" ended after 2 steps") == 1
