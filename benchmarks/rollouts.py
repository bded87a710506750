"""What a rollout costs: in one process, over HTTP, and the memory of a service under many clients.

    python benchmarks/rollouts.py [--only process,http,memory] [--seconds 30] [--clients 200] [--pause 0]

The model is this project's test server in a process of its own, so that its time is not counted.
"""

import argparse
import asyncio
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import aiohttp

from balrog_rag.rollouts.rollout import Rollouts
from balrog_rag.rollouts.rollout_request import read_request

GOTO = "babyai/BabyAI-MixedTrainLocal-v0/goto"
NLE = "nle/NetHackChallenge-v0"
STEPS = 10
SHARES = (0, 0.1, 0.25, 0.5, 0.75, 1)
"""Parts of the time after which memory is printed."""


@contextmanager
def command(*words: str) -> Iterator[tuple[int, str]]:
    """A command of this project: its process and the address that it prints."""
    process = subprocess.Popen(
        [sys.executable, "-m", "balrog_rag", *words], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    line = process.stdout.readline()
    try:
        yield process.pid, next(word.rstrip(";,") for word in line.split() if word.startswith("http"))
    finally:
        process.terminate()
        process.wait()


def request(task: str, seed: int, url: str, **more: Any) -> dict[str, Any]:
    return {"task": task, "seed": seed, "max_steps": STEPS, "model": {"base_url": url, "name": "m"}, **more}


def used() -> float:
    """Processor seconds of this process and its ended children."""
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


async def in_process(url: str, task: str, at_once: int, rollouts: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with Rollouts(folder, workers=0) as engine:
            slots = asyncio.Semaphore(at_once)

            async def one(seed: int) -> None:
                async with slots:
                    result = await engine.play(read_request(request(task, seed, url)))
                    assert result.error is None, result.error

            await asyncio.gather(*(one(seed) for seed in range(at_once)))  # warm: imports, one composition
            before, begun = used(), time.perf_counter()
            await asyncio.gather(*(one(1000 + seed) for seed in range(rollouts)))
            spent, wall = used() - before, time.perf_counter() - begun
    print(
        f"{task:42} {at_once:3} at once: {1000 * spent / rollouts:6.1f} ms of processor, "
        f"{rollouts / wall:6.1f} rollouts/s"
    )


def tree(pid: int) -> list[int]:
    """A process and its children."""
    children = Path(f"/proc/{pid}/task/{pid}/children")
    return [pid, *(each for child in children.read_text().split() for each in tree(int(child)))]


def ticks(pids: list[int]) -> float:
    fields = [Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split() for pid in pids]
    return sum(int(each[11]) + int(each[12]) for each in fields) / 100


def megabytes(pids: list[int]) -> float:
    """Memory of processes, with shared pages divided among those that share them."""
    lines = (line for pid in pids for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines())
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


async def one_over_http(session: aiohttp.ClientSession, service: str, asked: dict[str, Any]) -> None:
    async with session.post(f"{service}/rollouts?wait=true", json=asked) as answer:
        result = await answer.json()
        assert result.get("error") is None, result


async def over_http(pid: int, service: str, url: str, at_once: int, rollouts: int) -> None:
    connector, slots = aiohttp.TCPConnector(limit=0), asyncio.Semaphore(at_once)
    async with aiohttp.ClientSession(connector=connector) as session:

        async def one(seed: int) -> None:
            async with slots:
                await one_over_http(session, service, request(NLE, seed, url))

        await asyncio.gather(*(one(seed) for seed in range(at_once)))
        before, begun = ticks(tree(pid)), time.perf_counter()
        await asyncio.gather(*(one(1000 + seed) for seed in range(rollouts)))
        wall, spent = time.perf_counter() - begun, ticks(tree(pid)) - before
    print(
        f"{NLE:42} {at_once:3} at once: {1000 * spent / rollouts:6.1f} ms of processor, "
        f"{rollouts / wall:6.1f} rollouts/s over HTTP, 0 errors"
    )


async def under_clients(pid: int, service: str, url: str, given: argparse.Namespace) -> None:
    clients, seconds = given.clients, given.seconds
    begun, done = time.monotonic(), 0
    until = begun + seconds

    async def client(number: int, session: aiohttp.ClientSession) -> None:
        nonlocal done
        seed = number
        await asyncio.sleep(given.pause * number / clients)
        while time.monotonic() < until:
            seed += clients
            asked = {**request(GOTO, seed, url), "max_steps": given.steps}
            await one_over_http(session, service, asked)
            done += 1
            await asyncio.sleep(given.pause)

    async def weigh() -> None:
        for share in SHARES:
            await asyncio.sleep(begun + share * seconds - time.monotonic())
            own, games = megabytes([pid]), megabytes(tree(pid)[1:])
            at = f"{share * seconds:6.0f} s: {done:6} rollouts"
            print(f"{at}, service {own:7.1f} MB, game processes {games:7.1f} MB", flush=True)

    print(f"{clients} clients, each with a pause of {given.pause:g} s between its rollouts")
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        await asyncio.gather(weigh(), *(client(number, session) for number in range(clients)))


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seconds", type=float, default=30)
    options.add_argument("--clients", type=int, default=200)
    options.add_argument("--pause", type=float, default=0, help="seconds between a client's rollouts")
    options.add_argument("--steps", type=int, default=STEPS, help="steps of a client's rollout")
    options.add_argument("--only", default="process,http,memory")
    given = options.parse_args()
    only = given.only.split(",")
    with command("models", "testserver") as (_, url):
        if "process" in only:
            print(f"rollouts of {STEPS} steps in one process; target: 20 ms at 32 at once")
            for task in (GOTO, NLE):
                asyncio.run(in_process(url, task, 32, 128))
        for part in ("http", "memory"):
            if part not in only:
                continue
            with (
                tempfile.TemporaryDirectory() as folder,
                command("serve", "--port", "0", "--folder", folder) as (pid, service),
            ):
                if part == "http":
                    asyncio.run(over_http(pid, service, url, 64, 192))
                else:
                    asyncio.run(under_clients(pid, service, url, given))


if __name__ == "__main__":
    main()
