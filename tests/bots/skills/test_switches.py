"""A tactic that is switched off plays as if its code were absent."""

from collections.abc import Callable, Generator
from dataclasses import fields
from itertools import pairwise
from typing import Any

import pytest

from balrog_rag.bots.nethack.delver import DELVER, battle, delver, errands, hero_needs, journey, meals, rules
from balrog_rag.bots.nethack.delver.state import Bot, plan_of
from balrog_rag.bots.nethack.delver.switches import Switches, listed
from balrog_rag.bots.nethack.skills import surviving
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.envs.nethack.game import NetHackEngine
from tests.envs.support import nethack

VALKYRIE, ARCHEOLOGIST, WIZARD = "val-hum-neu-fem", "arc-dwa-law-mal", "wiz-hum-neu-mal"


def keys_of(options: dict[str, Any], character: str, limit: int, seed: int = 5) -> list[int]:
    """The keys of a game's first presses."""
    engine = NetHackEngine(nethack(seed, character), None)
    engine.start()
    program = delver(engine.arrays, plan_of(options))
    pressed = [next(program)]
    while len(pressed) < limit and not engine.press(pressed[-1]).ended:
        pressed.append(program.send(engine.arrays))
    engine.close()
    return pressed


def never(*_: Any) -> Generator[int, Any, bool]:
    """A tactic that does nothing."""
    return False
    yield


def without(patch: pytest.MonkeyPatch, rule: object) -> None:
    patch.setattr(rules, "RULES", tuple(each for each in rules.RULES if each is not rule))


ABSENT: dict[str, Callable[[pytest.MonkeyPatch], object]] = {
    "collecting": lambda patch: without(patch, errands.collect),
    "corpses": lambda patch: (
        without(patch, meals.eat_corpses),
        patch.setattr(hero_needs, "eat_corpses", never),
    ),
    "rest": lambda patch: patch.setattr(errands, "_rest", never),
    "waiting": lambda patch: patch.setattr(journey, "_too_early", lambda bot: False),
    "listening": lambda patch: patch.setattr(journey, "_digger_about", lambda bot: False),
    "murder": lambda patch: patch.setattr(Bot, "victims", lambda bot: []),
    "prayer": lambda patch: patch.setattr(surviving, "may_pray", lambda *_, **__: False),
    "meals": lambda patch: patch.setattr(surviving, "eat", never),
    "retreat": lambda patch: patch.setattr(battle, "retreat", never),
    "magic": lambda patch: patch.setattr(battle, "_magic", never),
}
"""How to take a tactic out of the program."""


@pytest.mark.parametrize("name", ABSENT)
def test_off_is_as_if_it_were_absent(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    character = {"waiting": ARCHEOLOGIST, "magic": WIZARD}.get(name, VALKYRIE)
    off = keys_of({name: False}, character, 700)
    ABSENT[name](monkeypatch)
    assert keys_of({}, character, 700) == off


def test_some_switches_change_the_game() -> None:
    """Without Elbereth no letter of it is written."""
    with_it, without = keys_of({}, ARCHEOLOGIST, 700), keys_of({"elbereth": False}, ARCHEOLOGIST, 700)
    assert ord("E") in with_it
    assert ord("E") not in without
    assert keys_of({"collecting": False}, VALKYRIE, 700) != keys_of({}, VALKYRIE, 700)


def test_every_switch_is_an_option() -> None:
    assert [each.name for each in listed()] == ["dig", *(each.name for each in fields(Switches))]
    assert DELVER.switches == listed()
    for each in listed():
        assert each.phase
        assert each.says
    assert plan_of({}).on == Switches()
    assert plan_of({"prayer": False, "mines": 3}).on == Switches(prayer=False)
    for wrong in ({"preyer": False}, {"prayer": 1}, {"on": True}):
        with pytest.raises(ConfigError, match=r"agent\.options"):
            plan_of(wrong)


def test_an_aim_is_deep_or_held() -> None:
    assert plan_of({}).aim == "deep"
    assert plan_of({"aim": "held"}).aim == "held"
    with pytest.raises(ConfigError, match=r"agent\.options\.aim: 'wide' is neither deep nor held"):
        plan_of({"aim": "wide"})
    assert keys_of({"aim": "deep"}, ARCHEOLOGIST, 300) == keys_of({}, ARCHEOLOGIST, 300)


@pytest.mark.slow
def test_aiming_at_what_is_held_leaves_deep_levels_upwards() -> None:
    """A level that was left upwards is held: an Archeologist climbs on its way down."""

    def climbs(options: dict[str, Any]) -> int:
        engine = NetHackEngine(nethack(5, ARCHEOLOGIST), None)
        engine.start()
        program, depths = delver(engine.arrays, plan_of(options)), [1]
        key = next(program)
        for _ in range(5000):
            if engine.press(key).ended:
                break
            depths.append(int(engine.arrays["blstats"][12]))
            key = program.send(engine.arrays)
        engine.close()
        return sum(after < before for before, after in pairwise(depths) if before > 9 and after > 0)

    assert climbs({"aim": "held"}) > climbs({}) == 0
