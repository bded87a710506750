"""The differences that a design can detect, by simulation from the observed scores.

The smallest true difference that a sentence finds with a chance of 80 %, with the claim about the order. Two
arms are drawn again and again from all scores observed, one of them multiplied by a factor. Scores that can
be negative are shifted; where so many are zero that no factor is ever found, some zeros become other scores,
and the sentence says that the promise is for those.
The bar of the statistic is its 95 % quantile where both are drawn alike, as a permutation test's is. The
difference is never less than the t test needs. Few scores show too little of the spread that others will
have, so it is then multiplied by how much larger the spread may be.
"""

from collections.abc import Callable
from math import ceil, inf, sqrt

import msgspec
import numpy as np

from balrog_rag.results.statistics import design
from balrog_rag.results.statistics.design import POWER
from balrog_rag.results.statistics.units import ALPHA, NO_SPREAD, Bounds, Floats

REPEATS = 300
MOST_DRAWS = 50
"""Larger arms are simulated at this size: the difference falls with the square root of the size."""
REFERENCE = 50
"""The size from which larger plans are extrapolated."""
SURE = 0.1
"""The probability that the spread exceeds the correction for small samples."""
NORMAL_80 = 0.8416
HALVINGS, DOUBLINGS = 6, 8
SIGN = 1.25
"""Ratio of the differences detected by a sign test and a t test, for normal scores."""


class Prospect(msgspec.Struct, frozen=True):
    """A true difference that a design detects in 4 of 5 cases; infinite if there is none."""

    gap: float = inf
    through_zeros: bool = False
    """Whether only if it comes from fewer zeros: of other scores, too few are left to show a factor."""

    @property
    def condition(self) -> str:
        """What a sentence adds to the promise."""
        return " if fewer scores are zero" if self.through_zeros else ""

    def times(self, factor: float) -> "Prospect":
        """The same for a difference this much larger."""
        return Prospect(self.gap * factor, self.through_zeros)


def detects(drawn: Floats, sizes: tuple[int, int], bounds: Bounds) -> Prospect:
    """What arms of these sizes detect."""
    if len(drawn) < 2 or np.ptp(drawn) <= NO_SPREAD:
        return Prospect()
    if bounds.binary:
        return Prospect(_of_shares(drawn, sizes, bounds))
    largest = max(1.0, min(sizes) / MOST_DRAWS)
    ours, theirs = (min(4 * MOST_DRAWS, max(1, round(size / largest))) for size in sizes)
    found = _smallest(drawn, (ours, theirs)).times(1 / sqrt(largest))
    usual = design.detectable(float(drawn.std(ddof=1)), *sizes)
    return Prospect(max(found.gap, usual), found.through_zeros).times(unsure(len(drawn)))


def detects_paired(spread: float, shown: int, pairs: int) -> Prospect:
    """The same for pairs, from the spread of the observed differences."""
    if not spread:
        return Prospect()
    return Prospect(SIGN * unsure(shown + 1) * design.detectable_paired(spread, pairs))


def unsure(count: int) -> float:
    """The factor by which the true spread may exceed that of this many scores."""
    from scipy.special import chdtri

    free = max(1, count - 2)
    return sqrt(free / float(chdtri(free, 1 - SURE)))


def stricter(family: int) -> float:
    """The factor by which a difference must grow for Holm's strictest level."""
    from scipy.special import ndtri

    return float((NORMAL_80 - ndtri(ALPHA / family / 2)) / (NORMAL_80 - ndtri(ALPHA / 2)))


def needed(wanted: float, reference: float, family: int, least: int) -> int | None:
    """Draws per arm that detect this difference; `reference` is what 50 per arm detect."""
    if wanted == 0 or not np.isfinite(reference):
        return None
    return max(least, ceil(REFERENCE * (reference * stricter(family) / abs(wanted)) ** 2))


def _of_shares(drawn: Floats, sizes: tuple[int, int], bounds: Bounds) -> float:
    """On the arcsine scale, where the spread of a share does not depend on the share."""
    share = (float((drawn > bounds.least).sum()) + 0.5) / (len(drawn) + 1)
    angle = 1.1 * 2.8 * sqrt(1 / sizes[0] + 1 / sizes[1]) / 2
    middle = np.arcsin(sqrt(share))
    up, down = (np.sin(np.clip(middle + step, 0, np.pi / 2)) ** 2 for step in (angle, -angle))
    room = max(middle, np.pi / 2 - middle)
    gap = max(float(up) - share, share - float(down)) * (bounds.most - bounds.least)
    return gap if angle <= room else inf


def _smallest(drawn: Floats, sizes: tuple[int, int]) -> Prospect:
    """By doubling and bisection, with common random numbers."""
    dice = np.random.default_rng(0)
    ours, theirs = (drawn[dice.integers(len(drawn), size=(REPEATS, size))] for size in sizes)
    bar = float(np.quantile(statistic(ours, theirs), 1 - ALPHA, method="higher"))
    mean = float(drawn.mean())

    def found(better: Floats) -> bool:
        return float(np.mean(statistic(better, theirs) > bar)) >= POWER

    def times(gap: float) -> bool:
        return found(ours * (1 + gap / mean))

    def more(gap: float) -> bool:
        return found(ours + gap)

    spread, positive = float(drawn.std(ddof=1)), drawn[drawn > 0]
    if drawn.min() < 0:
        return Prospect(_searched(more, spread))
    least = _searched(times, spread)
    if np.isfinite(least) or len(positive) == len(drawn):
        return Prospect(least)
    other, luck = dice.choice(positive, ours.shape), dice.random(ours.shape)
    room = float(positive.mean()) - mean

    def fewer_zeros(gap: float) -> bool:
        raised = np.where((ours == 0) & (luck < gap / room), other, ours)
        return found(raised * max(1.0, (mean + gap) / (mean + room)))

    return Prospect(_searched(fewer_zeros, spread), through_zeros=True)


def _searched(found: Callable[[float], bool], step: float) -> float:
    """The smallest difference that is detected; infinite if there is none."""
    low, high = 0.0, step
    for _ in range(DOUBLINGS):
        if found(high):
            break
        low, high = high, 2 * high
    else:
        return inf
    for _ in range(HALVINGS):
        half = (low + high) / 2
        low, high = (low, half) if found(half) else (half, high)
    return high


def statistic(ours: Floats, theirs: Floats) -> Floats:
    """Brunner and Munzel's statistic, row by row; if the arms do not overlap, larger than any other."""
    size, other = ours.shape[1], theirs.shape[1]
    beats = np.sign(ours[:, :, None] - theirs[:, None, :]).astype(np.float32)
    mine, yours = beats.mean(axis=2), beats.mean(axis=1)
    variance = mine.var(axis=1) / max(1, size - 1) + yours.var(axis=1) / max(1, other - 1)
    made: Floats = np.abs(mine.mean(axis=1)) / np.sqrt(np.maximum(variance, (size * other) ** -2.0))
    return made
