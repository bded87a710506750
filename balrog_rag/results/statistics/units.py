"""Scores, and the independent draws among them."""

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import overload

import msgspec
import numpy as np
from numpy.typing import NDArray

from balrog_rag.results.statistics.draw_keys import DrawKeys, ListedDrawKeys

Floats = NDArray[np.float64]

ALPHA = 0.05
"""The accepted rate of false differences; intervals contain the truth in all other cases."""
NO_SPREAD = 1e-9
"""A spread below this is a rounding error."""


class Score(msgspec.Struct, frozen=True):
    """One episode's score, and its game."""

    value: float
    env: str = ""
    task: str = ""
    game: str = ""
    """Identifies the game's seeds and options; equal names are the same game. Empty: a separate game."""
    world: str = ""
    """Identifies what games share across tasks, as defined by their kind; empty: only the game."""


class Bounds(msgspec.Struct, frozen=True):
    """The possible scores: `least` and `most`, and whether only these two are possible."""

    least: float = 0.0
    most: float = 100.0
    binary: bool = False
    rise: float = 2.0
    """How far above the minimum an unseen episode may score if all seen ones have the minimum."""
    counted: bool = False
    """A plain count or sum (steps, dollars), for which Student's t is adequate."""

    def unseen(self, best: float) -> float:
        """The assumed best score of an unseen episode: twice the best seen, but at least a rise."""
        return self.most if self.binary else min(self.most, max(2.0 * best, self.least + self.rise))


def constant(drawn: Floats) -> bool:
    """Whether values vary only by rounding: numpy's deviation of equal numbers is often not 0."""
    return float(np.ptp(drawn)) <= NO_SPREAD


def values(scores: Sequence[Score]) -> Floats:
    """The plain numbers."""
    if isinstance(scores, Scores):
        return scores.values.copy()
    return np.array([score.value for score in scores], dtype=float)


Key = tuple[str, str, str]
"""Environment, task and game; for a world shared by games: environment, nothing, world."""


def game_key(score: Score, place: int = 0) -> Key:
    """Identify the game; an unnamed one is a separate game, identified by its index."""
    return score.env, score.task, score.game or f"\0{place}"


def world_key(score: Score, place: int = 0) -> Key:
    """Identify the independent draw of a score: the world of its game, or the game itself."""
    return (score.env, "", score.world) if score.world else game_key(score, place)


def games(scores: Sequence[Score]) -> dict[Key, Floats]:
    """The values of each game, sorted by name."""
    return _grouped(scores, game_key)


def worlds(scores: Sequence[Score]) -> dict[Key, Floats]:
    """The values of each world, sorted by name."""
    return _grouped(scores, world_key)


def _grouped(scores: Sequence[Score], key: Callable[[Score, int], Key]) -> dict[Key, Floats]:
    named = sorted(
        ((key(score, place), score.value) for place, score in enumerate(scores)), key=itemgetter(0)
    )
    return {name: np.array([value for _, value in group]) for name, group in groupby(named, itemgetter(0))}


class Scores(Sequence[Score]):
    """Scores in an array, whose draws were counted already for another measure of the same episodes."""

    def __init__(self, values: Floats, keys: DrawKeys) -> None:
        self.values, self.keys = values, keys

    def __len__(self) -> int:
        return len(self.values)

    @overload
    def __getitem__(self, place: int) -> Score: ...
    @overload
    def __getitem__(self, place: slice) -> list[Score]: ...
    def __getitem__(self, place: int | slice) -> Score | list[Score]:
        if isinstance(place, slice):
            return [self[each] for each in range(*place.indices(len(self)))]
        return Score(float(self.values[place]), *self.keys[place])

    def __iter__(self) -> Iterator[Score]:
        return (Score(value, *key) for value, key in zip(self.values.tolist(), self.keys, strict=True))


def keys_of(scores: Sequence[Score]) -> DrawKeys:
    """The draws of scores."""
    if isinstance(scores, Scores):
        return scores.keys
    return ListedDrawKeys((each.env, each.task, each.game, each.world) for each in scores)


def shared_worlds(scores: Sequence[Score]) -> bool:
    """Whether some world contains more than one game."""
    keys = keys_of(scores)
    return keys.worlds < keys.games


def grouped(scores: Sequence[Score]) -> bool:
    """Whether draws are worlds of several episodes; a single world's episodes are treated separately."""
    return 1 < keys_of(scores).worlds < len(scores)


def draws(scores: Sequence[Score]) -> tuple[Floats, Floats]:
    """The independent draws (worlds if several episodes share one), and the episodes in each."""
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
