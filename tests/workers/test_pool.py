import asyncio
import gc
import json
import os
import signal
import subprocess
import sys
import time

import pytest

import balrog_rag.workers.pool as pool_module
import balrog_rag.workers.worker as worker_module
from balrog_rag.contracts.data import GameSpec, ProgramPlayer, Seeds
from balrog_rag.contracts.errors import ConfigError, EnvironmentFailure, WorkerLost, WorkerLostElsewhere
from balrog_rag.util import scratch
from balrog_rag.workers import worker_process
from balrog_rag.workers.framing import Close, Heartbeat, Open, PlayActions
from balrog_rag.workers.inline import InlineGames
from balrog_rag.workers.pool import WorkerPool
from tests import preloaded, support
from tests.envs.support import minihack, nethack
from tests.support import PATIENCE

WALK = ["north", "search", "west", "search", "pray", "y", "kick", "esc"]


@pytest.fixture(autouse=True)
def python_starts(monkeypatch):
    """Workers are started as users start them."""
    monkeypatch.setattr(worker_process, "launch", preloaded.PYTHON_STARTS)


def with_pool(scenario, **options):
    """Run a scenario with a pool, which is closed afterwards."""

    async def run():
        pool = WorkerPool(**{"workers": 2, "step_deadline": 30, **options})
        await pool.start()
        try:
            return await asyncio.wait_for(scenario(pool), PATIENCE)
        finally:
            await pool.close()

    return asyncio.run(run())


def gone(pid):
    """Whether a process has ended, including as a zombie."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


async def until(condition):
    """Wait while the pool runs; the scenario's own limit ends it."""
    while not condition():
        await asyncio.sleep(0.02)


@pytest.mark.parametrize("spec", [nethack(), minihack("Quest-Easy"), nethack(layout="image")])
def test_a_worker_plays_the_same_game_as_this_process(spec):
    async def scenario(pool):
        inline = await InlineGames().open(spec)
        pooled = await pool.open(spec)
        assert pooled.view == inline.view
        assert pooled.start == inline.start
        assert await pooled.play(WALK[:4]) == await inline.play(WALK[:4])
        for action in WALK[4:]:
            assert list(await pooled.play([action])) == list(await inline.play([action]))
        await pooled.close()
        await inline.close()

    with_pool(scenario)


def test_play_stops_at_the_games_end():
    async def scenario(pool):
        game = await pool.open(nethack(max_steps=3))
        transitions = await game.play(["search"] * 10)
        assert [transition.ended for transition in transitions] == ["", "", "steps"]
        assert transitions[-1].end["xlogfile"]["death"] == "quit"
        with pytest.raises(EnvironmentFailure, match="the game is over"):
            await game.play(["search"])
        await game.close()

    with_pool(scenario)


def test_games_go_where_there_are_fewest():
    async def scenario(pool):
        games = await asyncio.gather(*(pool.open(nethack(seed)) for seed in range(6)))
        assert [worker.games for worker in pool.workers] == [3, 3]
        await games[0].close()
        assert sorted(worker.games for worker in pool.workers) == [2, 3]
        await pool.open(nethack(9))
        assert [worker.games for worker in pool.workers] == [3, 3]

    with_pool(scenario)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSEGV])
def test_a_dead_worker_costs_its_games_alone(how):
    async def scenario(pool):
        games = [await pool.open(nethack(seed)) for seed in range(4)]
        victim = games[0]._worker
        lost = [game for game in games if game._worker is victim]
        waiting = asyncio.ensure_future(lost[0].play(["search"] * 500))
        await asyncio.sleep(0)
        os.kill(victim.pid, how)
        with pytest.raises(WorkerLost, match=f"process {victim.pid}.* died of {how.name}"):
            await waiting
        with pytest.raises(WorkerLost):
            await lost[1].play(["search"])
        for game in games:
            if game not in lost:
                assert len(await game.play(["search"])) == 1
            await game.close()
        assert len(pool.workers) == 2
        assert victim not in pool.workers
        assert not os.path.exists(victim._folder)
        again = await pool.open(nethack(0))
        assert again.start == games[0].start
        assert [worker.games for worker in pool.workers].count(1) == 1

    with_pool(scenario)


def test_a_hung_worker_is_killed_and_replaced():
    async def scenario(pool):
        hung, fine = await pool.open(nethack(1)), await pool.open(nethack(2))
        os.kill(hung._worker.pid, signal.SIGSTOP)
        hung._worker._deadline = 2  # the other one may be slow
        with pytest.raises(WorkerLost, match=r"did not answer within 2 s and was killed"):
            await hung.play(["search"])
        assert gone(hung._worker.pid)
        assert len(await fine.play(["search"])) == 1
        assert len(pool.workers) == 2

    with_pool(scenario)


def test_signs_of_life_come_between_the_steps_of_a_long_order(monkeypatch):
    monkeypatch.setattr(worker_module, "BEAT_SECONDS", 0)
    said = []
    worker = worker_module.Worker(said.append, lambda: None)
    worker.handle(Open(0, nethack()))
    said.clear()
    assert len(worker.handle(PlayActions(0, ["search"] * 5)).transitions) == 5
    assert said == [Heartbeat()] * 5
    worker.handle(Close(0))


@pytest.mark.slow
def test_long_work_is_not_taken_for_a_hang():
    """The deadline is for one step: an order of many steps may take longer."""
    deadline = 10  # a sign of life comes each half a second, unless the machine stands still

    async def scenario(pool):
        game = await pool.open(nethack(no_progress=0, max_steps=10**9))
        begun = time.monotonic()
        await game.play(["esc"] * 1000)
        enough = int(1000 * 2 * deadline / (time.monotonic() - begun))
        assert len(await game.play(["esc"] * enough)) == enough

    with_pool(scenario, step_deadline=deadline, workers=1)


def test_an_error_in_a_game_is_an_answer():
    async def scenario(pool):
        game = await pool.open(nethack())
        with pytest.raises(EnvironmentFailure, match="'fly' is not an accepted action"):
            await game.play(["fly"])
        assert len(await game.play(["search"])) == 1
        with pytest.raises(ConfigError, match="did you mean NetHackChallenge-v0"):
            await pool.open(GameSpec("nle", "NetHackChallange-v0", Seeds(1, 1)))
        with pytest.raises(ConfigError, match="unknown program 'rndom'; did you mean random"):
            await game.run(ProgramPlayer("rndom", {}, 1), 1)
        assert sum(worker.games for worker in pool.workers) == 1

    with_pool(scenario)


def test_a_worker_that_grew_too_big_is_replaced_when_its_games_have_ended(monkeypatch):
    monkeypatch.setattr(pool_module, "WEIGH_SECONDS", 3600)  # it is weighed when a game of it ends

    async def scenario(pool):
        first, second = await pool.open(nethack(1)), await pool.open(nethack(2))
        old = first._worker
        assert second._worker is old
        await first.close()
        assert old.retiring
        assert len(await second.play(["search"])) == 1
        third = await pool.open(nethack(3))
        assert third._worker is not old
        await second.close()
        assert old not in pool.workers
        assert gone(old.pid)

    with_pool(scenario, workers=1, memory_mb=15)


def test_a_worker_gives_way_to_a_fresh_one_after_so_many_games():
    async def scenario(pool):
        held = [await pool.open(nethack(seed)) for seed in (1, 2)]
        (old,) = {game._worker for game in held}
        await held.pop().close()
        held.append(await pool.open(nethack(3)))
        assert held[-1]._worker is old
        assert old.retiring
        held.append(await pool.open(nethack(4)))
        assert held[-1]._worker is not old
        assert [len(await game.play(["search"])) for game in held] == [1, 1, 1]  # those it holds go on
        for game in held:
            await game.close()
        assert old not in pool.workers
        assert gone(old.pid)

    with_pool(scenario, workers=1, games_a_worker=3)


def test_a_worker_that_goes_on_growing_is_killed_and_only_the_game_at_work_is_to_blame(monkeypatch):
    monkeypatch.setattr(pool_module, "WEIGH_SECONDS", 3600)  # it is weighed below, when it is at work

    async def scenario(pool):
        first, second = await pool.open(nethack(1)), await pool.open(nethack(2))
        at_work = asyncio.ensure_future(first.play(["search"] * 200_000))
        waiting = asyncio.ensure_future(second.play(["search"]))
        await asyncio.sleep(0.05)
        pool.weigh(first._worker)
        with pytest.raises(WorkerLost, match="more than twice") as lost:
            await at_work
        assert not isinstance(lost.value, WorkerLostElsewhere)
        with pytest.raises(WorkerLostElsewhere):
            await waiting

    with_pool(scenario, workers=1, memory_mb=5)


def test_a_game_alone_in_a_worker_that_grows_is_to_blame_even_while_it_waits(monkeypatch):
    monkeypatch.setattr(pool_module, "WEIGH_SECONDS", 3600)

    async def scenario(pool):
        game = await pool.open(nethack(1))
        monkeypatch.setattr(game._worker, "megabytes", lambda: 5000)
        pool.weigh(game._worker)
        with pytest.raises(WorkerLost, match="more than twice") as lost:
            await game.play(["search"])
        assert not isinstance(lost.value, WorkerLostElsewhere)

    with_pool(scenario, workers=1, memory_mb=500)


def test_workers_are_weighed_on_although_no_other_could_be_started(monkeypatch):
    monkeypatch.setattr(pool_module, "WEIGH_SECONDS", 0.05)

    async def scenario(pool):
        game = await pool.open(nethack(1))
        worker, folders = game._worker, set(os.listdir(scratch.folder()))
        with monkeypatch.context() as broken:
            broken.setattr(sys, "executable", "/no/such/python")
            broken.setattr(worker, "megabytes", lambda: 600)
            await until(lambda: worker.retiring)
        assert set(os.listdir(scratch.folder())) <= folders
        monkeypatch.setattr(worker, "megabytes", lambda: 5000)
        await until(lambda: gone(worker.pid))
        assert len(await (await pool.open(nethack(2))).play(["search"])) == 1

    with_pool(scenario, workers=1, memory_mb=500)


def test_stopping_at_once_leaves_no_loose_words(caplog):
    async def scenario(pool):
        game = await pool.open(nethack(1))
        game._worker.send(Close(99))
        game._worker.kill("was closed")
        del game

    with_pool(scenario, workers=1)
    gc.collect()  # a future that nobody asked complains when it is thrown away
    assert caplog.text == ""


def test_workers_that_cannot_start_are_one_line(monkeypatch, tmp_path):
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\necho no such module >&2\nexit 3\n")
    broken.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(broken))

    async def scenario(pool):
        with pytest.raises(EnvironmentFailure, match=r"cannot start: .*ended with code 3: no such module"):
            await pool.open(nethack())

    with_pool(scenario)


def test_a_cancelled_opening_leaves_nothing_behind():
    async def scenario(pool):
        opening = asyncio.ensure_future(pool.open(nethack()))
        await asyncio.sleep(0.05)
        opening.cancel()
        with pytest.raises(asyncio.CancelledError):
            await opening
        assert sum(worker.games for worker in pool.workers) == 0
        assert len(await (await pool.open(nethack())).play(["search"])) == 1

    with_pool(scenario)


def test_closing_ends_the_processes():
    async def scenario(pool):
        await pool.open(nethack())
        (worker,) = pool.workers
        assert os.listdir(worker._folder)
        return worker

    worker = with_pool(scenario)
    assert gone(worker.pid)
    assert not os.path.exists(worker._folder)


PARENT = """
import asyncio, json
from balrog_rag.workers.pool import WorkerPool
from balrog_rag.contracts.data import GameSpec, ProgramPlayer, Seeds

async def main():
    pool = WorkerPool(2, 60)
    await pool.start()
    for seed in range(2):
        await pool.open(GameSpec("nle", "NetHackChallenge-v0", Seeds(seed, seed)))
    print(json.dumps([worker.pid for worker in pool.workers]), flush=True)
    await asyncio.sleep(600)

asyncio.run(main())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="a hung worker outlives its parent elsewhere")
def test_workers_die_with_their_parent_even_when_hung():
    parent = subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE)
    idle, hung = json.loads(parent.stdout.readline())
    os.kill(hung, signal.SIGSTOP)
    parent.kill()
    parent.wait()
    parent.stdout.close()
    support.until(lambda: gone(idle) and gone(hung))


@pytest.mark.parametrize("seed", [1, 2])
def test_a_program_plays_next_to_the_environment_and_goes_on_where_it_stopped(seed):
    async def scenario(pool):
        spec = nethack(no_progress=0)
        pooled, inline = await pool.open(spec), await InlineGames().open(spec)
        player = ProgramPlayer("random", {}, seed)
        bursts = [await pooled.run(player, 30), await pooled.run(player, 30)]
        assert bursts == [await inline.run(player, 30), await inline.run(player, 30)]
        pressed = [press for burst in bursts for press in burst.pressed]
        replayed = await (await pool.open(spec)).play(pressed)
        assert replayed[-1].observation == bursts[-1].observation
        assert sum(step.keys for step in replayed) == sum(burst.keys for burst in bursts)
        assert {press for burst in bursts for press in burst.pressed} <= set(pooled.view.actions)
        assert len(set(pressed)) > 20
        await inline.close()

    with_pool(scenario)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_to_the_whole_group_are_the_parents_to_hear(number):
    async def scenario(pool):
        game = await pool.open(nethack())
        os.kill(game._worker.pid, number)
        assert len(await game.play(["search"])) == 1

    with_pool(scenario)
