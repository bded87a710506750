"""NLE's arrays of a moment that is drawn by hand, sign by sign: a screen of exactly what a test is about."""

from typing import Any

import numpy as np
from nle import nethack as nh
from numpy.typing import NDArray

from balrog_rag.envs.nethack.observe import NUMBERS
from balrog_rag.envs.nethack.world import terrain as t

GROUND = {
    " ": t.STONE, "|": 1, "-": 2, ".": t.FLOOR, ":": t.DARK_FLOOR, "#": t.CORRIDOR, "o": t.DOORWAY, "'": 13,
    "+": 15, "<": t.STAIRS_UP, ">": t.STAIRS_DOWN, "_": t.ALTAR, "{": t.FOUNTAIN, "}": t.POOL, "^": t.PIT,
    "~": t.LAVA, "s": 45, "T": t.TREE,
}  # fmt: skip
"""Signs of a drawing, and the map symbols that they stand for; `s` is a squeaky board."""


def ground(sign: str) -> int:
    """The glyph of a sign's ground."""
    return int(nh.GLYPH_CMAP_OFF + GROUND[sign])


def monster(name: str, offset: str = "MON") -> int:
    """The glyph of a monster; `offset` PET, BODY, STATUE and so on for a pet, a corpse, a statue."""
    number = next(n for n in range(nh.NUMMONS) if nh.permonst(n).mname == name)
    return int(getattr(nh, f"GLYPH_{offset}_OFF") + number)


def thing(name: str) -> int:
    """The glyph of an object, by its true name."""
    number = next(n for n in range(nh.NUM_OBJECTS) if nh.objdescr.from_idx(n).oc_name == name)
    return int(nh.GLYPH_OBJ_OFF + number)


class Drawn:
    """Arrays that can be drawn on; the hero stands at the sign `@`, on floor."""

    def __init__(self, *rows: str, **numbers: int) -> None:
        self.arrays: dict[str, NDArray[Any]] = {
            "glyphs": np.full((t.HEIGHT, t.WIDTH), ground(" "), np.int16),
            "blstats": np.zeros(27, np.int64),
            "tty_chars": np.full((24, 80), ord(" "), np.uint8),
            "tty_cursor": np.zeros(2, np.uint8),
            "inv_strs": np.zeros((55, 80), np.uint8),
            "inv_letters": np.zeros(55, np.uint8),
            "message": np.zeros(256, np.uint8),
            "misc": np.zeros(3, np.int32),
        }
        self.number(max_hp=10, hp=10, depth=1, level=1, experience_level=1, turn=1, hunger=1)
        self.draw(*rows)
        self.number(**numbers)

    def draw(self, *rows: str) -> None:
        """Draw from the second row and column of the map on, so that everything has neighbours."""
        for y, row in enumerate(rows, 1):
            for x, sign in enumerate(row, 1):
                if sign == "@":
                    self.number(x=x, y=y)
                self.put(x, y, monster("human") if sign == "@" else ground(sign))

    def put(self, x: int, y: int, glyph: int) -> None:
        """Show a glyph at a square."""
        self.arrays["glyphs"][y, x] = glyph

    def number(self, **numbers: int) -> None:
        """Set numbers of the bottom lines by their names."""
        for name, value in numbers.items():
            self.arrays["blstats"][NUMBERS[name]] = value

    def say(self, message: str = "", question: bool = False, text: bool = False, page: bool = False) -> None:
        """Show a message in the top line; what the game waits for, if anything."""
        self.arrays["message"][:] = 0
        self.arrays["message"][: len(message)] = list(message.encode("latin-1"))
        self.arrays["tty_chars"][0] = ord(" ")
        self.arrays["tty_chars"][0, : len(message)] = list(message.encode("latin-1"))
        self.arrays["tty_cursor"][:] = 0, len(message)
        self.arrays["misc"][:] = question, text, page

    def carry(self, *items: str) -> None:
        """Let the inventory list these, from the letter a on."""
        self.arrays["inv_strs"][:], self.arrays["inv_letters"][:] = 0, 0
        for place, item in enumerate(items):
            self.arrays["inv_letters"][place] = ord("a") + place
            self.arrays["inv_strs"][place, : len(item)] = list(item.encode("latin-1"))


def at(x: int, y: int) -> int:
    """The square in a drawing's column and row, both counted from 0."""
    return t.spot(x + 1, y + 1)
