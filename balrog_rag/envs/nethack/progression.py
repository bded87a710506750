"""BALROG's measure of how far a game of NetHack came.

The share of human games that were won after coming this deep, or this experienced; the best ever reached
counts. Depth is depth in whatever branch: BALROG does not tell the Gnomish Mines from the main dungeon,
and the quest, the planes and ascension have no place in its look-up.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType

import msgspec

from balrog_rag.util.paths import data

FILE = "progression.json"


class _File(msgspec.Struct):
    achievements: dict[str, float]


@cache
def table() -> Mapping[str, float]:
    """What each achievement is worth, 0 to 1, by BALROG's names: `Dlvl:2`, `Xp:3`."""
    return MappingProxyType(msgspec.json.decode((data("eval") / FILE).read_bytes(), type=_File).achievements)


@dataclass
class Progression:
    """How far one game has come; fed with every observation's numbers in turn, the first one's too."""

    value: float = 0.0
    reached: str = ""
    dlvl_list: list[str] = field(default_factory=list)
    xplvl_list: list[str] = field(default_factory=list)

    def milestones(self) -> Mapping[str, list[str]]:
        """The dungeon levels and experience levels that count, in the order they were reached."""
        return {"dlvl_list": self.dlvl_list, "xplvl_list": self.xplvl_list}

    def see(self, numbers: Mapping[str, int], reward: float = 0.0, ended: str = "") -> None:
        """Take over the numbers of one moment; NetHack zeroes them when a game is over."""
        if numbers["depth"] == 0:
            return
        self._reach(f"Xp:{numbers['experience_level']}", self.xplvl_list)
        self._reach(f"Dlvl:{numbers['depth']}", self.dlvl_list)

    def _reach(self, achievement: str, seen: list[str]) -> None:
        worth = table().get(achievement)
        if worth is None or achievement in seen:
            return
        seen.append(achievement)
        if worth > self.value:
            self.value, self.reached = worth, achievement
