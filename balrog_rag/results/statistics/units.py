"""Scores, and what counts as one independent draw among them."""

from collections.abc import Sequence
from itertools import groupby

import msgspec
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

ALPHA = 0.05
"""How often a difference may be found that is not there; intervals hold the truth in all other cases."""
NO_SPREAD = 1e-9
"""Below this a spread is rounding, not variation."""


class Score(msgspec.Struct, frozen=True):
    """One episode's score, and the game it was played in."""

    value: float
    env: str = ""
    task: str = ""
    game: str = ""
    """Names the game's seeds and options; equal names are the same game. Empty: a game of its own."""


class Bounds(msgspec.Struct, frozen=True):
    """What a score can be: `least` and `most`, and whether nothing lies between them."""

    least: float = 0.0
    most: float = 100.0
    binary: bool = False
    rise: float = 2.0
    """How far above the least an episode not yet seen may come where all seen ones show the least."""
    counted: bool = False
    """A plain count or sum (steps, dollars), which has none of progression's rungs: Student's t will do."""

    def unseen(self, best: float) -> float:
        """The best an episode not yet seen is taken to reach: twice the best seen, a rise at least."""
        return self.most if self.binary else min(self.most, max(2.0 * best, self.least + self.rise))


def constant(drawn: Floats) -> bool:
    """Whether these vary by no more than rounding: numpy's deviation of equal numbers is often not 0."""
    return float(np.ptp(drawn)) <= NO_SPREAD


def values(scores: Sequence[Score]) -> Floats:
    """The bare numbers."""
    return np.array([score.value for score in scores], dtype=float)


def games(scores: Sequence[Score]) -> dict[tuple[str, str, str], Floats]:
    """The values of each game, in the order of their names; an unnamed game stands alone."""
    named = [
        ((score.env, score.task, score.game or f"\0{place}"), score.value)
        for place, score in enumerate(scores)
    ]
    named.sort(key=lambda pair: pair[0])
    return {
        key: np.array([value for _, value in group]) for key, group in groupby(named, lambda pair: pair[0])
    }


def has_repeats(scores: Sequence[Score]) -> bool:
    """Whether some game was played more than once."""
    return len(games(scores)) < len(scores)


def draws(scores: Sequence[Score]) -> tuple[Floats, Floats]:
    """The independent draws (games where they repeat, else episodes), and how many plays each has."""
    if has_repeats(scores) and len(games(scores)) > 1:
        seen = list(games(scores).values())
        return np.array([part.mean() for part in seen]), np.array([len(part) for part in seen], dtype=float)
    return values(scores), np.ones(len(scores))


def game_means(scores: Sequence[Score]) -> list[Score]:
    """One score a game: the mean of its episodes, so that a game counts once however often it was played."""
    return [
        Score(float(seen.mean()), env, task, game.lstrip("\0"))
        for (env, task, game), seen in games(scores).items()
    ]


def independent(scores: Sequence[Score]) -> list[Score]:
    """The draws to resample: games where they repeat, episodes where none does or there is but one."""
    if has_repeats(scores) and len(games(scores)) > 1:
        return game_means(scores)
    return list(scores)
