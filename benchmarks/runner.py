"""The runner's figures beside their targets: `python benchmarks/runner.py [CASE ...] [--soak STEPS]`.

Every case is the real command in a process of its own, its times taken from its JSON log: play goes from
the first observation to the last end, and so leaves out the start of Python, the workers and LiteLLM.
The model is the loopback test server in another process, or the scripted model inside the run. Memory is
what is resident in all of a run's processes, files among it, a page that is in use in several places once;
growth is that of anonymous memory, which no file backs and no other program changes. Both cores are wanted:
other load shows in the figures.
"""

import argparse
import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

from balrog_rag.contracts.events import Answered, Asked, Started, Stepped

BATCH = ["agent=naive", "env.no_progress=0", "run.name=r", "runner.log=json"]
MEGABYTE = 1 << 20
WEIGH_SECONDS = 2.0
"""Seconds between two looks at the memory of a run."""


class Played:
    """A run observed from outside."""

    def __init__(
        self, folder: Path, words: list[str], meddle: Callable[["Played"], None] | None = None
    ) -> None:
        self.steps = self.ended = self.seen = 0
        self.first = self.last = 0.0
        self.memory = 0
        self.main_cpu = self.games_cpu = 0.0
        self.samples: list[tuple[int, int, int]] = []
        begun = time.monotonic()
        self.folder = folder / "results" / "r"
        command = [sys.executable, "-m", "balrog_rag.eval", *BATCH, *words]
        self.process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True)
        threads = [threading.Thread(target=self._weigh, daemon=True)]
        if meddle is not None:
            threads.append(threading.Thread(target=meddle, args=(self,), daemon=True))
        for thread in threads:
            thread.start()
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._take(json.loads(line), time.monotonic())
        self.code = self.process.wait()
        self.whole = time.monotonic() - begun

    @property
    def play(self) -> float:
        """Seconds from the first observation to the last end."""
        return self.last - self.first

    def _take(self, event: dict[str, Any], now: float) -> None:
        self.first = self.first or (now if event["event"] == "started" else 0.0)
        if event["event"] == "ended":
            self.last, self.ended = now, self.ended + 1
            self.steps += event["steps"]
        elif event["event"] == "progress":
            self.seen = event["steps"]

    def workers(self) -> list[psutil.Process]:
        """The processes that host the games."""
        children = psutil.Process(self.process.pid).children()
        return [child for child in children if "balrog_rag.workers.worker" in child.cmdline()]

    def _weigh(self) -> None:
        weighed = 0.0
        while self.process.poll() is None:
            time.sleep(0.5)
            try:
                children = self.workers()
                workers = [worker.pid for worker in children]
                self.main_cpu = used(psutil.Process(self.process.pid))
                self.games_cpu = max(self.games_cpu, sum(map(used, children)))
                # A worker with 500 games has 6,900 mappings, and stands still for 11 ms for their sum.
                if time.monotonic() < weighed + WEIGH_SECONDS:
                    continue
                weighed = time.monotonic()
                main, games = held("Anonymous", self.process.pid), held("Anonymous", *workers)
                self.memory = max(self.memory, held("Pss", self.process.pid, *workers))
            except (psutil.Error, OSError):
                continue
            self.samples.append((self.seen, main, games))


def used(process: psutil.Process) -> float:
    """Seconds of processor time."""
    times = process.cpu_times()
    return float(times.user + times.system)


def held(kind: str, *processes: int) -> int:
    """Bytes of anonymous memory that these processes use."""
    maps = (Path(f"/proc/{process}/smaps_rollup").read_text() for process in processes)
    found = (re.search(rf"^{kind}: +(\d+) kB", text, re.MULTILINE) for text in maps)
    return sum(int(match[1]) * 1024 for match in found if match)


@contextmanager
def server(*words: str) -> Iterator[str]:
    """The test server's address."""
    command = [sys.executable, "-m", "balrog_rag.models", "testserver", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        found = re.search(r"http://127\.0\.0\.1:\d+", process.stdout.readline())
        assert found
        try:
            yield found[0]
        finally:
            process.terminate()


def asks(address: str) -> list[str]:
    return [
        "model=vllm",
        "model.name=hosted_vllm/test",
        f"model.base_url={address}/v1",
        "model.concurrency=512",
    ]


def counted(address: str) -> int:
    from httpx import get

    return int(get(f"{address}/counts").json()["requests"])


def report(what: str, target: str, figure: str) -> None:
    print(f"{what:64}{target:>16}{figure:>26}", flush=True)


def latency(folder: Path) -> None:
    """32 episodes of 200 steps at 100 ms, all at once: the ideal is 20 s."""
    words = ["env.episodes=32", "limits.steps=200", "runner.concurrency=32"]
    with server("--latency", "0.1") as address:
        bare = asyncio.run(bare_seconds(address, 32, 200)) / 20.0
        asked = [*words, *asks(address)]
        tries = [over_ideal(folder / f"a{attempt}", asked, 20.0)[1] for attempt in range(3)]
    ratios = ", ".join(f"{ratio:.3f}" for ratio in sorted(tries))
    report("32 x 200 steps at 100 ms, server, three runs", "<= 1.05", ratios)
    report("  the same calls, nothing but sockets", "", f"{bare:.3f}")
    _, ratio = over_ideal(folder / "b", [*words, "model=scripted", "model.options.latency=0.1"], 20.0)
    report("32 x 200 steps at 100 ms, scripted model", "<= 1.05", f"{ratio:.3f}")


async def bare_seconds(address: str, at_once: int, calls: int) -> float:
    """The time that the server and the machine alone need for as many calls of that size."""
    host, _, port = address.removeprefix("http://").partition(":")
    prompt = json.dumps({"messages": [{"role": "user", "content": "a corridor " * 2200}]}).encode()
    sent = b"POST /v1/chat/completions HTTP/1.1\r\ncontent-length: %d\r\n\r\n" % len(prompt) + prompt

    async def talk() -> None:
        reader, writer = await asyncio.open_connection(host, int(port))
        for _ in range(calls):
            writer.write(sent)
            head = await reader.readuntil(b"\r\n\r\n")
            await reader.readexactly(int(head.rsplit(b"content-length: ", 1)[1]))
        writer.close()

    begun = time.monotonic()
    await asyncio.gather(*[talk() for _ in range(at_once)])
    return time.monotonic() - begun


def over_ideal(folder: Path, words: list[str], ideal: float) -> tuple[Played, float]:
    """A run, and its duration relative to the model's latency alone."""
    folder.mkdir()
    played = Played(folder, words)
    assert played.code == 0, played.code
    return played, played.play / ideal


def many(folder: Path) -> None:
    """256 episodes at once at 1 s; memory per episode is the difference to a run of 16."""
    words, steps = ["runner.concurrency=256"], 60
    with server("--latency", "1") as address:
        few = ["env.episodes=16", f"limits.steps={steps}", *words, *asks(address)]
        base, ratio = over_ideal(folder / "few", few, steps)
        report("16 episodes at once at 1 s, server", "<= 1.05", f"{ratio:.3f}")
        lot = ["env.episodes=256", *few[1:]]
        whole, ratio = over_ideal(folder / "lot", lot, steps)
        report("256 episodes at once at 1 s, server", "<= 1.05", f"{ratio:.3f}")
    scripted = [*lot[:3], "model=scripted", "model.options.latency=1"]
    _, ratio = over_ideal(folder / "in", scripted, steps)
    report("256 episodes at once at 1 s, scripted model", "<= 1.05", f"{ratio:.3f}")
    each = (whole.memory - base.memory) / 240 / MEGABYTE
    report("  memory an episode, game and agent", "<= 12 MB", f"{each:.1f} MB")
    report("  memory of the run of 16", "", f"{base.memory / MEGABYTE:.0f} MB")


def thousand(folder: Path) -> None:
    """1,000 episodes at once of 20 steps at 1 s: the ideal is 20 s."""
    words = ["agent=robust_cot", "env.episodes=1000", "runner.concurrency=1000", "limits.steps=20"]
    with server("--latency", "1") as address:
        asked = [*words, *asks(address)[:3], "model.concurrency=1000"]
        played, ratio = over_ideal(folder / "t", asked, 20.0)
        serving = sum(used(child) for child in psutil.Process().children() if "testserver" in child.cmdline())
    report("1,000 episodes at once of 20 steps at 1 s, robust_cot", "<= 1.15", f"{ratio:.3f}")
    report("  memory of all processes", "<= 2.5 GB", f"{played.memory / MEGABYTE / 1024:.2f} GB")
    report("  processor time: main, games", "", f"{played.main_cpu:.1f} s, {played.games_cpu:.1f} s")
    report("  and of the test server", "", f"{serving:.1f} s")


def speed(folder: Path) -> None:
    """No latency: robust_cot with BALROG's history of 16."""
    words = ["agent=robust_cot", "env.episodes=16", "limits.steps=1000", "runner.concurrency=16"]
    best = 0.0
    for attempt in range(3):
        (folder / f"s{attempt}").mkdir()
        played = Played(folder / f"s{attempt}", [*words, "model=scripted"])
        best = max(best, played.steps / played.play)
    report("0 ms, robust_cot, history 16, scripted model, best of 3", ">= 1,000 /s", f"{best:,.0f} steps/s")
    (folder / "server").mkdir()
    with server() as address:
        short = [*words[:2], "limits.steps=200", words[3]]
        played = Played(folder / "server", [*short, *asks(address)])
    rate = played.steps / played.play
    report("  the same through LiteLLM and the server's own process", "", f"{rate:,.0f} steps/s")


def presses(folder: Path) -> None:
    """A journaled program that plays by itself: 40 games of up to 2,500 key presses in one worker."""
    words = [
        "agent=random",
        "env.episodes=40",
        "limits.steps=2500",
        "runner.concurrency=16",
        "runner.workers=1",
    ]
    played = Played(folder, words)
    rate = played.steps / (played.main_cpu + played.games_cpu)
    size = sum(path.stat().st_size for path in played.folder.rglob("*.journal.jsonl"))
    report("agent=random, key presses a second of processor time", ">= 15,000 /s", f"{rate:,.0f} /s")
    report("  its journals, a 100,000 key presses", "<= 10 MB", f"{size / played.steps / 10:,.2f} MB")


def faults(folder: Path) -> None:
    """100 episodes; four workers are killed and two stopped (like a hang) while they play."""
    kill, hang = signal.SIGKILL, signal.SIGSTOP

    def meddle(played: Played) -> None:
        for number in (kill, kill, hang, kill, hang, kill):
            time.sleep(4)
            workers = played.workers()
            if workers:
                os.kill(workers[0].pid, number)

    with server("--latency", "0.05") as address:
        words = ["env.episodes=100", "limits.steps=100", "runner.concurrency=16", "runner.step_deadline=2"]
        played = Played(folder, [*words, *asks(address)], meddle)
        again = counted(address) - played.steps
    replays = (played.folder / "eval.log").read_text().count("is replayed")
    report("100 episodes, 4 worker kills, 2 hangs", "100/100", f"{played.ended}/100, {replays} replays")
    report("  completions asked twice", "0", str(again))


def soak(folder: Path, steps: int) -> None:
    """A long run of 16 at once: whether memory grows, and the size of a step on disk."""
    words = [
        "agent=robust_cot",
        "model=scripted",
        f"env.episodes={max(16, steps // 945)}",  # a few end before their 1,000 steps
        "limits.steps=1000",
    ]
    played = Played(folder, [*words, "runner.concurrency=16", "run.csv=false"])
    written = sum(path.stat().st_size for path in played.folder.rglob("*.jsonl"))
    steady = [sample for sample in played.samples if 0.2 <= sample[0] / played.steps <= 0.9]
    report(f"soak of {played.steps:,} steps, growth a 100k steps: main", "flat", growth(steady, 1))
    report("  both workers, 16 games", "flat", growth(steady, 2))
    report("  journal", "<= 1,500 B/step", f"{written / played.steps:,.0f} B/step")
    report("  most memory", "", f"{played.memory / MEGABYTE:,.0f} MB")


def growth(samples: list[tuple[int, int, int]], column: int) -> str:
    """The slope of the best straight line through these samples."""
    from numpy import polyfit

    if len(samples) < 3:
        return "too short"
    slope = polyfit([sample[0] for sample in samples], [sample[column] for sample in samples], 1)[0]
    return f"{slope * 100_000 / MEGABYTE:+.2f} MB"


def ray(folder: Path) -> None:
    """60 episodes on two nodes of this machine, one of which is killed during the run."""
    os.environ["RAY_AUTH_MODE"] = "disabled"
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 2, "include_dashboard": False})
    cluster.add_node(num_cpus=2)

    def meddle(played: Played) -> None:
        while len(list(played.folder.glob("nle/*/*.csv"))) < 25:
            time.sleep(0.1)
        cluster.remove_node(next(iter(cluster.worker_nodes)), allow_graceful=False)

    with server("--latency", "0.05") as address:
        words = ["env.episodes=60", "limits.steps=100", "runner=ray", f"runner.address={cluster.address}"]
        played = Played(folder, [*words, "runner.concurrency=20", *asks(address)], meddle)
        again = counted(address) - played.steps
        replays = (played.folder / "eval.log").read_text().count("is replayed")
    cluster.shutdown()
    report("ray, two nodes, one killed", "60/60", f"{played.ended}/60, {replays} replays")
    report("  calls in flight on that node, asked again", "<= 20", str(again))


def watching(folder: Path) -> None:
    """The dashboard's share of time: a few assignments per event, and a drawing from time to time."""
    from balrog_rag.config.compose import compose
    from balrog_rag.contracts.data import Decision, Reply, Request, Transition
    from balrog_rag.display.dashboard_view import DashboardView, lines
    from balrog_rag.display.scoreboard import Scoreboard
    from balrog_rag.run.backend import LocalBackend
    from balrog_rag.run.interrupts import Interrupts
    from balrog_rag.run.plan import PlannedRun, kinds_in, plan
    from balrog_rag.run.run import InPlay
    from balrog_rag.run.scheduler import EpisodeSlots
    from balrog_rag.run.services import LiveServices, player_spec
    from balrog_rag.workers.inline import InlineGame

    config = compose(["model=scripted", "agent=naive", "env.episodes=256"])
    specs = plan(config, player_spec(config))
    gate, backend = EpisodeSlots(256), LocalBackend(config.runner, LiveServices())
    playing = InPlay([PlannedRun(folder, config, specs, kinds_in(config))], gate, Interrupts(gate), backend)
    board, seen = Scoreboard(playing), InlineGame(specs[0].game).start.observation
    for spec in specs:
        board.see(Started(spec.episode, seen))
    request, reply, decision, after = Request(()), Reply("x"), Decision("wait"), Transition(seen)
    begun, rounds = time.perf_counter(), 200
    for step in range(rounds):
        for spec in specs:
            board.see(Asked(spec.episode, step, request))
            board.see(Answered(spec.episode, step, "act", reply, True))
            board.see(Stepped(spec.episode, step, decision, "wait", after))
    event = (time.perf_counter() - begun) / rounds / len(specs) / 3
    report("dashboard: an event", "<< 50 us", f"{event * 1e6:.2f} us")
    view, begun = DashboardView(board, EpisodeSlots(256)), time.perf_counter()
    for _ in range(50):
        lines(view, 200, 60)
    drawing = (time.perf_counter() - begun) / 50
    report("dashboard: a drawing of 256 episodes on 60 lines", "", f"{drawing * 1e3:.2f} ms")


CASES: dict[str, Callable[[Path], None]] = {
    "presses": presses,
    "latency": latency, "many": many, "thousand": thousand, "speed": speed, "faults": faults,
    "watching": watching, "ray": ray,
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "cases", nargs="*", metavar="CASE", help=f"of {', '.join(CASES)}, soak; default: all but ray"
    )
    parser.add_argument("--soak", type=int, default=100_000, help="steps of the soak (default 100,000)")
    options = parser.parse_args()
    load = os.getloadavg()[0]
    print(f"{os.cpu_count()} cores, load {load:.1f} beforehand")
    report("what", "target", "measured")
    for name in options.cases or [*(case for case in CASES if case != "ray"), "soak"]:
        with tempfile.TemporaryDirectory(prefix="balrog-bench-") as folder:
            soak(Path(folder), options.soak) if name == "soak" else CASES[name](Path(folder))


if __name__ == "__main__":
    main()
