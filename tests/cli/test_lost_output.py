"""Where nobody reads what a command prints: it ends as it would have, and is never a traceback."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import CLEAN

RUN = ("model=scripted", "agent=naive", "env=corridor", "runner.workers=1", "runner.log=none", "run.name=r")
SHORT = ("env.episodes=1", "limits.steps=3")


@pytest.fixture
def unread() -> Iterator[int]:
    """A pipe that nobody reads any more."""
    end, pipe = os.pipe()
    os.close(end)
    yield pipe
    os.close(pipe)


def started(folder: Path, stdout: int, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "balrog_rag.eval", *words],
        cwd=folder,
        env=CLEAN,
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_a_complete_run_is_complete_although_nobody_reads_it(tmp_path: Path, unread: int) -> None:
    process = started(tmp_path, unread, *RUN, *SHORT)
    assert process.communicate(timeout=200)[1] == ""
    assert process.returncode == 0


def test_a_stopped_run_says_how_to_go_on_although_nobody_reads_its_results(
    tmp_path: Path, unread: int
) -> None:
    process = started(tmp_path, unread, *RUN, "model.options.latency=0.05")
    while process.poll() is None and not (tmp_path / "results/r/eval.log").exists():
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=200)
    assert process.returncode == 130
    assert "resume with: python -m balrog_rag.eval resume=results/r" in err


def test_a_sweep_on_a_full_disk_ends_as_it_would_have(tmp_path: Path) -> None:
    with open("/dev/full", "w") as full:
        process = started(tmp_path, full.fileno(), "-m", *RUN, *SHORT, "run.seed=1,2")
        assert process.communicate(timeout=200)[1] == ""
    assert process.returncode == 0


def test_a_command_whose_output_is_lost_says_so_in_one_line(tmp_path: Path) -> None:
    with open("/dev/full", "w") as full:
        process = started(tmp_path, full.fileno(), "--help")
        _, err = process.communicate(timeout=200)
    assert (process.returncode, err) == (1, "error: stdout: cannot be written (No space left on device)\n")


def test_signs_that_a_terminal_lacks_end_no_command(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "balrog_rag.eval", *RUN, *SHORT],
        cwd=tmp_path,
        env={**CLEAN, "PYTHONIOENCODING": "ascii"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "? SE" in done.stdout
