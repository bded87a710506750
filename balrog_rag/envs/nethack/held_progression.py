"""Progression that the hero survived long enough to keep, and achievements counted by NetHack itself.

BALROG's progression pays for a level at once, so falling deep and dying there is worth as much as living
there. Held progression counts a dungeon level only if the hero is alive a number of turns after reaching it,
comes back up from it, or goes deeper and holds that. Experience counts as in BALROG.
"""

from collections.abc import Mapping
from typing import Any

from balrog_rag.contracts.kinds import Numbers
from balrog_rag.envs.nethack.progression import table

ACHIEVEMENTS = (
    "got the Bell of Opening",
    "entered Gehennom",
    "got the Candelabrum of Invocation",
    "got the Book of the Dead",
    "performed the invocation",
    "got the Amulet of Yendor",
    "entered the elemental planes",
    "reached the Astral Plane",
    "ascended",
    "got the luckstone of the Gnomish Mines",
    "completed Sokoban",
    "killed Medusa",
    "was blind all game",
    "wore no armor all game",
)
"""Achievements by the bits of the log's `achieve`."""

TURNS = 500
"""Turns of survival after which a level is held."""
CONDUCT_BITS = ("was blind all game", "wore no armor all game")
"""Bits that the log counts among achievements, but that every short game has."""


class HeldProgression:
    """Held progression in percent; call `see` with every moment in order."""

    def __init__(self) -> None:
        """Start with nothing held."""
        self._reached: dict[int, int] = {}
        """When each level that is not held yet was first reached."""
        self._unsure: set[int] = set()
        """Levels that may be held, since the journal does not show whether the hero left them."""
        self._held, self._experience = 0, 1

    def see(self, numbers: Numbers, gap: bool) -> None:
        """Process a moment."""
        depth, turn = numbers["depth"], numbers["turn"]
        if depth == 0:
            return
        self._experience = max(self._experience, numbers["experience_level"])
        if gap:
            self._unsure.update(self._reached)
        for level, since in list(self._reached.items()):
            if depth < level or turn - since >= TURNS:
                self._held = max(self._held, level)
        if depth > self._held:
            self._reached.setdefault(depth, turn)
        self._reached = {level: since for level, since in self._reached.items() if level > self._held}

    def result(self, facts: Mapping[str, Any]) -> float | None:
        """The held progression; None if the hero may have left a level upwards unseen."""
        value = self._worth(self._held)
        if any(level > self._held and self._worth(level) > value for level in self._unsure):
            return None
        return 100 * value

    def _worth(self, level: int) -> float:
        experience = table().get(f"Xp:{self._experience}", 0.0)
        below = max((table().get(f"Dlvl:{n}", 0.0) for n in range(1, level + 1)), default=0.0)
        return max(experience, below)


class AchievementCount:
    """The number of achievements in NetHack's own log line."""

    def see(self, numbers: Numbers, gap: bool) -> None:
        """Do nothing: only the end shows achievements."""

    def result(self, facts: Mapping[str, Any]) -> float | None:
        """Their number; None if NetHack wrote no log line."""
        if facts.get("xlogfile_from") != "game":
            return None
        return float(sum(name not in CONDUCT_BITS for name in facts.get("achievements", ())))


MOST_ACHIEVEMENTS = len(ACHIEVEMENTS) - len(CONDUCT_BITS)
