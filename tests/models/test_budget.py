"""Caps of episodes and runs: counted by purpose, kept with many calls in flight, the same after a resume."""

import asyncio
from dataclasses import replace

import pytest

from balrog_rag.config.schema import CapConfig, LimitsConfig
from balrog_rag.contracts.data import Reply, Usage
from balrog_rag.contracts.errors import ConfigError, LimitReached
from balrog_rag.models import build
from balrog_rag.models.budget import RunBudget, Spending
from balrog_rag.models.prices import Prices
from tests.models.support import model_config, question

FREE = CapConfig(dollars=None, tokens=None, seconds=None)


class Clock:
    """A clock that is set by hand."""

    now = 0.0

    def __call__(self):
        return self.now


def limits(run=FREE, episode=FREE):
    return LimitsConfig(steps=None, episode=episode, run=run)


def reply(dollars=0.01, tokens=100, latency=1.0):
    return Reply("", usage=Usage(tokens - 10, 10), cost=dollars, latency=latency)


def spend(meter, purpose="act", **what):
    meter.admit()
    meter.charge(reply(**what), purpose)


@pytest.mark.parametrize(
    ("cap", "calls"),
    [
        ({"dollars": 0.05}, 5),
        ({"tokens": 500}, 5),
        ({"tokens": 501}, 6),
        ({"dollars": 0}, 0),
        ({"tokens": 0}, 0),
    ],
)
@pytest.mark.parametrize("level", ["run", "episode"])
def test_a_cap_stops_the_call_after_it_is_reached(cap, calls, level):
    budget = RunBudget(limits(**{level: replace(FREE, **cap)}))
    meter = budget.episode("nle/a/0")
    for _ in range(calls):
        spend(meter)
    with pytest.raises(LimitReached) as caught:
        meter.admit()
    assert caught.value.limit == next(iter(cap))
    assert budget.total.calls == calls


def test_an_episodes_cap_stops_that_episode_only():
    budget = RunBudget(limits(episode=replace(FREE, tokens=100)))
    first, second = budget.episode("a"), budget.episode("b")
    spend(first)
    with pytest.raises(LimitReached):
        first.admit()
    second.admit()


def test_every_purpose_counts():
    budget = RunBudget(limits(run=replace(FREE, tokens=300)))
    meter = budget.episode("a")
    for purpose in ("query", "summary", "act"):
        spend(meter, purpose)
    with pytest.raises(LimitReached, match="tokens"):
        meter.admit()
    assert {name: spent.calls for name, spent in budget.by_purpose.items() if spent.calls} == {
        "query": 1,
        "summary": 1,
        "act": 1,
    }
    assert budget.total.tokens == 300


def test_calls_in_flight_hold_their_place():
    budget = RunBudget(limits(run=replace(FREE, dollars=0.10)))
    for n in range(5):
        spend(budget.episode(f"done {n}"))
    meters = [budget.episode(f"open {n}") for n in range(20)]
    admitted = 0
    for meter in meters:
        try:
            meter.admit()
            admitted += 1
        except LimitReached:
            pass
    assert admitted == 5
    for meter in meters[:admitted]:
        meter.charge(reply(), "act")
    assert budget.total.dollars == pytest.approx(0.10)
    assert budget.in_flight == 0


def test_a_call_that_failed_gives_its_place_back():
    budget = RunBudget(limits())
    meter = budget.episode("a")
    meter.admit()
    meter.admit()
    assert budget.in_flight == 1
    meter.charge(reply(), "act")
    assert budget.in_flight == 0


def test_an_episode_played_again_is_counted_once():
    budget = RunBudget(limits())
    meter = budget.episode("a")
    spend(meter, "query")
    spend(meter, "act")
    again = budget.episode("a")
    assert budget.total == Spending()
    again.charge(reply(), "query")
    again.charge(reply(), "act")
    spend(again, "act")
    assert budget.total.calls == 3
    assert budget.by_purpose["act"].calls == 2


def test_replayed_calls_use_up_the_caps_too():
    clock = Clock()
    cap = replace(FREE, tokens=300, seconds=2.5)
    meter = RunBudget(limits(episode=cap), clock).episode("a")
    meter.charge(reply(), "act")
    meter.charge(reply(), "act")
    meter.admit()
    assert meter.seconds == 2.0
    clock.now = 0.6
    with pytest.raises(LimitReached, match="seconds"):
        meter.admit()
    meter.charge(reply(), "act")
    with pytest.raises(LimitReached, match="tokens"):
        meter.admit()


def test_seconds_of_a_run_are_wall_time():
    clock = Clock()
    budget = RunBudget(limits(run=replace(FREE, seconds=10)), clock)
    spend(budget.episode("a"))
    clock.now = 10
    with pytest.raises(LimitReached, match="seconds"):
        budget.episode("b").admit()


def test_an_unknown_price_is_counted_as_such_and_refused_under_a_dollar_cap():
    free = RunBudget(limits())
    spend(free.episode("a"), dollars=None)
    assert free.total.unpriced == 1
    assert free.total.dollars == 0
    capped = RunBudget(limits(run=replace(FREE, dollars=1.0)))
    with pytest.raises(ConfigError, match=r"model\.price"):
        spend(capped.episode("a"), dollars=None)


def test_replayed_answers_without_a_price_never_refuse_and_cost_what_is_set_now():
    capped = limits(run=replace(FREE, dollars=1.0))
    unknown = RunBudget(capped)
    unknown.episode("a").charge(reply(dollars=None), "act")
    assert unknown.total.unpriced == 1
    known = RunBudget(capped, prices=Prices(input=1000.0, output=1000.0))
    meter = known.episode("a")
    meter.charge(reply(dollars=None), "act")
    assert known.total.unpriced == 0
    assert known.total.dollars == pytest.approx(0.1)
    meter.forget()
    assert known.total == Spending()


def test_a_real_run_of_calls_goes_beyond_its_cap_by_those_in_flight_at_most():
    price = {"input": 100.0, "output": 100.0}
    model = build(model_config("scripted", price=price, options={"latency": 0.001}))
    budget = RunBudget(limits(run=replace(FREE, dollars=0.5)))
    at_once = 16

    async def play(number):
        meter = budget.episode(str(number))
        for step in range(1000):
            try:
                meter.admit()
            except LimitReached:
                return
            meter.charge(await model.complete(question(1000 * number + step)), "act")

    async def run():
        await asyncio.gather(*map(play, range(at_once)))

    asyncio.run(run())
    mean = budget.total.dollars / budget.total.calls
    assert 0.5 - at_once * mean <= budget.total.dollars <= 0.5 + at_once * mean
