"""Calls and tokens per minute, limited in every window; fair order; nothing lost when a caller leaves."""

import asyncio
from itertools import pairwise

from balrog_rag.models.pace import Pace
from tests.support import PATIENCE

MINUTE = 0.3


def run_through(pace, calls, tokens=10):
    """The time at which each call was admitted."""

    async def one(times):
        async with pace.slot(tokens) as slot:
            times.append(slot.since)
            await asyncio.sleep(0)
            pace.used(slot, tokens)

    async def all_of_them():
        times = []
        await asyncio.gather(*[one(times) for _ in range(calls)])
        return times

    return asyncio.run(all_of_them())


def most_in_a_window(times):
    return max(sum(begin <= time < begin + MINUTE * 0.999 for time in times) for begin in times)


def test_no_window_has_more_calls_than_allowed():
    times = run_through(Pace(100, requests_per_minute=5, minute=MINUTE), 14)
    assert len(times) == 14
    assert most_in_a_window(times) == 5


def test_no_window_has_more_tokens_than_allowed():
    times = run_through(Pace(100, tokens_per_minute=30, minute=MINUTE), 7)
    assert most_in_a_window(times) == 3


def test_a_call_bigger_than_a_minute_still_goes_out():
    assert len(run_through(Pace(100, tokens_per_minute=5, minute=MINUTE), 2, tokens=50)) == 2


def test_no_more_calls_are_in_flight_than_allowed_and_the_first_come_first():
    async def run():
        pace, order, most = Pace(3), [], 0

        async def one(number):
            nonlocal most
            async with pace.slot(1):
                most = max(most, pace.in_flight)
                order.append(number)
                await asyncio.sleep(0.001)

        await asyncio.gather(*map(one, range(30)))
        return order, most, pace.in_flight

    order, most, left = asyncio.run(run())
    assert most == 3
    assert left == 0
    assert all(earlier < later for earlier, later in pairwise(order))


def test_a_caller_that_goes_away_takes_no_place_along():
    async def run():
        pace = Pace(1)

        async def hold():
            async with pace.slot(1):
                await asyncio.sleep(0.01)

        tasks = [asyncio.create_task(hold()) for _ in range(10)]
        await asyncio.sleep(0)
        for task in tasks[1:9]:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.wait_for(hold(), PATIENCE)
        return pace.in_flight

    assert asyncio.run(run()) == 0


def test_one_burst_of_rate_limits_halves_once_and_pauses_everybody():
    async def run():
        pace = Pace(8)
        loop = asyncio.get_running_loop()

        async def refused():
            async with pace.slot(1) as slot:
                await asyncio.sleep(0.005)
                refusals.append(loop.time())
                pace.rate_limited(slot, 0.05)

        refusals = []
        await asyncio.gather(*[refused() for _ in range(8)])
        limit = pace.limit
        async with pace.slot(1) as slot:
            waited = slot.since - refusals[-1]
            pace.used(slot, 1)
        return limit, waited

    limit, waited = asyncio.run(run())
    assert limit == 4
    assert waited >= 0.05
