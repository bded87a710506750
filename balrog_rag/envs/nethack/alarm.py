"""Events that interrupt a program in NetHack: falling hit points, hunger, new kinds of monster in view."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

_HP, _DEPTH, _HUNGER = 10, 12, 21
_HUNGRY = 2
_X, _Y = 0, 1


class Alarm:
    """Compares each screen with the previous one."""

    def __init__(self) -> None:
        self._hp: int | None = None
        self._hunger = 0
        self._depth = 0
        self._kinds: frozenset[int] = frozenset()

    def event(self, arrays: Mapping[str, NDArray[Any]]) -> str:
        """The event of interest to a player; empty if there is none, and for the first screen."""
        from nle import nethack

        blstats = arrays["blstats"]
        hp, hunger, depth = int(blstats[_HP]), int(blstats[_HUNGER]), int(blstats[_DEPTH])
        kinds = self._in_view(arrays, nethack.NUMMONS)
        before, self._hp = self._hp, hp
        new, self._kinds = kinds - self._kinds, kinds
        hungrier, self._hunger = hunger > self._hunger and hunger >= _HUNGRY, hunger
        elsewhere, self._depth = depth != self._depth, depth
        if before is None:
            return ""
        if hp < before:
            return f"hit points fell from {before} to {hp}"
        if elsewhere:
            return "this is another level"
        if new:
            return f"{nethack.permonst(min(new)).mname} came into view"
        return "hunger" if hungrier else ""

    @staticmethod
    def _in_view(arrays: Mapping[str, NDArray[Any]], monsters: int) -> frozenset[int]:
        glyphs, blstats = arrays["glyphs"], arrays["blstats"]
        own = int(glyphs[int(blstats[_Y]), int(blstats[_X])])
        shown = np.unique(glyphs[glyphs < monsters])
        return frozenset(int(glyph) for glyph in shown if glyph != own)
