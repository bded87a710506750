"""Figures of the core: replay speed, the harness's own time per step, start to first model request.

    python benchmarks/heart.py

Everything is measured in one run on this machine; targets are printed beside the figures.
"""

import asyncio
import resource
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

from balrog_rag.config.compose import compose
from balrog_rag.episode import journal
from balrog_rag.episode.journal_writer import Writer
from balrog_rag.episode.spec import EpisodeSpec
from balrog_rag.models.budget import RunBudget
from balrog_rag.results.run_folder import journal_path
from balrog_rag.run.episode_runner import EpisodePlayer
from balrog_rag.run.plan import plan
from balrog_rag.run.replay import verify
from balrog_rag.run.services import LiveServices, player_spec
from balrog_rag.run.watchers import NullWatcher
from balrog_rag.workers.pool import WorkerPool

STEPS, GAMES, REPEATS = 1000, 6, 3


def cpu() -> float:
    """Processor seconds of this process and its finished children."""
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


@contextmanager
def taking(found: list[float]) -> Iterator[None]:
    begun = cpu()
    yield
    found.append(cpu() - begun)


def specs(agent: str, steps: int) -> list[EpisodeSpec]:
    config = compose(
        [
            f"agent={agent}",
            "model=scripted",
            f"env.episodes={GAMES}",
            f"limits.steps={steps}",
            "env.no_progress=0",
        ]
    )
    return plan(config, player_spec(config))


async def play(run: Path, episodes: list[EpisodeSpec]) -> int:
    """Play in one worker process; return the number of steps."""
    pool = WorkerPool(1, 60)
    await pool.start()
    try:
        player = EpisodePlayer(
            run,
            "",
            {},
            pool,
            LiveServices(),
            RunBudget(compose(["model=scripted"]).limits),
            NullWatcher(),
            lambda: False,
        )
        return sum([(await player(spec)).steps for spec in episodes])
    finally:
        await pool.close()


def bare_nle(run: Path, episodes: list[EpisodeSpec]) -> float:
    """Processor seconds that NLE itself takes for the same keys, without the harness."""
    code = "import sys; from benchmarks.heart import bare; print(bare(sys.argv[1:]))"
    paths = [str(journal_path(run, spec.episode)) for spec in episodes]
    done = subprocess.run([sys.executable, "-c", code, *paths], capture_output=True, text=True, check=True)
    return float(done.stdout)


def bare(paths: list[str]) -> float:
    """In a separate process: NLE's own environment, pressing the keys of each journal."""
    import gymnasium
    import nle  # noqa: F401

    spent = 0.0
    for path in paths:
        env = gymnasium.make("NetHackChallenge-v0", max_episode_steps=10**9, no_progress_timeout=10**9)
        keys = sum(step.keys for step in journal.read(Path(path)).steps)
        env.reset()
        begun = time.process_time()
        for _ in range(keys):
            if env.step(36)[2]:  # esc
                env.reset()
        spent += time.process_time() - begun
    return spent


def overhead(agent: str, folder: Path) -> tuple[float, float, Path]:
    """Milliseconds of processor time per step above bare NLE, and in total.

    The difference of two run lengths excludes the start-up.
    """
    short, long = [], []
    for round_ in range(REPEATS):
        for steps, found in ((STEPS // 5, short), (STEPS, long)):
            with taking(found):
                done = asyncio.run(play(folder / f"{agent}{steps}_{round_}", specs(agent, steps)))
    run = folder / f"{agent}{STEPS}_0"
    extra = min(long) - min(short)
    nle = bare_nle(run, specs(agent, STEPS)) * (1 - 1 / 5)
    each = 1000 / (done * (1 - 1 / 5))
    return (extra - nle) * each, extra * each, run


def chain_cost(run: Path, folder: Path) -> float:
    """Milliseconds of processor time per step for the hash chain: the same entries with it and without."""
    recording = journal.read(next(run.glob("*/*/*.journal.jsonl")))
    assert recording.header is not None
    spent: dict[bool, list[float]] = {True: [], False: []}
    for round_ in range(10):
        for chained in spent:
            with Writer(folder / f"{chained}{round_}") as writer:
                if not chained:
                    writer._link = None
                writer.append(recording.header)
                begun = time.process_time()
                for entry in recording.entries:
                    writer.append(entry)
                spent[chained].append(time.process_time() - begun)
    return 1000 * (min(spent[True]) - min(spent[False])) / STEPS


def replay_speed(run: Path, agent: str) -> float:
    """Steps per second of a full verification, with every prompt rebuilt and compared."""
    best = 0.0
    for spec in specs(agent, STEPS)[:3] * 2:
        begun = time.process_time()
        verdict = asyncio.run(verify(journal_path(run, spec.episode)))
        best = max(best, verdict.steps / (time.process_time() - begun))
    return best


def first_request(folder: Path) -> float:
    """Seconds from the command to the first prompt passed to the model."""
    code = """
import sys, time
from balrog_rag.models.scripted import ScriptedModel
async def complete(self, request):
    print("FIRST", time.time(), flush=True)
    import os; os._exit(0)
ScriptedModel.complete = complete
from balrog_rag.cli.main import main
main(["agent=naive", "model=scripted", "env.episodes=1", "limits.steps=1", f"run.folder={sys.argv[1]}"])
"""
    times = []
    for n in range(5):
        begun = time.time()
        done = subprocess.run(
            [sys.executable, "-c", code, str(folder / f"first{n}")], capture_output=True, text=True
        )
        line = next(line for line in done.stdout.splitlines() if "FIRST" in line)
        times.append(float(line.split()[-1]) - begun)
    return sorted(times)[len(times) // 2]


def first_call() -> tuple[float, float]:
    """Seconds from the command to the first request on a loopback server, and processor time until then."""
    times = []
    for _ in range(5):
        with socket.socket() as listening, tempfile.TemporaryDirectory() as folder:
            listening.bind(("127.0.0.1", 0))
            listening.listen()
            address = f"model.base_url=http://127.0.0.1:{listening.getsockname()[1]}/v1"
            words = ["agent=naive", "model=vllm", address, "env.episodes=1", "limits.steps=1"]
            command = [sys.executable, "-m", "balrog_rag.eval", *words, f"run.folder={folder}"]
            begun = time.time()
            with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
                connection, _ = listening.accept()
                connection.recv(1)
                used = psutil.Process(process.pid).cpu_times()
                times.append((time.time() - begun, used.user + used.system))
                process.kill()
            connection.close()
    return sorted(times)[len(times) // 2]


def row(what: str, target: str, measured: str) -> None:
    print(f"{what:<64}{target:>12}{measured:>14}", flush=True)


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        row("what", "target", "measured")
        for agent in ("naive", "robust_cot"):
            ms, whole, run = overhead(agent, folder)
            row(f"harness CPU a step over bare NLE, {agent}, history 16", "<= 1 ms", f"{ms:.3f} ms")
            share = chain_cost(run, folder) / whole
            row(f"the journal's chain, of a step's CPU, {agent}", "<= 2 %", f"{100 * share:.1f} %")
            speed = replay_speed(run, agent)
            row(f"replay with every prompt rebuilt, {agent}", ">= 5000/s", f"{speed:.0f}/s")
            size = sum(journal_path(run, spec.episode).stat().st_size for spec in specs(agent, STEPS))
            row(f"journal bytes a step, {agent}", "<= 1500", f"{size / (GAMES * STEPS):.0f}")
        row("start to first model request (scripted)", "<= 1.5 s", f"{first_request(folder):.2f} s")
        wall, spent = first_call()
        row("start to first request on a loopback server", "<= 1.0 s", f"{wall:.2f} s")
        row("  processor time of the main process till then", "", f"{spent:.2f} s")


if __name__ == "__main__":
    main()
