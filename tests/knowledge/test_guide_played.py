"""The guide's statements on Elbereth and on doorways, played in the game."""

import re

import pytest

from tests.bots.skills.made import ROOM, MadeGame, made

JACKALS = """MONSTER:('d',"jackal"),(5,2),hostile
MONSTER:('d',"jackal"),(6,3),hostile
"""
HOUSE = """MAP
-----------
|....|....|
|....+....|
|....|....|
-----------
ENDMAP
REGION:(0,0,10,4),lit,"ordinary"
DOOR:open,(5,2)
BRANCH:(4,1,4,1),(0,0,0,0)
MONSTER:('d',"jackal"),(5,2),hostile
"""
"""The player starts diagonally next to an open door, in which a jackal stands."""
RETURN = 13
NEXT = {
    "h": (-1, 0),
    "j": (0, 1),
    "k": (0, -1),
    "l": (1, 0),
    "y": (-1, -1),
    "u": (1, -1),
    "b": (-1, 1),
    "n": (1, 1),
}


def press(game: MadeGame, keys: str) -> str:
    """Type keys and turn all pages; return everything shown."""
    shown = ""
    for key in keys:
        game._game.step(ord(key))
    while True:
        screen = bytes(game.arrays["tty_chars"].reshape(-1)).decode("latin-1")
        shown += screen
        if "--More--" not in screen:
            return shown
        game._game.step(RETURN)


def written(game: MadeGame) -> str:
    found = re.search(r'You read: "([^"]*)"', press(game, ":"))
    return found[1] if found else ""


def engraved(game: MadeGame) -> str:
    assert "What do you want to write in the dust here?" in press(game, "E-")
    press(game, "Elbereth" + chr(RETURN))
    return written(game)


@pytest.mark.parametrize("seed", [1, 2, 4])
def test_scaring_does_not_wear_the_word_out(seed: int) -> None:
    with made(ROOM + JACKALS, "val-hum-neu-fem", seed) as game:
        assert engraved(game) == "Elbereth"
        before = int(game.arrays["blstats"][10])
        for _ in range(40):
            press(game, "s")
        assert written(game) == "Elbereth"
        assert int(game.arrays["blstats"][10]) == before


def beside(game: MadeGame) -> str:
    """The direction of a jackal next to the player, or nothing."""
    x, y = (int(number) for number in game.arrays["blstats"][:2])
    for key, (right, down) in NEXT.items():
        if chr(game.arrays["tty_chars"][y + 1 + down][x + right]) == "d":
            return key
    return ""


def test_a_blow_ruins_the_word() -> None:
    with made(ROOM + JACKALS, "val-hum-neu-fem", 1) as game:
        assert engraved(game) == "Elbereth"
        for _ in range(60):
            if direction := beside(game):
                break
            press(game, "s")
        assert direction
        press(game, "F" + direction)
        assert written(game) != "Elbereth"


def test_the_word_in_the_dust_smudges_with_time_alone() -> None:
    """Nobody else is there, and the player does not move."""
    with made(ROOM, "val-hum-neu-fem", 1) as game:
        assert engraved(game) == "Elbereth"
        for _ in range(40):
            press(game, "20s")
            if written(game) != "Elbereth":
                return
        pytest.fail("the word held for 800 turns")


def test_blows_cross_a_doorway_diagonally_and_steps_do_not() -> None:
    with made(HOUSE, "val-hum-neu-fem", 1) as game:
        assert beside(game) == "n"
        shown = press(game, "ssss")
        assert re.search(r"The jackal (bites|misses)", shown)
        assert beside(game) == "n", "it stayed in the doorway"
        shown = ""
        for _ in range(30):
            if not beside(game):
                break
            shown += press(game, "Fn")
        assert "You kill the jackal" in shown
        assert "You can't move diagonally into an intact doorway" in press(game, "n")


POTIONS_AND_A_PIT = """BRANCH:(1,1,1,1),(0,0,0,0)
OBJECT:('!',"gain level"),(1,1),blessed,quantity:9
TRAP:"pit",(2,1)
"""
HP, MAX_HP, LEVEL, TURN = 10, 11, 18, 20


def test_at_level_10_one_point_comes_every_third_turn() -> None:
    """Though a Valkyrie's constitution is far above 12."""
    with made(ROOM + POTIONS_AND_A_PIT, "val-hum-neu-fem", 2) as game:
        stats = game.arrays["blstats"]
        press(game, ",")
        (potions,) = (
            chr(letter)
            for letter, name in zip(game.arrays["inv_letters"], game.arrays["inv_strs"], strict=True)
            if b"potions" in bytes(name)
        )
        for _ in range(9):
            press(game, "q" + potions)
        assert stats[LEVEL] == 10
        press(game, "l")
        began, before = int(stats[TURN]), int(stats[HP])
        assert stats[MAX_HP] - before >= 3
        while stats[HP] < stats[MAX_HP]:
            thirds = int(stats[TURN]) // 3 - began // 3
            assert stats[HP] - before == thirds
            press(game, "s")
