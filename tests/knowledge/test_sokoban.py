"""Every solution of the guide, on the maps of nle's level file: by the rules, and in the game itself."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.bots.skills.made import opened
from tests.knowledge.sokoban import CORNERS, STEPS, Game, Level, Place, levels, solutions

KEYS = {"east": "l", "west": "h", "south": "j", "north": "k"}
HUNGRY = 2


@pytest.mark.parametrize("name", sorted(CORNERS))
def test_the_solution_fills_every_hole(name: str) -> None:
    game, (left, top) = Game(levels()[name]), CORNERS[name]
    for (x, y), pushes in solutions()[name]:
        boulder = (x - left, y - top)
        for way in pushes:
            boulder = game.push(boulder, way)
    assert not game.holes


def test_the_maps_are_all_there_and_the_rules_hold() -> None:
    assert set(levels()) == set(CORNERS) == set(solutions())
    game = Game(levels()["soko4-1"])
    with pytest.raises(AssertionError):
        game.push((2, 2), "north")
    with pytest.raises(AssertionError):
        game.push((10, 2), "south")


class Played:
    """The game itself on one of the maps, without other creatures; the model of it controls the player."""

    def __init__(self, task: Any, level: Level, corner: Place) -> None:
        self._game, self._corner, self.model = task.nethack, corner, Game(level)
        self._arrays = task.nethack._obs_buffers

    def push(self, boulder: Place, way: str) -> Place:
        (x, y), (right, down) = boulder, STEPS[way]
        for step in self.model.walk((x - right, y - down)):
            self._move(step)
        self._move(way)
        return self.model.push(boulder, way)

    def seen(self, sign: str) -> set[Place]:
        """The screen positions of this symbol, relative to the map's corner."""
        left, top = self._corner
        rows = [bytes(row).decode("latin-1") for row in self._arrays["tty_chars"]][1:22]
        found = ((x, y) for y, row in enumerate(rows, 1) for x, each in enumerate(row) if each == sign)
        return {(x - left, y - top) for x, y in found}

    def _move(self, way: str) -> None:
        if self._arrays["blstats"][21] >= HUNGRY:
            self._press("e")
            self._press(self._ration())
        self._press(KEYS[way])

    def _ration(self) -> str:
        letters, words = self._arrays["inv_letters"], self._arrays["inv_strs"]
        return next(
            chr(letter) for letter, word in zip(letters, words, strict=True) if b"food ration" in bytes(word)
        )

    def _press(self, key: str) -> None:
        self._game.step(ord(key))
        while b"--More--" in bytes(self._arrays["tty_chars"]):
            self._game.step(ord("\r"))


@contextmanager
def played(name: str) -> Iterator[Played]:
    """The map in the game itself, with boulders and holes, without monsters, items and doors."""
    level = levels()[name]
    with opened(described(level), "arc-dwa-law-fem", 1) as task:
        yield Played(task, level, CORNERS[name])


def described(level: Level) -> str:
    x, y = level.start
    return "\n".join(
        [
            "MAZE:\"mylevel\",' '",
            "FLAGS:noteleport,premapped,solidify",
            "GEOMETRY:center,center",
            f"MAP\n{level.drawn.replace('+', '|')}\nENDMAP",
            f"BRANCH:({x},{y},{x},{y}),(0,0,0,0)",
            'REGION:(0,0,75,19),lit,"ordinary"',
            *(f"OBJECT:('`',\"boulder\"),({x},{y})" for x, y in sorted(level.boulders)),
            *(f'TRAP:"{level.trap}",({x},{y})' for x, y in sorted(level.holes)),
            "",
        ]
    )


@pytest.mark.parametrize("name", sorted(CORNERS))
def test_the_solution_works_in_the_game_itself(name: str) -> None:
    left, top = CORNERS[name]
    with played(name) as game:
        for (x, y), pushes in solutions()[name]:
            boulder = (x - left, y - top)
            for way in pushes:
                boulder = game.push(boulder, way)
            assert game.seen("`") == game.model.boulders
            assert game.seen("^") == game.model.holes
        assert not game.model.holes
