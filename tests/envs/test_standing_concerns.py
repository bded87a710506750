"""Standing concerns: digging down, wounds, fresh corpses and unused things, as long as they last."""

from collections.abc import Mapping

import pytest

from balrog_rag.contracts.data import Observation, Part
from balrog_rag.contracts.signals import Concern
from balrog_rag.envs.nethack.concerns import LOW
from balrog_rag.envs.nethack.screen_signals import NetHackSignals
from balrog_rag.envs.nethack.standing_concerns import (
    ARMOR,
    DIGGING,
    FRESH,
    MISSILES,
    UNARMED,
    WANDS,
    WOUNDED,
)

SIGNALS = NetHackSignals()
ARMED = "a: a long sword (weapon in hand)"


def moment(
    message: str = "", sight: str = "", inventory: str = ARMED, hp: int = 20, turn: int = 100, hunger: int = 1
) -> Observation:
    parts = (
        Part("message", message),
        Part("language observation", sight),
        Part("inventory", inventory, "now"),
    )
    numbers = {"hp": hp, "max_hp": 20, "turn": turn, "depth": 3, "hunger": hunger, "experience_level": 3}
    return Observation(parts, numbers)


def lasting(seen: Observation, done: Mapping[str, int] | None = None) -> set[str]:
    """The lasting concerns of a moment, with what it says was done."""
    deeds = {**(done or {}), **SIGNALS.deeds(seen)}
    return {each.query for each in SIGNALS.concerns(seen, deeds) if each.lasting}


def test_digging_down_is_a_concern_from_its_first_message_to_the_landing() -> None:
    begun = moment("You start digging downward.", turn=100)
    assert DIGGING in lasting(begun)
    done = SIGNALS.deeds(begun)
    assert DIGGING in lasting(moment(turn=118), done)
    assert DIGGING not in lasting(moment(turn=130), done)
    assert SIGNALS.deeds(moment("You dig a hole through the floor.", turn=131)) == {"dug": 131}
    assert DIGGING not in lasting(moment("You begin bashing monsters with your pick-axe."))


def test_digging_comes_before_wounds_where_the_tokens_do_not_suffice_for_both() -> None:
    seen = moment("You dig a pit in the floor.", "dwarf adjacent east", hp=5)
    queries = [each.query for each in SIGNALS.concerns(seen, SIGNALS.deeds(seen)) if each.lasting]
    assert queries.index(DIGGING) < queries.index(LOW)


@pytest.mark.parametrize(
    ("hp", "sight", "rests", "fights"),
    [
        (20, "", False, False),
        (17, "", True, False),
        (14, "dwarf adjacent east", False, True),
        (9, "", True, True),
        (17, "dwarf adjacent east", False, False),
        (14, "tame kitten adjacent east", True, False),
    ],
)
def test_wounds_are_for_resting_alone_and_for_escaping_beside_a_monster(
    hp: int, sight: str, rests: bool, fights: bool
) -> None:
    found = lasting(moment(sight=sight, hp=hp))
    assert (WOUNDED in found, LOW in found) == (rests, fights)


def test_a_kill_makes_corpses_a_concern_for_as_long_as_they_are_fresh() -> None:
    done = SIGNALS.deeds(moment("You kill the jackal!", turn=100))
    assert FRESH in lasting(moment(turn=129), done)
    assert FRESH not in lasting(moment(turn=131), done)
    assert FRESH not in lasting(moment(turn=110, hunger=0), done)  # Satiated
    assert FRESH not in lasting(moment(turn=110, sight="jackal adjacent east"), done)


@pytest.mark.parametrize(
    ("carried", "unused"),
    [
        (f"{ARMED}\nb: a hard hat", {ARMOR}),
        (f"{ARMED}\nb: a hard hat\nc: a +0 helmet (being worn)", set()),
        (f"{ARMED}\nb: an iron wand", {WANDS}),
        (f"{ARMED}\nb: a wand of sleep (0:5)", set()),
        ("a: a +1 dagger", {UNARMED}),
        ("a: an apple", set()),
    ],
)
def test_things_that_wait_to_be_put_to_use(carried: str, unused: set[str]) -> None:
    found = lasting(moment(inventory=carried))
    assert found & {ARMOR, WANDS, UNARMED} == unused
    assert not lasting(moment(inventory=carried, sight="newt near east")) & {ARMOR, WANDS, UNARMED}


def test_missiles_are_a_concern_while_a_monster_is_in_view() -> None:
    carried = f"{ARMED}\nb: 4 daggers (in quiver)"
    assert MISSILES in lasting(moment(sight="jackal far east", inventory=carried))
    assert MISSILES not in lasting(moment(inventory=carried))
    assert MISSILES not in lasting(
        moment(sight="jackal far east", inventory="b: a +1 dagger (weapon in hand)")
    )


def test_what_is_known_of_a_monster_stays_while_it_is_near() -> None:
    query = "jackal: how dangerous, how to fight it"
    assert Concern(query, lasting=True) in SIGNALS.concerns(moment(sight="jackal near east"), {})
    assert Concern(query, lasting=False) in SIGNALS.concerns(moment(sight="jackal far east"), {})
