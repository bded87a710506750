"""Pool one effect over several tasks or models: a random-effects mean, and where the next effect may lie.

The effects of tasks differ truly, so the interval of their mean has to include that spread. The spread is
estimated by Paule and Mandel's method; the interval is Hartung's and Knapp's, with Student's t for the number
of effects less one, and never narrower than without their correction.

The prediction interval adds the variance of the true effects to that of the mean. With few effects its
estimate is too often near zero, so half of a typical effect's own variance is added: without it, the
interval holds clearly less than 95 %. `benchmarks/pooled.py` measures both intervals,
`benchmarks/prediction.py` compares the second one with other methods.
"""

from collections.abc import Sequence
from math import sqrt

import msgspec
import numpy as np

from balrog_rag.results.statistics.units import ALPHA, Floats

LEAST = 3
"""The fewest effects that are pooled: two show too little of how effects differ."""
HALVINGS = 60
UNSEEN = 0.5
"""The share of a typical effect's own variance that the true effects may differ by without showing it."""


class PooledEffect(msgspec.Struct, frozen=True):
    """The mean of an effect over tasks or models."""

    count: int
    mean: float
    low: float
    high: float
    """The 95 % interval of the mean."""
    next_low: float
    next_high: float
    """The 95 % prediction interval of the effect in another task or model of this kind."""
    spread: float
    """The standard deviation of the true effects."""

    @property
    def word(self) -> str:
        """The claim about the mean."""
        return "higher" if self.low > 0 else "lower" if self.high < 0 else "undecided"


def pooled(effects: Sequence[float], errors: Sequence[float]) -> PooledEffect | None:
    """Pool effects with these standard errors; None if they are fewer than three.

    An error of zero means that the few draws are equal, not that the effect is known: it becomes the largest
    of the others, or all effects count alike.
    """
    if len(effects) < LEAST:
        return None
    values, variances = np.array(effects, dtype=float), np.array(errors, dtype=float) ** 2
    known = variances[variances > 0]
    variances = np.where(variances > 0, variances, known.max() if len(known) else 1e-12)
    between = between_variance(values, variances)
    weights = 1 / (variances + between)
    mean = float(np.average(values, weights=weights))
    free = len(values) - 1
    usual = 1 / float(weights.sum())
    corrected = float((weights * (values - mean) ** 2).sum()) / free / float(weights.sum())
    error = sqrt(max(usual, corrected))
    reach = quantile(free)
    low, high = mean - reach * error, mean + reach * error
    typical = len(values) / float((1 / variances).sum())
    ahead = reach * sqrt(between + UNSEEN * typical + error**2)
    return PooledEffect(len(values), mean, low, high, mean - ahead, mean + ahead, sqrt(between))


def quantile(free: int) -> float:
    """Student's t for a 95 % interval."""
    from scipy.special import stdtrit

    return float(stdtrit(free, 1 - ALPHA / 2))


def between_variance(values: Floats, variances: Floats) -> float:
    """The variance of the true effects, by Paule and Mandel: the generalised Q equals its expectation."""
    free = len(values) - 1

    def excess(between: float) -> float:
        weights = 1 / (variances + between)
        mean = np.average(values, weights=weights)
        return float((weights * (values - mean) ** 2).sum()) - free

    if excess(0.0) <= 0:
        return 0.0
    low, high = 0.0, float(np.var(values, ddof=1)) + float(variances.max())
    while excess(high) > 0:
        high *= 2
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if excess(middle) > 0 else (low, middle)
    return high
