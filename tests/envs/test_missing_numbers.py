"""Observations that lack numbers or parts: what wrappers and displays make of them in every kind of game."""

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
    senses = kind.senses
    assert senses.health({}) == 1.0
    assert not senses.hurt({}, {})
    assert not senses.moved({}, {})
    assert senses.ailments({}, {}) == senses.states(NOTHING) == senses.truth(NOTHING, {}) == []
    assert senses.deeds(NOTHING) == {}
    assert (senses.time({}), senses.clock({}), senses.map(NOTHING)) == ("", None, "")
    assert senses.trimmed(NOTHING) is not None
    assert senses.without_map(NOTHING, "left out") is not None
    assert senses.screen(NOTHING) == senses.screen(NOTHING)
    assert not kind.danger({})
    assert isinstance(kind.headline({}), str)
    assert all(column.text({}) for column in kind.columns)


def test_numbers_that_come_and_go_are_not_taken_for_changes():
    senses = NETHACK.senses
    shown = Observation((Part("message", ""),), {"hp": 9, "max_hp": 10, "depth": 3, "turn": 5}, "1")
    assert danger(senses, shown, NOTHING, 0.3) == danger(senses, NOTHING, shown, 0.3) == ""
    noticer = Noticer(senses, 10, 0.3, states=True)
    assert [noticer.new(seen) for seen in (shown, NOTHING, shown)] == [[], [], []]


def test_the_numbers_that_are_there_still_count():
    seen = read_logged("map:\nDlvl:2 $:3 HP:3(16) Pw:2(2) AC:6 Xp:1/7 Weak")
    senses = NETHACK.senses
    assert "turn" not in seen.numbers
    assert senses.health(seen.numbers) == 3 / 16
    assert senses.ailments({}, seen.numbers) == ["hunger"]
    assert senses.truth(seen, {})[0].startswith("Weak")
    assert NETHACK.headline(seen.numbers) == "Dlvl 2 XL 1 HP 3/16 T ?"
    assert NETHACK.danger(seen.numbers)
