"""Scores, and what counts as one independent draw among them."""

from collections.abc import Callable, Sequence
from itertools import groupby
from operator import itemgetter

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
    world: str = ""
    """Names what games share whatever their task, as their kind declares it; empty: the game alone."""


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


Key = tuple[str, str, str]
"""Environment, task and game; of a world that several games share: environment, nothing, world."""


def game_key(score: Score, place: int = 0) -> Key:
    """Names the game; an unnamed one is a game of its own, named by its place."""
    return score.env, score.task, score.game or f"\0{place}"


def world_key(score: Score, place: int = 0) -> Key:
    """Names the independent draw that a score belongs to: the world of its game, or the game itself."""
    return (score.env, "", score.world) if score.world else game_key(score, place)


def games(scores: Sequence[Score]) -> dict[Key, Floats]:
    """The values of each game, in the order of their names."""
    return _grouped(scores, game_key)


def worlds(scores: Sequence[Score]) -> dict[Key, Floats]:
    """The values of each world, in the order of their names."""
    return _grouped(scores, world_key)


def _grouped(scores: Sequence[Score], key: Callable[[Score, int], Key]) -> dict[Key, Floats]:
    named = sorted(
        ((key(score, place), score.value) for place, score in enumerate(scores)), key=itemgetter(0)
    )
    return {name: np.array([value for _, value in group]) for name, group in groupby(named, itemgetter(0))}


def shared_worlds(scores: Sequence[Score]) -> bool:
    """Whether some world holds more than one game."""
    return len(worlds(scores)) < len(games(scores))


def grouped(scores: Sequence[Score]) -> bool:
    """Whether draws are worlds of several episodes each; a single world's episodes are taken one by one."""
    return 1 < len(worlds(scores)) < len(scores)


def draws(scores: Sequence[Score]) -> tuple[Floats, Floats]:
    """The independent draws (worlds where several episodes share one), and how many episodes each has."""
    if grouped(scores):
        seen = list(worlds(scores).values())
        return np.array([part.mean() for part in seen]), np.array([len(part) for part in seen], dtype=float)
    return values(scores), np.ones(len(scores))


def independent(scores: Sequence[Score]) -> list[Score]:
    """The draws to resample, one score each: a world counts once, however many episodes it has."""
    if not grouped(scores):
        return list(scores)
    return [
        Score(float(seen.mean()), env, task, name.lstrip("\0"))
        for (env, task, name), seen in worlds(scores).items()
    ]
