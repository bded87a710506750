"""Estimates with confidence limits at any level.

Limits of sums and differences are derived from those of their parts by the method of variance estimates
recovery (MOVER; Zou and Donner 2008), which for solved-or-not scores is Newcombe's method.
"""

from collections.abc import Sequence
from functools import lru_cache
from math import hypot, sqrt

import msgspec
import numpy as np

from balrog_rag.results.statistics.units import ALPHA, Floats

BLOCK = 2_000_000
"""Random numbers drawn at a time."""
STUDENT = "Student's t"
RECOVERED = "MOVER"
SMOOTH = "smooth bootstrap"
HALVINGS = 40


class Interval(msgspec.Struct, frozen=True):
    """From `low` to `high` at 95 % confidence; `method` names the method."""

    low: float
    high: float
    method: str = ""

    @property
    def known(self) -> bool:
        """Whether there is an interval: equal scores need not show how much others may differ."""
        return self.low == self.low and self.high == self.high


NOTHING = Interval(np.nan, np.nan, "none")


class Estimate(msgspec.Struct, frozen=True):
    """A value, and how far below and above it the truth may be."""

    middle: float

    @property
    def method(self) -> str:
        """The method used for its limits."""
        raise NotImplementedError

    @property
    def finest(self) -> float:
        """The smallest alpha for which its limits are known."""
        return 0.0

    def reach(self, alpha: float) -> tuple[float, float]:
        """The distances to the lower and upper confidence limit at level 1 - alpha."""
        raise NotImplementedError

    @property
    def interval(self) -> Interval:
        """The 95 % interval."""
        below, above = self.reach(ALPHA)
        return Interval(self.middle - below, self.middle + above, self.method)


class UnknownEstimate(Estimate, frozen=True):
    """An estimate from scores that do not show how much others may differ."""

    @property
    def method(self) -> str:
        """None."""
        return "none"

    def reach(self, alpha: float) -> tuple[float, float]:
        """Unknown."""
        return np.nan, np.nan


class Smooth(Estimate, frozen=True):
    """A mean with a sorted sample of plausible means."""

    means: Floats

    @property
    def method(self) -> str:
        """A smooth bootstrap."""
        return SMOOTH

    @property
    def finest(self) -> float:
        """One of the means at each end."""
        return 2 / len(self.means)

    def reach(self, alpha: float) -> tuple[float, float]:
        """The central share of the means, extended to the observed mean: zeros alone start at zero."""
        last = len(self.means) - 1
        low, high = np.interp([last * alpha / 2, last * (1 - alpha / 2)], np.arange(last + 1), self.means)
        return max(0.0, self.middle - float(low)), max(0.0, float(high) - self.middle)


class Student(Estimate, frozen=True):
    """A mean with its standard error and degrees of freedom."""

    error: float
    freedom: int

    @property
    def method(self) -> str:
        """Student's t."""
        return STUDENT

    def reach(self, alpha: float) -> tuple[float, float]:
        """Symmetric limits."""
        from scipy.special import stdtrit

        reach = float(-stdtrit(self.freedom, alpha / 2) * self.error)
        return reach, reach


class PublishedEstimate(Estimate, frozen=True):
    """An interval from another source, known only at 95 %."""

    below: float
    above: float
    named: str

    @property
    def method(self) -> str:
        """The source's name for its method."""
        return self.named

    def reach(self, alpha: float) -> tuple[float, float]:
        """As given."""
        return self.below, self.above


class Shrunk(Estimate, frozen=True):
    """Another estimate with limits scaled to a share of its own."""

    whole: Estimate
    share: float

    @property
    def method(self) -> str:
        """The other's."""
        return self.whole.method

    @property
    def finest(self) -> float:
        """The other's."""
        return self.whole.finest

    def reach(self, alpha: float) -> tuple[float, float]:
        """A share of the other's."""
        below, above = self.whole.reach(alpha)
        return self.share * below, self.share * above


class Gap(Estimate, frozen=True):
    """The difference of two means, ours minus theirs; `shared` is their correlation."""

    ours: Estimate
    theirs: Estimate
    shared: float = 0.0

    @property
    def method(self) -> str:
        """MOVER."""
        return RECOVERED

    @property
    def finest(self) -> float:
        """The coarser one's."""
        return max(self.ours.finest, self.theirs.finest)

    def reach(self, alpha: float) -> tuple[float, float]:
        """The roots of summed squares, minus the common part."""
        mine, yours = self.ours.reach(alpha), self.theirs.reach(alpha)
        return self._leg(mine[0], yours[1]), self._leg(mine[1], yours[0])

    def _leg(self, ours: float, theirs: float) -> float:
        return sqrt(max(0.0, ours**2 + theirs**2 - 2 * self.shared * ours * theirs))


class Average(Estimate, frozen=True):
    """The unweighted mean of independent estimates."""

    parts: tuple[Estimate, ...]

    @property
    def method(self) -> str:
        """MOVER."""
        return RECOVERED

    @property
    def finest(self) -> float:
        """The coarsest one's."""
        return max(part.finest for part in self.parts)

    def reach(self, alpha: float) -> tuple[float, float]:
        """The roots of summed squares."""
        reaches = [part.reach(alpha) for part in self.parts]
        below, above = (hypot(*(reach[side] for reach in reaches)) / len(self.parts) for side in (0, 1))
        return below, above


def gap(ours: Estimate, theirs: Estimate, shared: float = 0.0) -> Gap:
    """Ours minus theirs."""
    return Gap(ours.middle - theirs.middle, ours, theirs, shared)


def average(parts: Sequence[Estimate]) -> Estimate:
    """The unweighted mean of independent estimates."""
    return parts[0] if len(parts) == 1 else Average(float(np.mean([p.middle for p in parts])), tuple(parts))


def student(drawn: Floats) -> Student:
    """The mean with Student's t limits."""
    return Student(float(drawn.mean()), float(drawn.std(ddof=1)) / sqrt(len(drawn)), len(drawn) - 1)


def doubt(made: Estimate) -> float:
    """The smallest alpha at which the limits exclude zero: a p value derived from them.

    At most 5 % exactly if the 95 % interval excludes zero; never finer than the limits are known.
    """
    if made.middle == 0 or not made.interval.known:
        return 1.0
    side, distance = int(made.middle < 0), abs(made.middle)

    def excluded(alpha: float) -> bool:
        return made.reach(alpha)[side] < distance

    low, high = max(made.finest, 1e-12), 1.0
    if excluded(low) or not excluded(high):
        return low if excluded(low) else high
    for _ in range(HALVINGS):
        middle = sqrt(low * high)
        low, high = (low, middle) if excluded(middle) else (middle, high)
    return high


def smooth(drawn: Floats, low: float, high: float, share: float, count: int, far: float = 0.0) -> Smooth:
    """The mean, with a sample of plausible means (see `smooth_means`)."""
    means = _sorted_means(np.sort(drawn).tobytes(), low, high, share, count, far)
    return Smooth(float(drawn.mean()), means)


@lru_cache(maxsize=64)  # a leaderboard compares every pair of rows
def _sorted_means(drawn: bytes, low: float, high: float, share: float, count: int, far: float) -> Floats:
    values: Floats = np.frombuffer(drawn, dtype=float)
    means: Floats = np.sort(
        smooth_means(values, low, high, np.random.default_rng(0), count, share=share, far=far)
    )
    return means


def smooth_means(
    drawn: Floats, low: float, high: float, rng: np.random.Generator, count: int,
    plays: Floats | None = None, share: float = 0.5, far: float = 0.0,
) -> Floats:  # fmt: skip
    """Plausible means, with weights drawn from a Dirichlet distribution.

    Each observed draw has weight 1, and two unseen ones have weight `share`. These are `low` and `high`; or,
    if `far` is given, each lies beyond the lowest and the highest observed score at an exponential distance
    with mean `far` times that of `low` or `high`.
    """
    if plays is None or np.ptp(plays) == 0:
        seen, counts = np.unique(drawn, return_counts=True)  # equal values have one joint weight
        sizes = np.ones(len(seen) + 2)
    else:
        seen, counts = drawn, np.ones(len(drawn), dtype=np.intp)
        sizes = np.append(plays, [plays.mean()] * 2)
    shape = np.append(counts, [share, share])
    ends = np.array([seen.min(), seen.max()])
    rows = max(1, BLOCK // len(shape))
    blocks = []
    for start in range(0, count, rows):
        shares = sizes * rng.standard_gamma(shape, (min(rows, count - start), len(shape)))
        distance = rng.exponential(far, (len(shares), 2)) if far else 1.0
        beyond = (shares[:, -2:] * (ends + distance * ([low, high] - ends))).sum(axis=1)
        blocks.append((shares[:, :-2] @ seen + beyond) / shares.sum(axis=1))
    return np.concatenate(blocks)
