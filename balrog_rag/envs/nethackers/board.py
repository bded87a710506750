"""The rules of the NetHackers board: identities, seeds, limits, and the weights of achievements.

The board numbers its games. A number stands for four seeds, derived from it by a keyed hash; the key of the
published games is public. The seeds do not depend on the identity.
"""

import hmac
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import NamedTuple

import msgspec

from balrog_rag.envs.nethack.characters import characters
from balrog_rag.envs.nethack.progression import table
from balrog_rag.util.paths import data

KIND, FILE = "nethackers", "nethackers.json"
IDENTITIES = tuple(sorted(characters()))
QUEST, PLANES = 3, 7
"""Branches of the dungeon, by their number in the bottom lines."""
HOMES = 5
ASTRAL_LEVEL = 1
ASCENSION = "You ascend t"

COUNTED = {
    "best_depth": "Dlvl:{}",
    "best_experience_level": "Xp:{}",
    "quest_home": "Home {}",
    "astral_plane": "Astral Plane",
}
"""Numbers of a game that the board counts, each the highest so far, with the board's names."""


class _File(msgspec.Struct):
    secret: str
    evaluation: str
    published: int
    max_steps: int
    no_progress_timeout: int
    achievements: dict[str, float]


class BoardSeeds(NamedTuple):
    """The seeds of one of the board's games."""

    core: int
    disp: int
    lgen: int
    program: int
    """For the random generator of a program."""


@cache
def declared() -> _File:
    """The board's own figures."""
    return msgspec.json.decode((data("eval") / FILE).read_bytes(), type=_File)


@cache
def worths() -> Mapping[str, float]:
    """The worth of each achievement, 0 to 1: BALROG's table and the board's additions."""
    return MappingProxyType({**table(), **declared().achievements})


def published() -> range:
    """The numbers of the published games."""
    return range(declared().published)


def no_progress() -> int:
    """Key presses without game time after which a game ends: NLE counts each of them twice."""
    return declared().no_progress_timeout // 2


def dice(number: int) -> BoardSeeds:
    """Return the seeds of the game with that number."""
    board = declared()
    named = f"nethack-arena\0{board.evaluation}\0{number}"
    made = hmac.digest(board.secret.encode(), named.encode(), "sha256")
    parts = (made[start : start + 8] for start in range(0, len(made), 8))
    return BoardSeeds(*(int.from_bytes(part, "big") % 2**63 for part in parts))


def nothing_yet() -> dict[str, int]:
    """The counted numbers before the first screen."""
    return dict.fromkeys(COUNTED, 0)


def count(best: dict[str, int], numbers: Mapping[str, int]) -> None:
    """Raise the counted numbers to those of a screen."""
    branch, level = numbers["branch"], numbers["level"]
    found = {
        "best_depth": numbers["depth"],
        "best_experience_level": numbers["experience_level"],
        "quest_home": level if branch == QUEST and level <= HOMES else 0,
        "astral_plane": int(branch == PLANES and level == ASTRAL_LEVEL),
    }
    for name, number in found.items():
        if number > best[name] and COUNTED[name].format(number) in worths():
            best[name] = number
