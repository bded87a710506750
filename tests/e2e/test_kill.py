"""`kill -9` of a whole run at random moments: nothing that was answered is lost or asked again.

The model is a real server in a process of its own, which counts what it is asked. At every kill some
requests may be in flight: they had been asked and were never answered. All else must be asked once.
"""

import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from balrog_rag.episode import journal
from balrog_rag.results.run_folder import journals
from tests.run.support import counts
from tests.support import CLEAN, PATIENCE, timeless, until


@pytest.fixture
def server() -> Iterator[str]:
    """The loopback model server in a separate process; its address."""
    words = [sys.executable, "-m", "balrog_rag.models", "testserver", "--latency", "0.01"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        found = re.search(r"http://127\.0\.0\.1:\d+", process.stdout.readline())
        assert found
        yield found[0]
        process.terminate()


def start(folder: Path, server: str, *words: str) -> subprocess.Popen[bytes]:
    """A run in a process group of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "balrog_rag.eval", *words],
        cwd=folder,
        env=CLEAN,
        start_new_session=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


NAIVE = ("agent=naive",)
SKILLS = ("agent=netplay", "env.actions=skills")


def new_run(server: str, name: str, episodes: int, steps: int, players: tuple[str, ...] = NAIVE) -> list[str]:
    return [
        *(*players, "model=vllm", "model.name=hosted_vllm/test", f"model.base_url={server}/v1"),
        *(f"env.episodes={episodes}", f"limits.steps={steps}", "runner.concurrency=8", f"run.name={name}"),
    ]


def asked(server: str) -> int:
    """Requests that the server has received."""
    return int(counts(server)["requests"])


def asked_in_all(server: str) -> int:
    """The same with requests of a client that has ended, which stay in its sockets for a few rounds."""
    return [asked(server) for _ in range(10)][-1]


def journaled(run: Path) -> int:
    """Answers that are safe on disk."""
    return sum(
        isinstance(entry, journal.Completion)
        for path in journals(run)
        for entry in journal.read(path).entries
    )


def kill_and_resume(
    folder: Path, server: str, kills: int, episodes: int, steps: int, players: tuple[str, ...] = NAIVE
) -> None:
    whole = start(folder, server, *new_run(server, "whole", episodes, steps, players))
    assert whole.wait(PATIENCE) == 0
    calls = asked(server)
    assert calls == journaled(folder / "results/whole")

    run, luck, lost = folder / "results/killed", random.Random(1), 0
    words = new_run(server, "killed", episodes, steps, players)
    for _ in range(kills):
        process = start(folder, server, *words)
        before = asked(server)
        wait_for_answers(server, process, before + luck.randrange(1, max(2, calls // kills)))
        time.sleep(luck.random() * 0.05)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        in_flight = asked_in_all(server) - calls - journaled(run) - lost
        assert 0 <= in_flight <= 8
        lost += in_flight
        words = ["resume=results/killed"] if (run / "config.json").exists() else words
    assert start(folder, server, *words).wait(PATIENCE) == 0

    assert asked(server) == 2 * calls + lost
    names = [path.relative_to(folder / "results/whole") for path in journals(folder / "results/whole")]
    assert len(names) == episodes
    assert [path.relative_to(run) for path in journals(run)] == names
    for name in names:
        mine, theirs = timeless(run / name), timeless(folder / "results/whole" / name)
        assert mine == theirs, name
    assert len(list(run.glob("nle/*/*_run_[0-9][0-9].json"))) == episodes


def wait_for_answers(server: str, process: subprocess.Popen[bytes], count: int) -> None:
    """Wait until the server has received that many requests, or the run has ended."""
    until(lambda: asked(server) >= count or process.poll() is not None, f"{count} requests", pause=0.01)


@pytest.mark.slow
def test_killed_twice(tmp_path: Path, server: str) -> None:
    kill_and_resume(tmp_path, server, kills=2, episodes=4, steps=30)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_killed_while_skills_are_at_work(tmp_path: Path, server: str) -> None:
    kill_and_resume(tmp_path, server, kills=6, episodes=6, steps=30, players=SKILLS)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_killed_fifty_times(tmp_path: Path, server: str) -> None:
    kill_and_resume(tmp_path, server, kills=50, episodes=20, steps=150)
