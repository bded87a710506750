"""Intervals of means with the stated coverage, although progression has few distinct values.

The method depends on the number of draws:

- 100 to 1,000: the bias-corrected, accelerated bootstrap (BCa) of scipy.
- Fewer: a smooth bootstrap. BCa would be far too short (with five episodes it covers 66 to 90 in 100 means
  instead of 95), because a few episodes show neither all zeros nor all good games. Weights are drawn from a
  Dirichlet distribution: one share for each draw, and half a share for each of two unseen values, the lowest
  possible value and twice the best. For solved-or-not scores this is Jeffreys' interval, used for any
  number of draws.
- More, and for plain counts such as steps and dollars: Student's t, limited to possible values.

If every draw of a count is the same (all episodes stopped at one limit, or none cost anything) there is no
interval: the data show nothing about the spread. Simulated coverage is in
`docs/notes/2026-11-statistics.md`, intervals of differences are in `differences.py`.
"""

from collections.abc import Sequence

import msgspec
import numpy as np

from balrog_rag.results.statistics.estimate import (
    NOTHING,
    STUDENT,
    Estimate,
    Interval,
    PublishedEstimate,
    Smooth,
    UnknownEstimate,
    average,
    smooth_means,
    student,
)
from balrog_rag.results.statistics.units import ALPHA, Bounds, Floats, Score, constant, draws, games, grouped

DRAWS = 10_000
BCA_FROM = 100
BCA_TO = 1_000
MANY_GAMES = 10
"""Games per world from which a world's mean is smooth enough for Student's t."""


def mean_interval(scores: Sequence[Score], bounds: Bounds, method: str = "auto", seed: int = 0) -> Interval:
    """The interval of the mean of these scores; plays of one game are one draw. NaN if there is none."""
    if not scores:
        return NOTHING
    made = _estimate(scores, bounds, method, seed).interval
    return possible(made, bounds) if made.method == STUDENT else made


def possible(made: Interval, bounds: Bounds) -> Interval:
    """The part of an interval in which a mean can lie."""
    return msgspec.structs.replace(
        made, low=float(np.maximum(made.low, bounds.least)), high=float(np.minimum(made.high, bounds.most))
    )


def average_interval(groups: Sequence[Sequence[Score]], bounds: Sequence[Bounds]) -> Interval:
    """The interval of the unweighted mean of several groups' means (BALROG's average over environments)."""
    if not groups or not all(groups):
        return NOTHING
    parts = [_estimate(group, each) for group, each in zip(groups, bounds, strict=True)]
    return average(parts).interval


def _estimate(scores: Sequence[Score], bounds: Bounds, method: str = "auto", seed: int = 0) -> Estimate:
    """Estimate the mean of these scores; that of a world of many games is smooth enough for Student's t."""
    drawn, plays = draws(scores)
    if method == "auto" and grouped(scores) and len(games(scores)) >= MANY_GAMES * len(drawn):
        method = "student"
    return mean_estimate(drawn, plays, bounds, method, seed)


def mean_estimate(
    drawn: Floats, plays: Floats, bounds: Bounds, method: str = "auto", seed: int = 0
) -> Estimate:
    """Estimate the mean over all plays of the drawn games."""
    way = chosen(method, len(drawn), bounds)
    mean = float(np.average(drawn, weights=plays))
    if bounds.counted and constant(drawn):
        return UnknownEstimate(mean)
    if way == "smooth" or constant(drawn):
        means = smooth_means(drawn, *unseen(drawn, bounds), np.random.default_rng(seed), DRAWS, plays)
        return from_draws(means, mean)
    adjusted = _linear(drawn, plays)
    return _bca(adjusted, seed) if way == "bca" else student(adjusted)


def _linear(drawn: Floats, plays: Floats) -> Floats:
    """Linearize the mean, a ratio if games have unequal numbers of plays: same mean, same variance."""
    mean = np.average(drawn, weights=plays)
    adjusted: Floats = mean + plays / plays.mean() * (drawn - mean)
    return adjusted


def chosen(method: str, count: int, bounds: Bounds) -> str:
    """The method, 'smooth', 'bca' or 'student'; 'auto' depends on the number of draws."""
    if method != "auto":
        return method
    if bounds.counted or (count > BCA_TO and not bounds.binary):
        return "student"
    return "smooth" if bounds.binary or count < BCA_FROM else "bca"


def unseen(drawn: Floats, bounds: Bounds) -> tuple[float, float]:
    """The two unseen values with half a share each."""
    return bounds.least, bounds.unseen(float(drawn.max()))


def from_draws(means: Floats, seen: float) -> Smooth:
    """Make an estimate from a sample of plausible means."""
    return Smooth(seen, np.sort(means))


def _bca(drawn: Floats, seed: int) -> PublishedEstimate:
    from scipy.stats import bootstrap

    found = bootstrap(
        (drawn,), np.mean, n_resamples=DRAWS, confidence_level=1 - ALPHA, method="BCa", batch=500,
        vectorized=True, rng=np.random.default_rng(seed),
    ).confidence_interval  # fmt: skip
    middle = float(drawn.mean())
    return PublishedEstimate(middle, middle - float(found.low), float(found.high) - middle, "BCa bootstrap")
