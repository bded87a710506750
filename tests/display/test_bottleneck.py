"""Limits other than the model's server: reported before the run starts, and while they slow it down."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from balrog_rag.config.compose import compose
from balrog_rag.display.bottleneck import Bottleneck
from balrog_rag.models.pace import Pace
from balrog_rag.run.backend import LocalBackend
from balrog_rag.run.capacity import model_concurrency_notes
from balrog_rag.run.interrupts import Interrupts
from balrog_rag.run.plan import PlannedRun, kinds_in, plan
from balrog_rag.run.run import InPlay
from balrog_rag.run.scheduler import EpisodeSlots
from balrog_rag.run.services import LiveServices, player_spec
from tests.run.support import Server, model_of, running
from tests.run.terminal import terminal
from tests.support import PATIENCE

NARROW = ("model.concurrency=2", "runner.concurrency=6", "env.episodes=6", "agent=naive", "run.name=r")


def planned(folder: Path, *words: str) -> PlannedRun:
    config = compose(["model=vllm", "model.name=m", "agent=naive", *words])
    return PlannedRun(folder, config, plan(config, player_spec(config)), kinds_in(config))


def notes(*runs: PlannedRun) -> list[str]:
    return model_concurrency_notes(runs[0].config.runner, runs)


def test_the_dashboard_names_it_at_the_start_and_while_calls_wait(tmp_path: Path) -> None:
    slow = Server("--latency", "0.5")
    with terminal(tmp_path, *model_of(slow), *NARROW) as shown:
        drawn = shown.until(r"limited by model\.concurrency=2: 4 calls wait")
        assert "model.concurrency=2: at most 2 of 6 episodes in play are answered at once" in drawn
        shown.press(b"q")
        shown.until("run folder: results/r")
    slow.close()


def test_plain_lines_say_it_before_the_first_episode_ends(tmp_path: Path, server: Server) -> None:
    few = ("limits.steps=2", "runner.log=plain")
    with running(tmp_path, *model_of(server), *NARROW, *few) as process:
        _, err = process.communicate(timeout=PATIENCE)
    lines = err.splitlines()
    assert process.returncode == 0
    (said, *_) = [at for at, line in enumerate(lines) if "at most 2 of 6 episodes in play" in line]
    assert said < min(at for at, line in enumerate(lines) if " after 2 steps" in line)


def test_nothing_is_said_where_the_model_takes_every_episode(tmp_path: Path) -> None:
    assert notes(planned(tmp_path, "runner.concurrency=1000", "env.episodes=64")) == []
    assert notes(planned(tmp_path, "runner.concurrency=64", "env.episodes=1000")) == []
    scripted = ("model=scripted", "runner.concurrency=1000", "env.episodes=1000")
    assert notes(planned(tmp_path, *scripted)) == []


def test_runs_of_a_sweep_that_share_a_model_count_together(tmp_path: Path) -> None:
    words = ("runner.concurrency=1000", "env.episodes=40")
    (note,) = notes(planned(tmp_path, *words), planned(tmp_path, *words, "run.seed=1"))
    assert note.startswith("model.concurrency=64: at most 64 of 80 episodes in play")
    assert note.endswith("add model.concurrency=80")


async def waiting_for(pace: Pace, calls: int) -> str:
    async def call() -> None:
        async with pace.slot(100):
            await asyncio.sleep(60)

    tasks = [asyncio.create_task(call()) for _ in range(calls)]
    for _ in range(5):
        await asyncio.sleep(0)
    said = pace.bottleneck
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert pace.bottleneck == ""
    return said


@pytest.mark.parametrize(
    ("pace", "said"),
    [
        (lambda: Pace(3), "model.concurrency=3: 1 call waits"),
        (lambda: Pace(4), ""),
        (lambda: Pace(9, requests_per_minute=1), "model.requests_per_minute=1: 3 calls wait"),
        (lambda: Pace(9, tokens_per_minute=250), "model.tokens_per_minute=250: 2 calls wait"),
        (lambda: Pace(2, requests_per_minute=1), "model.requests_per_minute=1: 3 calls wait"),
        (lambda: Pace(1, setting=""), ""),
    ],
)
def test_a_pace_names_the_setting_that_calls_wait_for(pace: Callable[[], Pace], said: str) -> None:
    assert asyncio.run(waiting_for(pace(), 4)) == said


def test_game_processes_and_concurrency(tmp_path: Path) -> None:
    async def sampled() -> list[str]:
        run = planned(tmp_path, "runner.workers=2", "runner.concurrency=8", "env.episodes=20")
        gate, services = EpisodeSlots(8), LiveServices()
        services.model(run.specs[0].last_player)
        playing = InPlay([run], gate, Interrupts(gate), LocalBackend(run.config.runner, services))
        found = []
        for in_games in (7, 1):
            bottleneck = Bottleneck(playing)
            for _ in range(20):
                said = bottleneck.sample(8, in_games, 12)
            found.append(said)
        gate.change(paused=True)
        return [*found, bottleneck.sample(8, 1, 12)]

    games, concurrency, paused = asyncio.run(sampled())
    assert games == "runner.workers=2: most episodes wait for their game"
    assert concurrency == "runner.concurrency=8: 12 episodes not started"
    assert paused == ""
