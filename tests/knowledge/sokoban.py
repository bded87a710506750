"""The maps of nle's own Sokoban level file, the guide's solutions, and Sokoban's rules."""

import re
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import NamedTuple

from balrog_rag.knowledge.corpus.embedded import guide

Place = tuple[int, int]
STEPS = {"east": (1, 0), "west": (-1, 0), "south": (0, 1), "north": (0, -1)}
CORNERS = {
    "soko4-1": (32, 6),
    "soko4-2": (32, 6),
    "soko3-1": (24, 6),
    "soko3-2": (26, 6),
    "soko2-1": (30, 6),
    "soko2-2": (30, 6),
    "soko1-1": (26, 4),
    "soko1-2": (26, 4),
}
"""The screen position of each map's first column and row, as seen in NetHack's wizard mode."""


class Level(NamedTuple):
    drawn: str
    floor: frozenset[Place]
    boulders: frozenset[Place]
    holes: frozenset[Place]
    start: Place
    trap: str


@cache
def levels() -> dict[str, Level]:
    import nle

    text = (Path(nle.__file__).parent / "nethackdir" / "dat" / "sokoban.des").read_text(encoding="latin-1")
    return {
        found[1]: _level(part) for part in text.split("MAZE:")[1:] if (found := re.match(r'"(.+?)"', part))
    }


def _level(part: str) -> Level:
    found = re.search(r"^MAP\n(.*?)\nENDMAP", part, re.MULTILINE | re.DOTALL)
    start = re.search(r"BRANCH:\((\d+),(\d+)", part) or re.search(r"STAIR:\((\d+),(\d+)\),down", part)
    assert found
    assert start
    floor = {
        (x, y) for y, row in enumerate(found[1].split("\n")) for x, sign in enumerate(row) if sign == "."
    }
    return Level(
        found[1],
        frozenset(floor),
        frozenset(_places(r'"boulder"\),\((\d+),(\d+)\)', part)),
        frozenset(_places(r'TRAP:"(?:pit|hole)",\((\d+),(\d+)\)', part)),
        (int(start[1]), int(start[2])),
        "pit" if 'TRAP:"pit"' in part else "hole",
    )


def _places(pattern: str, text: str) -> list[Place]:
    return [(int(x), int(y)) for x, y in re.findall(pattern, text)]


_SOLUTIONS = "sokoban-solutions/"


@cache
def solutions() -> dict[str, list[tuple[Place, list[str]]]]:
    """The steps of each map, its parts joined in order: a boulder's place, and its pushes."""
    steps: dict[str, list[tuple[Place, list[str]]]] = defaultdict(list)
    for entry in guide.entries():
        if entry.path.startswith(_SOLUTIONS):
            for x, y, pushes in re.findall(
                r"\((\d+),(\d+)\) ((?:(?:east|west|north|south) \d+(?:, )?)+)", entry.text
            ):
                words = re.findall(r"(\w+) (\d+)", pushes)
                each = [word for word, count in words for _ in range(int(count))]
                steps[entry.path.removeprefix(_SOLUTIONS).rsplit("-", 1)[0]].append(((int(x), int(y)), each))
    return dict(steps)


class Game:
    """A player, boulders and holes; a move that the rules forbid is an AssertionError."""

    def __init__(self, level: Level) -> None:
        self.floor, self.player = level.floor, level.start
        self.boulders, self.holes = set(level.boulders), set(level.holes)

    def push(self, boulder: Place, way: str) -> Place:
        (x, y), (right, down) = boulder, STEPS[way]
        assert boulder in self.boulders
        assert (x - right, y - down) in self.reached(), "the player cannot get behind the boulder"
        target = (x + right, y + down)
        assert target in self.floor
        assert target not in self.boulders
        self.boulders.remove(boulder)
        if target in self.holes:
            self.holes.remove(target)
        else:
            self.boulders.add(target)
        self.player = boulder
        return target

    def walk(self, goal: Place) -> list[str]:
        """The straight steps that lead there; moves the player."""
        ways: dict[Place, list[str]] = {self.player: []}
        todo = [self.player]
        for x, y in todo:
            for way, (right, down) in STEPS.items():
                place = (x + right, y + down)
                if place not in ways and self._free(place) and place not in self.holes:
                    ways[place] = [*ways[x, y], way]
                    todo.append(place)
        self.player = goal
        return ways[goal]

    def reached(self) -> set[Place]:
        """The cells that the player can reach, not over holes or diagonally between two boulders or walls."""
        seen, todo = {self.player}, [self.player]
        while todo:
            x, y = todo.pop()
            for right in (-1, 0, 1):
                for down in (-1, 0, 1):
                    place = (x + right, y + down)
                    squeezed = (
                        right and down and not (self._free((x + right, y)) or self._free((x, y + down)))
                    )
                    if place not in seen and self._free(place) and place not in self.holes and not squeezed:
                        seen.add(place)
                        todo.append(place)
        return seen

    def _free(self, place: Place) -> bool:
        return place in self.floor and place not in self.boulders
