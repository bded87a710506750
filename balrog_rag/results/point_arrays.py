"""The points of many stored lists as one array."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from balrog_rag.results.coded_values import Codes
from balrog_rag.results.episode_columns import PointLists
from balrog_rag.results.stored_episodes import StoredRows


def gathered(
    columns: Sequence[PointLists], parts: Sequence[tuple[StoredRows, Codes, Codes]], episodes: int, width: int
) -> tuple[Codes, NDArray[np.float64]]:
    """How many points each episode has, and all points in the order of the episodes.

    `parts`: for each column its rows, which of them are wanted, and the places of their episodes.
    """
    stored = [np.frombuffer(column.counts, dtype=np.int32).astype(np.int64) for column in columns]
    counts = np.zeros(episodes, dtype=np.int64)
    for each, (_, own, at) in zip(stored, parts, strict=True):
        counts[at] = each[own]
    found, starts = np.empty((int(counts.sum()), width)), np.cumsum(counts) - counts
    for column, each, (_, own, at) in zip(columns, stored, parts, strict=True):
        source = _ranges((np.cumsum(each) - each)[own], each[own])
        target = _ranges(starts[at], each[own])
        for place, numbers in enumerate(column.numbers):
            found[target, place] = np.asarray(numbers)[source]
    return counts, found


def _ranges(starts: Codes, counts: Codes) -> Codes:
    """The numbers from each start on, as many as counted, one range after another."""
    before: Codes = np.cumsum(counts) - counts
    made: Codes = np.repeat(starts - before, counts) + np.arange(int(counts.sum()))
    return made
