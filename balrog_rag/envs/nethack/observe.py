"""From NLE's raw arrays to the text an agent reads: one hand, once a step."""

from collections.abc import Callable, Mapping
from hashlib import blake2b
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from balrog_rag.contracts.data import Observation, Stats
from balrog_rag.envs.nethack.language import (
    text_blstats,
    text_cursor,
    text_glyphs,
    text_inventory,
    text_message,
)

Arrays: TypeAlias = Mapping[str, NDArray[Any]]

KEYS = ("glyphs", "blstats", "tty_chars", "tty_colors", "tty_cursor", "inv_strs", "inv_letters")
"""The arrays an observation is made from."""

MORE_SIGN = "--More--"

_HASHED = ("tty_chars", "tty_cursor", "glyphs", "blstats", "inv_strs", "inv_letters")
_MAX_HP = 11

# Where NLE's bottom-line numbers stand, in the order of Stats.
_STATS = (0, 1, 10, 11, 12, 23, 24, 18, 19, 20, 9, 13, 14, 15, 16, 21, 22, 25, 26)


def stats_of(blstats: NDArray[Any]) -> Stats:
    """The bottom lines' numbers by name."""
    values = blstats.tolist()
    return Stats(*[values[place] for place in _STATS])


def is_live(arrays: Arrays) -> bool:
    """Whether the arrays show a game; NLE fills them with zeros once it is over."""
    return bool(arrays["blstats"][_MAX_HP] > 0)


def page_text(arrays: Arrays) -> str:
    """The message of a page about to be turned, ready to be followed by the next; menus say nothing."""
    text = text_message(arrays["tty_chars"])
    return text.replace(MORE_SIGN, "\n") if MORE_SIGN in text else ""


class Observer:
    """Makes observations of one game; its arrays are filled anew by every key press."""

    def __init__(
        self, arrays: Arrays, layout: str, draw: Callable[[NDArray[Any]], bytes] | None = None
    ) -> None:
        """`draw` makes the picture of a glyph map for layout `image`."""
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
        """The present moment, with its message as joined from several pages."""
        arrays = self._arrays
        glyphs, blstats = arrays["glyphs"], arrays["blstats"]
        self._last = Observation(
            message=message,
            language=text_glyphs(glyphs, blstats),
            cursor=self._cursor(),
            map=self._map(),
            inventory=text_inventory(arrays["inv_strs"], arrays["inv_letters"]),
            statistics=text_blstats(blstats),
            stats=stats_of(blstats),
            digest=self._digest(message),
            layout=self._layout,
            image=self._draw(glyphs) if self._draw else None,
        )
        return self._last

    def observe_end(self, message: str, live: NDArray[Any]) -> Observation:
        """The last screen of a game that is over, with the surroundings and numbers it was left with."""
        if is_live(self._arrays) or self._last is None:
            return self.observe(message)
        last = self._last
        return Observation(
            message=message,
            language=last.language,
            cursor=last.cursor,
            map=self._map(),
            inventory=last.inventory,
            statistics=text_blstats(live),
            stats=stats_of(live),
            digest=self._digest(message),
            layout=self._layout,
            image=last.image,
        )

    def _cursor(self) -> str:
        arrays = self._arrays
        text = text_cursor(arrays["glyphs"], arrays["blstats"], arrays["tty_cursor"])
        if self._layout != "hybrid":
            return text
        row, column = arrays["tty_cursor"].tolist()
        return f"{text}\n(x={column}, y={row})"

    def _map(self) -> str:
        """The screen without its message line."""
        self._lines[:, :-1] = self._arrays["tty_chars"][1:]
        return self._lines.tobytes().decode("latin-1")

    def _digest(self, message: str) -> str:
        state = blake2b(message.encode("latin-1"), digest_size=16)
        for array in self._hashed:
            state.update(array)
        return state.hexdigest()
