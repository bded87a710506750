"""The draws of stored episodes: four codes for each instead of four texts."""

from collections.abc import Iterator
from functools import cached_property
from typing import overload

import numpy as np

from balrog_rag.results.coded_values import Coded, Codes
from balrog_rag.results.episode_arrays import GAME_NAME, WORLD_NAME, EpisodeArrays
from balrog_rag.results.statistics.draw_keys import DrawKey, DrawKeys


class CodedDrawKeys(DrawKeys):
    """The draws of episodes whose values are in arrays."""

    def __init__(self, arrays: EpisodeArrays) -> None:
        self._columns = tuple(
            _once(column)
            for column in (arrays.env, arrays.task, arrays.coded(GAME_NAME), arrays.coded(WORLD_NAME))
        )

    def __len__(self) -> int:
        return len(self._columns[0].codes)

    @overload
    def __getitem__(self, place: int) -> DrawKey: ...
    @overload
    def __getitem__(self, place: slice) -> list[DrawKey]: ...
    def __getitem__(self, place: int | slice) -> DrawKey | list[DrawKey]:
        if isinstance(place, slice):
            return [self[each] for each in range(*place.indices(len(self)))]
        env, task, game, world = (column.values[column.codes[place]] for column in self._columns)
        return env, task, game, world

    def __iter__(self) -> Iterator[DrawKey]:
        return zip(*(column.array().tolist() for column in self._columns), strict=True)

    @cached_property
    def games(self) -> int:
        """The number of distinct games."""
        env, task, game, _ = self._columns
        return _distinct(np.ones(len(self), dtype=bool), game, env, task)

    @cached_property
    def worlds(self) -> int:
        """The number of distinct worlds; a game without one is its own."""
        env, task, game, world = self._columns
        shared = _named(world)
        return _distinct(shared, world, env) + _distinct(~shared, game, env, task)


def _once(column: Coded) -> Coded:
    """The same values, of which equal ones have one code."""
    codes: dict[str, int] = {}
    same = np.array([codes.setdefault(value, len(codes)) for value in column.values], dtype=np.int64)
    return Coded(same[column.codes], list(codes))


def _named(column: Coded) -> "np.typing.NDArray[np.bool_]":
    return np.array([bool(name) for name in column.values], dtype=bool)[column.codes]


def _distinct(among: "np.typing.NDArray[np.bool_]", named: Coded, *others: Coded) -> int:
    """How many different names, with these other values, occur among some; those without one all differ."""
    has_name = _named(named)
    together: Codes = named.codes
    for column in others:
        together = together * len(column.values) + column.codes
    return len(np.unique(together[among & has_name])) + int(np.count_nonzero(among & ~has_name))
