"""BALROG's measure of progress in a game of NetHack.

The share of human games that were won after reaching this depth or experience level; the best ever reached
counts. Depth counts in any branch: BALROG does not distinguish the Gnomish Mines from the main dungeon, and
its table has no entry for the quest, the planes or ascension.
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
    """The value of each achievement, 0 to 1, by BALROG's names: `Dlvl:2`, `Xp:3`."""
    return MappingProxyType(msgspec.json.decode((data("eval") / FILE).read_bytes(), type=_File).achievements)


@dataclass
class Progression:
    """Progress of one game; call `see` with every observation's numbers in order, including the first."""

    value: float = 0.0
    reached: str = ""
    dlvl_list: list[str] = field(default_factory=list)
    xplvl_list: list[str] = field(default_factory=list)

    def milestones(self) -> Mapping[str, list[str]]:
        """The dungeon levels and experience levels that count, in the order they were reached."""
        return {"dlvl_list": self.dlvl_list, "xplvl_list": self.xplvl_list}

    def see(self, numbers: Mapping[str, int], reward: float = 0.0, ended: str = "") -> None:
        """Process the numbers of one moment; NetHack sets them to zero when a game is over."""
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
