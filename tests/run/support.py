"""Runs in separate processes with a real model server, and checks of their journals."""

import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import msgspec
import psutil

from balrog_rag.episode import journal
from balrog_rag.results.run_folder import journals
from tests.support import CLEAN, PATIENCE

__all__ = [
    "CLEAN",
    "Server",
    "asked_once",
    "completions",
    "counts",
    "game_workers",
    "model_of",
    "quiet_port",
    "running",
    "same_journals",
]
TIMES = {"latency", "seconds", "attempts", "chain"}


def quiet_port() -> int:
    """A port outside of the range that the system assigns, so that a server can come back to it.

    Systems assign ports from 32768 on, even to a client of that very port, which then connects to itself.
    """
    for port in random.SystemRandom().sample(range(20_000, 32_000), 1000):
        with socket.socket() as tried:
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            with suppress(OSError):
                tried.bind(("127.0.0.1", port))
                return port
    raise OSError("no port is free")


def counts(root: str) -> dict[str, Any]:
    """The counts of the model server; httpx would read every certificate of the system for each request."""
    with urlopen(f"{root}/counts", timeout=PATIENCE) as answer:
        counted: dict[str, Any] = json.load(answer)
    return counted


class Server:
    """The loopback model server in a separate process."""

    def __init__(self, *words: str) -> None:
        command = [sys.executable, "-m", "balrog_rag.models", "testserver", *words]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        found = re.search(r"http://127\.0\.0\.1:(\d+)", self._process.stdout.readline())
        assert found
        self.root, self.port = found[0], int(found[1])

    def counts(self) -> dict[str, Any]:
        """Requests by digest, and their sums."""
        return counts(self.root)

    def kill(self) -> None:
        """End it like a crash."""
        self._process.kill()
        self._process.wait(PATIENCE)

    def close(self) -> None:
        self._process.terminate()
        self._process.wait(PATIENCE)


def model_of(server: Server) -> list[str]:
    """The overrides that make a run use it."""
    return ["model=vllm", "model.name=hosted_vllm/test", f"model.base_url={server.root}/v1"]


def scripted(seconds: float) -> list[str]:
    """A model in the run's own process, with a delay."""
    return ["model=scripted", f"model.options.latency={seconds}"]


@contextmanager
def running(folder: Path, *words: str, **environment: str) -> Iterator[subprocess.Popen[str]]:
    """Run `python -m balrog_rag.eval words...` in a process group, which is killed if still running."""
    process = subprocess.Popen(
        [sys.executable, "-m", "balrog_rag.eval", *words],
        cwd=folder,
        env={**CLEAN, **environment},
        text=True,
        start_new_session=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def game_workers(process: int) -> list[psutil.Process]:
    """The processes that host the games of a run, the oldest first."""
    children = psutil.Process(process).children()
    workers = [child for child in children if "balrog_rag.workers.worker" in child.cmdline()]
    return sorted(workers, key=psutil.Process.create_time)


def completions(run: Path) -> list[str]:
    """The digests of all requests whose answers are journaled."""
    return [
        entry.request
        for path in journals(run)
        for entry in journal.read(path).entries
        if isinstance(entry, journal.Completion)
    ]


def asked_once(run: Path, server: Server, in_flight: int = 0) -> None:
    """Assert that the server was asked as often as answers are journaled, except for calls lost in flight."""
    extra = int(server.counts()["requests"]) - len(completions(run))
    assert 0 <= extra <= in_flight


def timeless(path: Path) -> list[Any]:
    """A journal without times, and without the digests that depend on them."""

    def strip(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: strip(inner) for name, inner in value.items() if name not in TIMES}
        return value

    return [strip(msgspec.json.decode(line)) for line in path.read_bytes().splitlines()]


def same_journals(one: Path, other: Path) -> None:
    """Assert that both runs have the same episodes, equal except for times."""
    names = [path.relative_to(one) for path in journals(one)]
    assert names
    assert names == [path.relative_to(other) for path in journals(other)]
    for name in names:
        assert timeless(one / name) == timeless(other / name), name
