"""Curves over the course of episodes: mean progression; survival and height over game time."""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from balrog_rag.contracts.kinds import Timeline
from balrog_rag.results.coded_values import Codes
from balrog_rag.results.episode_arrays import Floats, arrays_of
from balrog_rag.results.episodes import Episode, Point

Curve: TypeAlias = list[tuple[float, float]]
"""Corners, from left to right."""

CORNERS = 400
"""Maximum points of a curve."""


def mean_curve(episodes: Sequence[Episode], against: str) -> Curve:
    """Corners of the curve of mean progression in percent over `step`, `tokens` or `dollars`.

    An ended episode keeps its last value, so the mean is always over all episodes.
    """
    if not episodes:
        return []
    counts, points = arrays_of(episodes).points
    places, values = points[:, Point.__struct_fields__.index(against)], points[:, -1]
    moments, heights = _added_up(places, values - _before(counts, values))
    if len(moments):
        heights = 100 * heights / len(episodes)
    longest = float(places.max(initial=0.0))
    last = float(heights[-1]) if len(heights) else 0.0
    return _thinned([0.0, *moments.tolist(), longest], [0.0, *heights.tolist(), last])


def _before(counts: Codes, values: Floats) -> Floats:
    """The value before each point of its own curve; 0 before the first."""
    before = np.concatenate([[0.0], values[:-1]])[: len(values)]
    firsts = (np.cumsum(counts) - counts)[counts > 0]
    before[firsts] = 0.0
    return before


def _added_up(places: Floats, rises: Floats) -> tuple[Floats, Floats]:
    """The places in order, and the sum of the rises up to each: one by one, as sums depend on the order."""
    order = np.lexsort((rises, places))
    return places[order], np.cumsum(rises[order])


def _thinned(places: Sequence[float], heights: Sequence[float]) -> Curve:
    corners = list(zip(places, heights, strict=True))
    every = -(-len(corners) // (CORNERS - 1))
    return [*corners[:-1:every], corners[-1]]


def survival_curve(episodes: Sequence[Episode], timeline: Timeline) -> Curve:
    """The share of games alive over game time, in percent (Kaplan-Meier estimate).

    A game that a limit ended is censored: it is known to be alive up to that moment only.
    """
    arrays = arrays_of(episodes)
    counts, points = arrays.courses
    timed = counts > 0
    if not timed.any():
        return []
    ends = points[(np.cumsum(counts) - 1)[timed], 0]
    seen_only = arrays.coded("outcome").mapped(lambda outcome: outcome not in timeline.deaths).array()
    seen_only = seen_only.astype(bool)[timed]
    order = np.lexsort((seen_only, ends))
    died = ~seen_only[order]
    alive = len(ends) - np.arange(len(ends))
    shares = 100 * np.cumprod(1 - 1 / alive[died])
    last = float(shares[-1]) if len(shares) else 100.0
    moments = [0.0, *ends[order][died].tolist(), float(ends.max())]
    return _thinned(moments, [100.0, *shares.tolist(), last])


def height_curve(episodes: Sequence[Episode]) -> Curve:
    """The mean height reached over game time; dead heroes keep their last value."""
    counts, points = arrays_of(episodes).courses
    if not len(points):
        return []
    rises = points[:, 1] - _before(counts, points[:, 1])
    moments, reached = _added_up(points[:, 0], rises)
    return _thinned(moments.tolist(), (reached / np.count_nonzero(counts)).tolist())
