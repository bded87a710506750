"""Solutions of NetHack's eight Sokoban maps, and the pushes that come next at any point of one.

Places are columns and rows of the screen, with the message line as row 0. A step names a boulder and its
pushes: `41,9 l2` is two pushes to the right. The knowledge base has the same solutions as texts.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from balrog_rag.envs.nethack.world import terrain as t

_MOVES = {"h": -1, "l": 1, "k": -t.WIDTH, "j": t.WIDTH}


class SokobanStep(NamedTuple):
    """One boulder's pushes in a row, as differences of squares."""

    boulder: int
    moves: list[int]


class SokobanMap(NamedTuple):
    """A map's boulders and holes, and the steps of its solution."""

    boulders: str
    holes: str
    solution: str

    def steps(self) -> Iterator[SokobanStep]:
        """Return the steps of the solution."""
        for step in self.solution.split("; "):
            place, pushes = step.split(" ")
            runs = re.findall(r"([hjkl])(\d+)", pushes)
            yield SokobanStep(_place(place), [_MOVES[way] for way, count in runs for _ in range(int(count))])

    def next_steps(self, boulders: frozenset[int], holes: frozenset[int]) -> Iterator[SokobanStep]:
        """Return what is left of each step at which the level looks like this, in the solution's order."""
        left, open_holes = set(_places(self.boulders)), set(_places(self.holes))
        for boulder, moves in self.steps():
            for number, move in enumerate(moves):
                if left == boulders and open_holes == holes:
                    yield SokobanStep(boulder, moves[number:])
                left.remove(boulder)
                boulder += move
                if boulder in open_holes:
                    open_holes.remove(boulder)
                else:
                    left.add(boulder)


def next_steps(boulders: frozenset[int], holes: frozenset[int]) -> list[SokobanStep]:
    """Return the steps that may come next, the furthest first: boulders can come back to where they stood."""
    return [step for each in MAPS.values() for step in each.next_steps(boulders, holes)][::-1]


def _place(text: str) -> int:
    column, row = text.split(",")
    return t.spot(int(column), int(row) - 1)


def _places(text: str) -> frozenset[int]:
    return frozenset(map(_place, text.split(" ")))


MAPS = {
    "soko4-2": SokobanMap(
        ("37,8 38,8 38,9 39,9 39,14 40,14 41,11 41,14 42,9 42,14 43,8 44,9"),
        ("33,8 33,9 33,10 33,11 33,12 33,13 35,14 36,14 37,14 38,14"),
        (
            "37,8 j1; 38,8 l4; 41,11 j2; 40,14 j1; 39,14 h1; 41,13 l2; 41,14 k1h1j1h3; 43,13 "
            "h3j1h4; 42,14 h7; 43,8 k1; 42,9 l1j1h2j3h1j1h7k1; 44,9 h1j1h2j3h1j1h7k2; 42,8 "
            "l2j1h3j4h1j1h7k3; 37,9 k1l7j1h3j4h1j1h7k4; 38,9 k1l6j1h3j4h1j1h7k5; 39,9 "
            "k1l5j1h3j4h1j1h7k6"
        ),
    ),
    "soko4-1": SokobanMap(
        ("34,8 34,9 40,13 40,16 41,9 41,14 41,15 42,8 42,10 42,16"),
        ("34,14 34,15 35,12 36,12 36,16 37,12 37,16 38,16 39,16"),
        (
            "41,9 l2; 42,10 j3; 41,15 h1; 40,16 h1; 42,16 h4; 42,13 j3h5; 42,8 j8h6; 34,8 "
            "l2j1l6j7h8k1; 34,9 l8j7h8k2; 41,14 j2h7k4l1; 40,15 j1h6k4l2; 40,13 j3h6k4l3"
        ),
    ),
    "soko3-2": SokobanMap(
        ("28,9 28,11 28,12 29,14 29,17 30,11 31,12 31,15 32,13 33,14 33,16 34,9 35,10 35,11 36,15 36,16"),
        ("38,16 39,16 40,16 41,16 42,16 43,16 44,16 45,16 46,16 47,16 48,16 49,16"),
        (
            "29,17 l3k1; 36,16 l2; 33,14 h1; 35,10 l1; 36,15 h1; 35,11 k1; 35,15 l1j1l3; 33,16 "
            "j1h5l7k2l1j1l4; 32,16 l1j1l2k2l1j1l5; 30,11 h1; 31,12 l2j5l2k2l1j1l6; 28,12 "
            "l5j5l2k2l1j1l7; 28,11 j1l5j5l2k2l1j1l8; 28,9 j3l5j5l2k2l1j1l9; 34,9 "
            "j2h2j1l1j5l2k2l1j1l10; 29,11 l3j1l1j5l2k2l1j1l11; 32,14 h1; 32,13 k1l1j5l2k2l1j1l12; "
            "31,14 h1; 31,15 j2l4k2l1j1l13"
        ),
    ),
    "soko3-1": SokobanMap(
        (
            "26,13 26,15 27,8 27,12 27,13 27,14 27,15 28,8 28,15 30,8 30,9 30,13 30,15 31,8 32,13 "
            "32,16 33,14 33,15 34,13 34,16"
        ),
        ("36,16 37,16 38,16 39,16 40,16 41,16 42,16 43,16 44,16 45,16 46,16 47,16 48,16 49,16 50,16"),
        (
            "30,9 h3; 27,14 l5; 33,15 l1; 34,16 l2; 32,16 l5; 33,14 j2l5; 32,13 l1j3l6; 32,14 "
            "l1j2l7; 26,13 j1l7j2l8; 27,9 h1j5l7j2l9; 27,8 j1h1j5l7j2l10; 28,8 j1l3h5j5l7j2l11; "
            "30,8 j1h4j5l7j2l12; 31,8 h1j1h4j5l7j2l13; 27,12 h1k3j5l7j2l14; 27,13 l1j1l5j2l15; "
            "30,13 j1h3l6j2l16; 26,15 k1l7j2l17"
        ),
    ),
    "soko2-2": SokobanMap(
        ("32,10 33,10 33,13 34,8 34,9 34,13 35,9 35,11 35,16 35,17 36,12 36,15 37,9 37,13 38,9 39,12"),
        ("37,17 38,17 39,17 40,17 41,17 42,17 43,17 44,17 45,17 46,17 47,17"),
        (
            "36,15 k2; 35,17 l2; 34,13 j4l4; 33,10 j2l1j5l5; 32,10 l1j2l1j5l6; 33,13 l1j4l7; 35,16 "
            "l1j1l6; 34,8 l2; 35,9 j1; 34,9 h1j3l1j4l2j1l7; 38,9 j2; 35,11 h2j1l1j4l2j1l8; 35,10 "
            "j1h2j1l1j4l2j1l9; 36,8 h1j3h2j1l1j4l2j1l10; 37,9 j1h2j1h2j1l1j4l2j1l11"
        ),
    ),
    "soko2-1": SokobanMap(
        ("32,8 32,13 32,14 33,8 33,15 35,9 35,13 36,12 37,8 37,9 38,8 40,9 41,9"),
        ("38,15 39,15 40,15 41,15 42,15 43,15 44,15 45,15 46,15 47,15"),
        (
            "33,15 h1l6; 38,8 j3; 36,12 j3l3; 32,8 j4l1j3h1l8; 33,8 h1j4l1j3h1l9; 32,13 l1j2h1l10; "
            "35,13 j2l8; 32,14 j1l12; 35,9 k2; 37,9 h3k1h2j4l1j3l12; 37,8 j1h3k1h2j4l1j3l13; 38,11 "
            "l2h3k2h3k1h2j4l1j3l14"
        ),
    ),
    "soko1-2": SokobanMap(
        (
            "28,10 28,12 29,10 29,13 29,14 30,8 30,11 30,13 31,11 31,12 31,14 32,16 33,18 36,11 "
            "36,12 37,9 37,11 37,14 38,10 38,13"
        ),
        ("31,5 32,5 33,5 34,5 35,5 36,5 37,5 38,5 39,5 40,5 41,5 42,5 43,5 44,5 45,5 46,5 47,5 48,5"),
        (
            "33,18 l1; 28,12 k1; 29,10 k1; 30,8 k3l1; 30,11 k6l2; 30,13 k8l3; 29,14 l1k9l4; 29,13 "
            "l1k8l5; 28,10 h1; 29,9 l1k4l6; 34,18 l2k4; 37,14 k1; 38,13 k2; 37,11 k1; 36,11 h3; "
            "31,12 h1k7l7; 33,11 j1h3k7l8; 31,14 k2h1k7l9; 32,16 l1k1h2k3h1k7l10; 31,11 j1h1k7l11; "
            "37,13 j1; 36,12 k1h3j1h3k7l12; 37,14 k2h1k1h3j1h3k7l13; 36,14 k3h3j1h3k7l14; 37,9 l1; "
            "37,10 j2h1k1h3j1h3k7l15; 38,9 h1j3h1k1h3j1h3k7l16; 38,10 h2j1h3j1h3k7l17; 38,11 "
            "k1h2j1h3j1h3k7l18"
        ),
    ),
    "soko1-1": SokobanMap(
        (
            "29,9 29,16 29,18 30,11 30,12 30,14 31,9 31,16 32,11 32,14 33,9 33,15 34,14 35,9 35,11 "
            "35,16 37,9 37,11"
        ),
        ("34,5 35,5 36,5 37,5 38,5 39,5 40,5 41,5 42,5 43,5 44,5 45,5 46,5 47,5 48,5 49,5"),
        (
            "30,11 h2; 29,18 l2; 33,15 l3; 31,16 l2j3h4k1; 29,16 l4j3h5; 36,15 h6; 34,14 l1; 30,12 "
            "l1j3; 32,11 h2; 35,11 h3; 32,14 l1; 35,9 l1; 33,9 l1j3l1; 32,11 l2k3h1k3l1; 30,11 "
            "l4k3h1k3l2; 37,11 h4l1k3h1k3l3; 28,11 l6k3h1k3l4; 31,15 k4l3k3h1k3l5; 30,14 "
            "l1k3l3k3h1k3l6; 33,14 h2k3l3k3h1k3l7; 30,15 l1k4l3k3h1k3l8; 35,14 h4k3l3k3h1k3l9; "
            "35,12 h4j3k4l3k3h1k3l10; 31,18 l2k3h2k4l3k3h1k3l11; 29,18 l4k3h2k4l3k3h1k3l12; 28,19 "
            "l1k1l4k3h2k4l3k3h1k3l13; 31,9 l3j3h3j3k4l3k3h1k3l14; 29,9 l5j3h3j3k4l3k3h1k3l15; 35,16"
            " h2j3h4k1l4k3h2k4l3k3h1k3l16"
        ),
    ),
}
"""By the names of NetHack's own level file."""
