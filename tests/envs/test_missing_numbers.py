"""Observations without numbers or parts: wrappers and displays cope in every kind of game."""

import pytest

from balrog_rag.agents.noticing import Noticer, danger
from balrog_rag.contracts import registry
from balrog_rag.contracts.data import Observation, Part
from balrog_rag.contracts.kinds import kind_of
from balrog_rag.envs.nethack.kind import NETHACK
from balrog_rag.envs.nethack.logged import read_logged

NOTHING = Observation((), {}, "0")


@pytest.mark.parametrize("env", registry.environments.names())
def test_an_observation_without_parts_and_numbers_is_unknown_and_no_alarm(env):
    kind = kind_of(env)
    signals = kind.hints.signals
    assert signals.health({}) == 1.0
    assert not signals.hurt({}, {})
    assert not signals.moved({}, {})
    assert signals.ailments({}, {}) == signals.states(NOTHING) == signals.truth(NOTHING, {}) == []
    assert signals.deeds(NOTHING) == {}
    assert (signals.time({}), signals.clock({}), signals.map(NOTHING)) == ("", None, "")
    assert signals.trimmed(NOTHING) is not None
    assert signals.without_map(NOTHING, "left out") is not None
    assert signals.screen(NOTHING) == signals.screen(NOTHING)
    assert not kind.display.danger({})
    assert isinstance(kind.display.headline({}), str)
    assert all(column.text({}) for column in kind.display.columns)


def test_numbers_that_come_and_go_are_not_taken_for_changes():
    signals = NETHACK.hints.signals
    shown = Observation((Part("message", ""),), {"hp": 9, "max_hp": 10, "depth": 3, "turn": 5}, "1")
    assert danger(signals, shown, NOTHING, 0.3) == danger(signals, NOTHING, shown, 0.3) == ""
    noticer = Noticer(signals, 10, 0.3, states=True)
    assert [noticer.new(seen) for seen in (shown, NOTHING, shown)] == [[], [], []]


def test_the_numbers_that_are_there_still_count():
    seen = read_logged("map:\nDlvl:2 $:3 HP:3(16) Pw:2(2) AC:6 Xp:1/7 Weak")
    signals = NETHACK.hints.signals
    assert "turn" not in seen.numbers
    assert signals.health(seen.numbers) == 3 / 16
    assert signals.ailments({}, seen.numbers) == ["hunger"]
    assert signals.truth(seen, {})[0].startswith("Weak")
    assert NETHACK.display.headline(seen.numbers) == "Dlvl 2 XL 1 HP 3/16 T ?"
    assert NETHACK.display.danger(seen.numbers)
