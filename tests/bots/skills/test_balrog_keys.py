"""The delver presses only keys that BALROG's answers press, and reads only what BALROG's text shows."""

from collections.abc import Generator
from typing import Any

import pytest

from balrog_rag.bots.nethack.delver import delver
from balrog_rag.bots.nethack.delver.rules import play
from balrog_rag.bots.nethack.delver.state import Bot
from balrog_rag.bots.nethack.skills import fighting, surviving
from balrog_rag.contracts.programs import program_of
from balrog_rag.envs.nethack.actions import nethack_actions
from balrog_rag.envs.nethack.game import NetHackEngine
from balrog_rag.envs.nethack.world import terrain as t
from balrog_rag.envs.nethack.world.known_world import UNSURE
from balrog_rag.envs.nethack.world.shared_player import player_of
from balrog_rag.envs.nethack.world.species import all_species
from balrog_rag.results.experiments import departure
from tests.bots.skills.made import ROOM, made
from tests.envs.support import nethack

TAKEN = {key for keys in nethack_actions("balrog").keys.values() for key in keys}
DUNGEON = [23, 24]
"""Where NLE's numbers have the branch and the level in it, which no text of BALROG shows."""


def keys_of(character: str, seed: int, limit: int, hide: bool = False) -> list[int]:
    engine = NetHackEngine(nethack(seed, character), None)
    engine.start()
    program = delver(engine.arrays)
    pressed = [next(program)]
    while len(pressed) < limit and not engine.press(pressed[-1]).ended:
        if hide:
            engine.arrays["blstats"][DUNGEON] = 77
        pressed.append(program.send(engine.arrays))
    engine.close()
    return pressed


@pytest.mark.parametrize(
    ("character", "seed"), [("arc-dwa-law-mal", 5), ("val-hum-neu-fem", 5), ("sam-hum-law-mal", 7)]
)
def test_only_balrogs_keys_are_pressed_and_the_dungeons_number_is_not_read(character: str, seed: int) -> None:
    pressed = keys_of(character, seed, 1200)
    assert set(pressed) <= TAKEN
    assert keys_of(character, seed, 1200, hide=True) == pressed


@pytest.mark.slow
def test_the_branch_is_learnt_from_the_games_own_text() -> None:
    """In games that visit the Mines, the branch that is remembered is the true one."""
    seen = set()
    for seed in range(6):
        engine = NetHackEngine(nethack(seed, "val-hum-neu-fem"), None)
        engine.start()
        player = player_of(engine.arrays)
        world, program = player.world, play(Bot(player))
        key = next(program)
        for _ in range(4000):
            if engine.press(key).ended:
                break
            key = program.send(engine.arrays)
            branch, truth = world.place.branch, int(engine.arrays["blstats"][23])
            if not world.over and branch != UNSURE and not world.unsure:
                assert branch == truth
                seen.add(branch)
        engine.close()
    assert {0, 2} <= seen


def test_elbereth_is_written_with_a_thing_and_a_broken_sign_of_more_is_seen() -> None:
    """The line about an Archeologist's pick-axe is so long that --More-- is broken between two lines."""
    engine = NetHackEngine(nethack(5, "arc-dwa-law-mal"), None)
    engine.start()
    player = player_of(engine.arrays)
    player.bare_hands = False
    pressed: list[int] = []
    assert _done(surviving.engrave(player), engine, pressed) == "wrote"
    assert ord("-") not in pressed
    assert "".join(map(chr, pressed)).count("Elbereth") == 1
    engine.close()


def _done(skill: Generator[int, Any, str], engine: NetHackEngine, pressed: list[int]) -> str:
    try:
        pressed.append(next(skill))
        while True:
            engine.press(pressed[-1])
            pressed.append(skill.send(engine.arrays))
    except StopIteration as stop:
        return str(stop.value)


@pytest.mark.parametrize(
    ("name", "race", "alignment", "told"),
    [
        ("gnome", "human", "neutral", False),  # humans and gnomes hate each other
        ("gnome", "gnomish", "neutral", True),
        ("dwarf", "dwarven", "lawful", True),
        ("dwarf", "human", "lawful", None),
        ("dwarf", "human", "neutral", False),
        ("jackal", "human", "neutral", False),  # always hostile
        ("shopkeeper", "orcish", "chaotic", True),
        ("hill orc", "orcish", "chaotic", None),
        ("hill orc", "elven", "chaotic", False),
        ("dwarf", "", "", None),
    ],
)
def test_who_is_peaceful_to_whom(name: str, race: str, alignment: str, told: bool | None) -> None:
    species = next(each for each in all_species() if each.name == name)
    assert species.peaceful_to(race, alignment) is told


def test_an_attack_on_one_that_may_be_peaceful_asks_first() -> None:
    with made(ROOM + "MONSTER:('h',\"dwarf\"),(5,2),peaceful,asleep\n") as game:
        player = game.player
        (dwarf,) = player.world.monsters
        game.run(lambda _: _beside(player, dwarf.place))
        assert dwarf.peaceful is None
        game.run(fighting.attack, dwarf)
        assert dwarf.peaceful
        assert not player.said("gets angry")


def _beside(player, place):
    from balrog_rag.bots.nethack.skills import moving

    return (yield from moving.go_to(player, t.NEAR[place]))


def test_programs_that_press_other_keys_are_named() -> None:
    def said(agent: str, **options: object) -> str:
        return departure({"agent": {"name": agent}, "env": {"options": options}})

    assert said("autoascend", actions="balrog") == (
        "agent=autoascend may press keys that env.actions=balrog does not take"
    )
    assert said("handcrafted", nle={"actions": "balrog"})
    assert said("autoascend", actions="full") == said("delver", actions="balrog") == ""
    assert said("no-such-player", actions="balrog") == ""
    assert not program_of("minihacker").unlisted_keys
