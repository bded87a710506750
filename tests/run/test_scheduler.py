"""The scheduler: which episodes are admitted, and when."""

import asyncio

import pytest

from balrog_rag.episode.effects import Stopped
from balrog_rag.run.scheduler import EpisodeSlots
from tests.support import PATIENCE


async def arrivals(gate: EpisodeSlots, ranks: list[int]) -> tuple[list[asyncio.Task[bool]], list[int]]:
    """The order in which one waiter of each rank is admitted."""
    inside: list[int] = []

    async def come(rank: int) -> bool:
        let_in = await gate.enter(rank)
        if let_in:
            inside.append(rank)
        return let_in

    tasks = [asyncio.create_task(come(rank)) for rank in ranks]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    return tasks, inside


def test_only_so_many_lower_ranks_first() -> None:
    async def scene() -> None:
        gate = EpisodeSlots(2)
        _, inside = await arrivals(gate, [3, 3, 2, 1, 1])
        assert inside == [3, 3]
        for expected in ([3, 3, 1], [3, 3, 1, 1], [3, 3, 1, 1, 2]):
            gate.leave()
            await asyncio.sleep(0)
            assert inside == expected
            assert gate.inside <= 2

    asyncio.run(scene())


def test_wider_narrower_paused() -> None:
    async def scene() -> None:
        gate = EpisodeSlots(1)
        _, inside = await arrivals(gate, [0] * 5)
        gate.change(width=3)
        await asyncio.sleep(0)
        assert len(inside) == 3
        gate.change(width=0)
        assert gate.width == 1  # never none
        gate.leave()
        gate.leave()
        await asyncio.sleep(0)
        assert len(inside) == 3
        gate.change(paused=True)
        gate.leave()
        await asyncio.sleep(0)
        assert len(inside) == 3
        gate.change(paused=False)
        await asyncio.sleep(0)
        assert len(inside) == 4

    asyncio.run(scene())


def test_stopping_turns_everybody_away() -> None:
    async def scene() -> None:
        gate = EpisodeSlots(1)
        tasks, _ = await arrivals(gate, [0] * 4)
        gate.change(stopping=True)
        assert await asyncio.gather(*tasks) == [True, False, False, False]
        assert await gate.enter() is False
        assert gate.inside == 1

    asyncio.run(scene())


def test_who_gives_up_while_waiting_takes_no_place() -> None:
    async def scene() -> None:
        gate = EpisodeSlots(1)
        tasks, inside = await arrivals(gate, [0, 1, 2])
        tasks[1].cancel()
        gate.leave()  # the place goes to the second, who leaves before taking it
        await asyncio.gather(*tasks, return_exceptions=True)
        assert inside == [0, 2]
        assert gate.inside == 1

    asyncio.run(scene())


def test_a_wait_lasts_through_a_pause_and_ends_with_a_stop() -> None:
    async def scene() -> None:
        gate = EpisodeSlots(1)
        gate.change(paused=True)
        call = asyncio.create_task(gate.hold(0.01))
        await asyncio.sleep(0.05)
        assert not call.done()
        gate.change(paused=False)
        await call
        for paused in (False, True):
            gate = EpisodeSlots(1)
            gate.change(paused=paused)
            call = asyncio.create_task(gate.hold(1000))
            await asyncio.sleep(0)
            gate.change(stopping=True)
            with pytest.raises(Stopped):
                await asyncio.wait_for(call, PATIENCE)

    asyncio.run(scene())


def test_paused_calls_wait_and_end_with_a_stop() -> None:
    async def scene() -> None:
        gate = EpisodeSlots(1)
        await gate.hold()
        gate.change(paused=True)
        call = asyncio.create_task(gate.hold())
        await asyncio.sleep(0)
        assert not call.done()
        gate.change(paused=False)
        await call
        gate.change(paused=True)
        call = asyncio.create_task(gate.hold())
        await asyncio.sleep(0)
        gate.change(stopping=True)
        with pytest.raises(Stopped):
            await call

    asyncio.run(scene())


def test_a_waiter_cancelled_after_it_was_let_in_gives_its_place_back() -> None:
    async def scene() -> None:
        slots = EpisodeSlots(1)
        assert await slots.enter()
        waiting = asyncio.create_task(slots.enter())
        await asyncio.sleep(0)
        slots.leave()  # lets the waiter in, which has not run since
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert slots.inside == 0
        assert await asyncio.wait_for(slots.enter(), PATIENCE)

    asyncio.run(scene())
