"""Situations that broke players elsewhere: observation text, tracker and skills, in the real game."""

import re

import pytest

from balrog_rag.contracts.outcome import Outcome
from balrog_rag.envs.nethack.engine import KeyPress
from balrog_rag.envs.nethack.world import known_world as w
from tests.bots.netplay.made import ROOM
from tests.bots.plan.debug_game import DebugGame, debug_game
from tests.bots.plan.made_plan import planned
from tests.bots.plan.test_plan_items import RIVER

MAP_THE_LEVEL, LEVEL_TELEPORT = 6, 22
ENDS = ("interrupted by ", "failed: ")


def status(game: DebugGame) -> str:
    """The last line of the map."""
    return game.part("map").rstrip().splitlines()[-1]


def test_rogue_level() -> None:
    """There `%` is a staircase, `+` a doorway, `:` food, and monsters are capital letters."""
    with debug_game() as game:
        assert "older, more primitive world" in game.teleport("17")
        game.press(MAP_THE_LEVEL)
        for stairs in ("stairs down", "stairs up"):
            found = re.search(rf"{stairs} \((\d+), (\d+)\)", game.part("memory"))
            assert found
            assert game.part("map").splitlines()[int(found[2])][int(found[1])] == "%"
        assert "stairs down" in game.part("language observation")
        game.create("kobold")
        assert "kobold" in game.part("close monsters")
        assert "kobold" not in game.part("rooms")
        assert game.do("strike").startswith(("no enemy", *ENDS, "less", "nobody"))
        assert "closed door" not in game.part("exploration")
        x, _ = game.here
        game.do("explore_level")
        game.do("explore_level")
        assert game.here[0] != x


def test_polymorphed_hero() -> None:
    with debug_game() as game:
        game.press("#polyself\r", "xorn\r")
        assert game.part("cursor").startswith("Yourself a xorn")
        assert "xorn" not in game.part("close monsters") + game.part("rooms") + game.part("events")
        assert f"HP:{game.number('hp')}({game.number('max_hp')}) " in status(game)  # those of the xorn
        assert all(monster.place != game.world.body.place for monster in game.world.monsters)
        assert not game.do("move_to 5 6").startswith("failed")
        assert "Teleported" not in game.part("events")


@pytest.mark.parametrize(
    ("keys", "label", "name"),
    [("?\r>>N", "Earth ", "Earth (Elemental Planes), here"), ("?\r>y", "Home 1 ", "Home 1 (Quest), here")],
)
def test_plane_and_home_labels(keys: str, label: str, name: str) -> None:
    """The bottom line has no `Dlvl` there; level, depth and hit points are read all the same."""
    with debug_game() as game:
        hp = game.number("hp")
        game.press(LEVEL_TELEPORT, keys)
        assert status(game).startswith(label)
        assert "Dlvl" not in status(game)
        assert game.part("memory").startswith(name)
        assert game.number("max_hp") == hp
        assert f"HP: {game.number('hp')}/" in game.part("statistics")
        assert game.do("recall").startswith(name)
        assert game.do("rest 2")


def test_engulfed() -> None:
    with debug_game() as game:
        game.create("fog cloud")
        for _ in range(60):
            if game.world.swallowed:
                break
            game.press("s")
        assert game.world.swallowed
        assert game.world.monsters == []
        rooms = game.part("rooms")
        assert game.do("explore_level")
        assert game.do("play_on 30")
        assert not game.world.swallowed
        assert "room" in rooms


def test_underwater() -> None:
    game = planned(RIVER + 'OBJECT:(\'"\',"amulet of magical breathing"),(2,2)\n', "sam-hum-law-fem")
    game.do("collect amulet")
    letter = next(line[0] for line in game.part("inventory").splitlines() if "amulet" in line)
    game.do(f"use {letter}")
    x, y = game.here
    assert game.do(f"move_to {x + 2} {y}").startswith("arrived")
    terrain = game.part("rooms")
    game.do("press_key l")
    assert "water" in game.part("message")
    assert game.here == (x + 3, y)
    assert "You are at " in game.part("you")
    assert game.do("explore_level")
    assert game.do("rest 2")
    assert terrain.startswith("You are in room")


def test_hallucination() -> None:
    """Every monster looks like another one each turn: that is no news, and fights go on."""
    with debug_game() as game:
        letter = game.wish("3 cursed potions of hallucination")
        assert "you are Hallu now" in game.do(f"use {letter}")
        game.create("lichen")
        assert game.world.body.condition & w.HALLUCINATING
        assert not game.do("strike").startswith("interrupted by monster")
        assert "Hallucinating" in game.part("statistics")
        assert not game.do("explore_level").startswith("interrupted by monster")


def test_blindness() -> None:
    with debug_game() as game:
        letter = game.wish("blindfold")
        assert "you are Blind now" in game.do(f"use {letter}")
        assert "Condition: Blind" in game.part("statistics")
        game.create("newt")
        for action in ("strike", "explore_level", "hold_out 5", "identify", "play_on 5"):
            assert game.do(action), action
        game.do(f"use {letter}")
        assert "Condition: Blind" not in game.part("statistics")


def letters(text: str) -> str:
    """A text without white space."""
    return "".join(text.split())


LONG = "an extraordinarily long name that fills half of a line"


def test_very_long_messages_and_names() -> None:
    with debug_game() as game:
        game.press("#name\r", "i", "d", LONG, 13)
        line = next(line for line in game.part("inventory").splitlines() if line.startswith("d: "))
        assert LONG[:39] in line  # NLE cuts it there
        assert "healing" not in line  # the next item has a line of its own
        item = next(item for item in game.world.items if item.letter == "d")
        assert LONG[:10] not in item.name
        game.do("press_key d")
        said = game.do("press_key d") + game.part("message")
        assert letters(LONG) in letters(game.part("message"))  # over two rows and two pages
        assert "--More--" not in said
        assert game.do("rest 1")
        assert letters(LONG) not in letters(game.part("message"))


def test_a_page_that_no_key_turns_ends_the_game() -> None:
    with debug_game(no_progress=150) as game:
        pressed = list[int]()

        def ignored(key: int) -> KeyPress:
            pressed.append(key)
            return KeyPress(0.0)

        game._pressable.press(LEVEL_TELEPORT)
        for key in "?\r>>N":
            game._pressable.press(ord(key))
        assert "--More--" in game._pressable.painted().text
        game._pressable.inner._engine.press = ignored
        assert "failed" in game.do("rest 5") or game.last.ended
        for _ in range(3):
            if game.last.ended:
                break
            game.do("explore_level")
        assert game.last.ended == Outcome.NO_PROGRESS
        assert len(pressed) < 400


def test_menus_of_several_pages() -> None:
    things = "".join(f"OBJECT:('*',\"{gem}\"),(5,2)\n" for gem in GEMS)
    game = planned(ROOM + things)
    assert "you carry now" in game.do("collect gem")
    carried = [line for line in game.part("inventory").splitlines() if "gem" in line or "stone" in line]
    assert len(carried) >= 20
    game.do("press_key i")
    assert "(1 of 2)" in game.part("message")
    assert "menu" in game.part("open question")
    game.do("rest 1")
    assert game.part("open question") == ""


GEMS = (
    *("dilithium crystal", "diamond", "ruby", "jacinth", "sapphire", "black opal", "emerald", "turquoise"),
    *("citrine", "aquamarine", "amber", "topaz", "jet", "opal", "chrysoberyl", "garnet", "amethyst"),
    *("jasper", "fluorite", "obsidian", "agate", "jade"),
)


def test_renamed_items_and_pets() -> None:
    with debug_game() as game:
        game.press("#name\r", "i", "a", "pick-axe\r")
        assert "named pick-axe" in game.part("inventory")
        assert "carry nothing to dig with" in game.do("dig_down")
        x, y = game.here
        keys = {(1, 0): "l", (0, 1): "j", (0, -1): "k", (1, 1): "n", (1, -1): "u"}
        pet = next(monster for monster in game.world.monsters if monster.tame)
        dx, dy = pet.place % 79 - x, pet.place // 79 - y
        game.press("#name\r", "m", keys[dx, dy], ".", "minotaur\r")
        assert "minotaur" in game.press(";", keys[dx, dy], ".")
        assert "minotaur" not in game.part("close monsters")
        assert "tame little dog" in game.part("close monsters")
        assert game.do("strike") == "no enemy is in sight"
