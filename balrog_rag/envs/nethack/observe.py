"""Convert NLE's raw arrays to the text that an agent reads, once per step."""

from collections.abc import Callable, Mapping
from hashlib import blake2b
from typing import Any, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from balrog_rag.contracts.data import Observation, Part
from balrog_rag.envs.nethack.actions import MORE_SIGN
from balrog_rag.envs.nethack.language import (
    text_blstats,
    text_cursor,
    text_glyphs,
    text_inventory,
    text_message,
)

Arrays: TypeAlias = Mapping[str, NDArray[Any]]

KEYS = ("glyphs", "blstats", "tty_chars", "tty_colors", "tty_cursor", "inv_strs", "inv_letters")
"""The arrays from which an observation is made."""


_HASHED = ("tty_chars", "tty_cursor", "glyphs", "blstats", "inv_strs", "inv_letters")
_MAX_HP = 11

NUMBERS = {
    "x": 0,
    "y": 1,
    "hp": 10,
    "max_hp": 11,
    "depth": 12,
    "branch": 23,
    "level": 24,
    "experience_level": 18,
    "experience": 19,
    "turn": 20,
    "score": 9,
    "gold": 13,
    "energy": 14,
    "max_energy": 15,
    "armor_class": 16,
    "hunger": 21,
    "encumbrance": 22,
    "condition": 25,
    "alignment": 26,
}
"""The numbers of NetHack's bottom lines, and their positions in NLE's arrays.

`depth` counts from the surface, `level` within the branch.
"""


def numbers_of(blstats: NDArray[Any]) -> dict[str, int]:
    """The bottom lines' numbers by name."""
    values = blstats.tolist()
    return {name: values[place] for name, place in NUMBERS.items()}


def is_live(arrays: Arrays) -> bool:
    """Whether the arrays show a game; NLE fills them with zeros once it is over."""
    return bool(arrays["blstats"][_MAX_HP] > 0)


def page_text(arrays: Arrays) -> str:
    """The message of a page about to be turned, ready to be followed by the next; empty for menus."""
    text = text_message(arrays["tty_chars"])
    return text.replace(MORE_SIGN, "\n") if MORE_SIGN in text else ""


class Observer:
    """Makes the observations of one game; every key press overwrites its arrays."""

    def __init__(
        self,
        arrays: Arrays,
        layout: str,
        draw: Callable[[NDArray[Any]], bytes] | None = None,
        map_rows: bool = False,
        apart: bool = False,
    ) -> None:
        """`draw` makes the picture of a glyph map for layout `image`.

        With `map_rows` the cursor's row counts from the map's first row, as skills do, and not from the
        screen's, as BALROG does. With `apart` a long item does not run on into the next line, as in BALROG.
        """
        self._first_row = 1 if map_rows else 0
        self._apart = apart
        self._arrays = arrays
        self._layout = layout
        self._draw = draw
        rows, columns = arrays["tty_chars"].shape
        self._lines = np.full((rows - 1, columns + 1), ord("\n"), np.uint8)
        self._hashed: list[Any] = [arrays[key] for key in _HASHED]
        self._last: Observation | None = None

    def message(self) -> str:
        """The game's message of this moment."""
        return text_message(self._arrays["tty_chars"])

    def observe(self, message: str) -> Observation:
        """Return the present moment, with its message as joined from several pages."""
        arrays = self._arrays
        glyphs, blstats = arrays["glyphs"], arrays["blstats"]
        surroundings = text_glyphs(glyphs, blstats), self._cursor()
        inventory = text_inventory(arrays["inv_strs"], arrays["inv_letters"], self._apart)
        self._last = self._made(message, surroundings, inventory, blstats)
        if self._draw:
            self._last = msgspec.structs.replace(self._last, pictures=(self._draw(glyphs),))
        return self._last

    def observe_end(self, message: str, live: NDArray[Any]) -> Observation:
        """Return the last screen of a game that is over, with its last surroundings and numbers."""
        if is_live(self._arrays) or self._last is None:
            return self.observe(message)
        last = self._last
        surroundings = last.text("language observation"), last.text("cursor")
        made = self._made(message, surroundings, last.text("inventory"), live)
        return msgspec.structs.replace(made, pictures=last.pictures)

    def _made(
        self, message: str, surroundings: tuple[str, str], inventory: str, blstats: NDArray[Any]
    ) -> Observation:
        hybrid = self._layout == "hybrid"
        parts = [
            Part("message", message),
            Part("language observation", surroundings[0]),
            Part("cursor", surroundings[1]),
            Part("map", self._map(), "history" if hybrid else "never"),
            *([] if hybrid else [Part("statistics", text_blstats(blstats), "now")]),
            Part("inventory", inventory, "now"),
        ]
        return Observation(tuple(parts), numbers_of(blstats), self._digest(message))

    def _cursor(self) -> str:
        arrays = self._arrays
        text = text_cursor(arrays["glyphs"], arrays["blstats"], arrays["tty_cursor"])
        if self._layout != "hybrid":
            return text
        row, column = arrays["tty_cursor"].tolist()
        return f"{text}\n(x={column}, y={row - self._first_row})"

    def _map(self) -> str:
        """The screen without its message line."""
        self._lines[:, :-1] = self._arrays["tty_chars"][1:]
        return self._lines.tobytes().decode("latin-1")

    def _digest(self, message: str) -> str:
        state = blake2b(message.encode("latin-1"), digest_size=16)
        for array in self._hashed:
            state.update(array)
        return state.hexdigest()
