"""What the tests of rollouts share: a request, and a service on a free port."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp

from balrog_rag.rollouts.rollout_service import RolloutService
from balrog_rag.rollouts.service_http import listen

GOTO = "babyai/BabyAI-MixedTrainLocal-v0/goto"
NLE = "nle/NetHackChallenge-v0"
KEY = "a-long-and-secret-key-8341"
QUICK = ("model.retry.attempts=2", "model.retry.first_wait=0.01")


def endpoint(url: str, **more: Any) -> dict[str, Any]:
    return {"base_url": url, "name": "org/Model-X", "api_key": KEY, **more}


def body(url: str, **more: Any) -> dict[str, Any]:
    return {"task": GOTO, "seed": 3, "max_steps": 4, "model": endpoint(url), **more}


@asynccontextmanager
async def serving(
    folder: Path, token: str = "", workers: int = 0, at_once: int = 64
) -> AsyncIterator["Client"]:
    """A service in this event loop."""
    service = RolloutService(folder, workers, at_once)
    runner, port = await listen(service, "127.0.0.1", 0, token)
    async with aiohttp.ClientSession() as session:
        yield Client(f"http://127.0.0.1:{port}", session, service)
    await runner.cleanup()
    await service.close()


class Client:
    """Speaks to a service."""

    def __init__(
        self, url: str, session: aiohttp.ClientSession, service: RolloutService | None = None
    ) -> None:
        self.url, self.session, self._service = url, session, service

    @property
    def service(self) -> RolloutService:
        assert self._service is not None
        return self._service

    async def ask(self, method: str, path: str, **how: Any) -> tuple[int, Any]:
        """The status and the JSON of an answer."""
        async with self.session.request(method, self.url + path, **how) as answer:
            return answer.status, await answer.json()

    async def played(self, name: str) -> dict[str, Any]:
        """The result of a rollout, once it has one."""
        while True:
            _, state = await self.ask("GET", f"/rollouts/{name}")
            if "result" in state:
                return dict(state["result"])
            await asyncio.sleep(0.02)


class ServerProcess:
    """`balrog-rag serve` in a process that can be killed."""

    def __init__(self, folder: Path, *words: str, **variables: str) -> None:
        command = [
            sys.executable,
            "-m",
            "balrog_rag",
            "serve",
            "--port",
            "0",
            "--folder",
            str(folder),
            *words,
        ]
        environment = {**os.environ, **variables}
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
        )
        assert self.process.stdout is not None
        self.said = self.process.stdout.readline()
        self.url = next((word.rstrip(";,") for word in self.said.split() if word.startswith("http")), "")

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def stop(self) -> str:
        self.process.send_signal(signal.SIGTERM)
        rest, _ = self.process.communicate(timeout=120)
        return self.said + rest


def files_with(folder: Path, text: str) -> list[Path]:
    """Files below a folder that contain a text."""
    return [path for path in folder.rglob("*") if path.is_file() and text.encode() in path.read_bytes()]


def children(pid: int) -> list[int]:
    """The processes whose parent is `pid`."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[1]) == pid:
                found.append(int(entry.name))
    return found


def wait_until(true: Any, seconds: float = 60.0) -> None:
    """Wait until a function returns something true."""
    until = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < until, "did not happen in time"
        time.sleep(0.05)
