"""Permutation tests of equal means: exact if feasible, otherwise with many random relabellings.

The permuted statistic is Welch's t, not the difference itself (Janssen 1997; Chung and Romano 2013). The
difference would test whether both arms are alike in every respect: if a small arm varies more than a large
one it finds "differences" between equal means in every fourth case. Welch's t holds its level for means
whatever the spreads, as the arms grow, and is exact where the arms are alike. Two-sided, and counting ties
as evidence against a difference, so that p is never too small.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import combinations
from math import ceil, comb, exp, isinf, lgamma, sqrt
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from balrog_rag.results.statistics.units import ALPHA, Floats, constant

EXACT_UP_TO = 200_000
RANDOM = 19_999
LEAST_RANDOM = 999
CELLS = 8_000_000
"""Scores relabelled in the first stage; larger arms get fewer relabellings."""
FEW = 20
"""The number of extreme relabellings in the first stage that makes p precise enough."""
SPARE = 2
"""How many times finer than Holm's strictest level the p of random relabellings can become."""
BLOCK = 10_000_000
"""Scores held in memory at a time."""
LUMPY = 4
"""Draws per distinct value above which it is faster to draw counts of values than draws."""
LEAST_PAIRS = 6
"""With fewer sign flips, p = 0.05 cannot be reached."""
ROUNDING = 1e-9
"""Relative tolerance for equal statistics, and for differences that count as zero."""
CANCELLED = 1e-12
"""A variance this small, relative to the scores' own, is a rounding error."""

Draw = Callable[[int, np.random.Generator], Floats]
"""Returns the statistics of a number of random relabellings."""
Sums = tuple[Floats, Floats]
"""Our sum and our sum of squares, in each of many relabellings of a stratum."""


class Test(msgspec.Struct, frozen=True):
    """A two-sided p with the method used."""

    p: float
    method: str


class Stratum(msgspec.Struct, frozen=True):
    """Scores whose labels may be permuted, and the weight of a score of each arm in the difference."""

    ours: Floats
    theirs: Floats
    our_weight: float
    their_weight: float
    env: str = ""

    @property
    def centred(self) -> Floats:
        """All scores minus their mean, ours first."""
        pooled = np.concatenate([self.ours, self.theirs])
        centred: Floats = pooled - pooled.mean()
        return np.zeros_like(centred) if constant(pooled) else centred


def stratified(strata: Sequence[Stratum], seed: int = 0, family: int = 1) -> Test:
    """Test a weighted difference of means, permuting labels only within a stratum (a task, a game).

    `family` is the number of tests that this one is corrected for: the larger, the finer its p must be.
    """
    pools = [part.centred for part in strata]
    sizes = [len(part.ours) for part in strata]
    seen = [_sums(pool[None, :size]) for pool, size in zip(pools, sizes, strict=True)]
    observed = float(welch(strata, seen)[0])
    within = " within strata" if len(strata) > 1 else ""
    if len(strata) == 1 and comb(len(pools[0]), sizes[0]) <= EXACT_UP_TO:
        every = _sums(pools[0][every_pick(len(pools[0]), sizes[0])])
        return Test(_share(welch(strata, [every]), observed), "exact permutation")

    def draw(count: int, rng: np.random.Generator) -> Floats:
        return welch(strata, [_random_sums(*each, count, rng) for each in zip(pools, sizes, strict=True)])

    size = sum(len(pool) for pool in pools)
    return Test(_random_p(draw, observed, size, seed, family), "Monte-Carlo permutation" + within)


class Cell(NamedTuple):
    """A stratum in many relabellings at once: our sum and our sum of squares in each."""

    part: Stratum
    our_sum: Floats
    our_squares: Floats

    @property
    def weight(self) -> float:
        """Weight of our sum in the difference; theirs is the negative of it, since scores are centred."""
        return self.part.our_weight + self.part.their_weight

    @property
    def within(self) -> tuple[Floats, Floats]:
        """Both arms' sums of squared deviations from their means."""
        whole = float((self.part.centred**2).sum())
        ours = self.our_squares - self.our_sum**2 / len(self.part.ours)
        theirs = whole - self.our_squares - self.our_sum**2 / len(self.part.theirs)
        return np.maximum(ours, 0.0), np.maximum(theirs, 0.0)


def welch(strata: Sequence[Stratum], sums: Sequence[Sums]) -> Floats:
    """The absolute t of each relabelling: the difference of means over its standard error.

    An arm's variance is that within its strata, one per environment. If it has only one score in each, the
    other arm's variance is used.
    """
    cells = [Cell(part, *each) for part, each in zip(strata, sums, strict=True)]
    gap = np.abs(np.sum([cell.weight * cell.our_sum for cell in cells], axis=0))
    envs = dict.fromkeys(part.env for part in strata)
    variance = np.sum([_variance([cell for cell in cells if cell.part.env == env]) for env in envs], axis=0)
    whole = sum(cell.weight**2 * float((cell.part.centred**2).sum()) for cell in cells)
    variance = np.where(variance > CANCELLED * whole, variance, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(gap > ROUNDING * sqrt(whole), gap / np.sqrt(variance), 0.0)
    return np.asarray(t, dtype=float)


def _variance(cells: Sequence[Cell]) -> Floats:
    """The variance of the difference within one environment."""
    squares = [np.sum([cell.within[side] for cell in cells], axis=0) for side in (0, 1)]
    counts = [sum(len(cell.part.ours) for cell in cells), sum(len(cell.part.theirs) for cell in cells)]
    free = [count - len(cells) for count in counts]
    if not any(free):
        return np.zeros_like(cells[0].our_sum)
    known = [side if free[side] else 1 - side for side in (0, 1)]
    ours, theirs = (squares[side] / free[side] for side in known)
    first = cells[0].part
    variance: Floats = first.our_weight**2 * counts[0] * ours + first.their_weight**2 * counts[1] * theirs
    return variance


def paired(gaps: Floats, seed: int = 0, family: int = 1) -> Test:
    """Test whether paired differences have mean zero, by flipping their signs.

    Flips preserve the sum of squares, so tests of t and of the mean are equivalent.
    """
    moved = gaps[gaps != 0]
    moved = moved / max(float(np.sqrt((moved**2).sum())), np.finfo(float).tiny)
    observed = abs(float(moved.sum()))
    if 2 ** len(moved) <= EXACT_UP_TO:
        bits = np.arange(2 ** len(moved))[:, None] >> np.arange(len(moved)) & 1
        return Test(_share(np.abs((1.0 - 2.0 * bits) @ moved), observed), "exact sign flips")

    def draw(count: int, rng: np.random.Generator) -> Floats:
        batches = _batches(count, _rows(len(moved)))
        flips = [rng.choice([-1.0, 1.0], (rows, len(moved))) @ moved for rows in batches]
        sums: Floats = np.abs(np.concatenate(flips))
        return sums

    return Test(_random_p(draw, observed, len(moved), seed, family), "Monte-Carlo sign flips")


def least_p(sizes: Sequence[tuple[int, int]]) -> float:
    """The smallest p that arms of these sizes, by stratum, can reach."""
    ways = sum(lgamma(a + b + 1) - lgamma(a + 1) - lgamma(b + 1) for a, b in sizes)
    mirrored = all(a == b for a, b in sizes)  # then the opposite labelling is as extreme
    return min(1.0, (2 if mirrored else 1) * exp(-ways))


def least_paired_p(pairs: int) -> float:
    """The same for pairs."""
    return min(1.0, 2.0 ** (1 - pairs))


def _sums(rows: Floats) -> Sums:
    return rows.sum(axis=1), (rows**2).sum(axis=1)


@lru_cache(maxsize=2)  # the arms of a family mostly have the same size
def every_pick(count: int, size: int) -> NDArray[np.int32]:
    """The positions that each relabelling assigns to an arm of this size."""
    places = (place for pick in combinations(range(count), size) for place in pick)
    return np.fromiter(places, dtype=np.int32).reshape(-1, size)


def _random_sums(pooled: Floats, size: int, count: int, rng: np.random.Generator) -> Sums:
    lumps, counts = np.unique(pooled, return_counts=True)
    if LUMPY * len(lumps) <= len(pooled):
        picked = rng.multivariate_hypergeometric(counts, size, count, method="marginals")
        return picked @ lumps, picked @ lumps**2
    parts = [
        _sums(rng.permuted(np.broadcast_to(pooled, (rows, len(pooled))), axis=1)[:, :size])
        for rows in _batches(count, _rows(len(pooled)))
    ]
    return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])


def _rows(count: int) -> int:
    """How many relabellings of this many scores fit in memory at a time."""
    return max(1, min(2_000, BLOCK // max(1, count)))


def _batches(count: int, most: int) -> list[int]:
    return [min(most, count - start) for start in range(0, count, most)]


def _random_p(draw: Draw, observed: float, size: int, seed: int, family: int) -> float:
    """A p from random relabellings, in two stages (after Besag and Clifford 1991).

    p cannot be smaller than one over the number of relabellings. That must not decide a family of many tests,
    so a p that may still be far smaller gets as many more as the family's strictest level requires.
    """
    rng = np.random.default_rng(seed)
    count = max(LEAST_RANDOM, min(RANDOM, CELLS // size))
    extreme = _extreme(draw(count, rng), observed)
    for rows in _batches(ceil(SPARE * family / ALPHA) - count, RANDOM) if extreme < FEW else ():
        count, extreme = count + rows, extreme + _extreme(draw(rows, rng), observed)
    return (extreme + 1) / (count + 1)


def _share(statistics: Floats, observed: float) -> float:
    return _extreme(statistics, observed) / len(statistics)


def _extreme(statistics: Floats, observed: float) -> int:
    least = observed if isinf(observed) else observed - ROUNDING * (1 + observed)
    return int((statistics >= least).sum())


def holm(ps: Sequence[float]) -> list[float]:
    """Holm's adjustment for a family of tests, in the given order."""
    adjusted = [0.0] * len(ps)
    highest = 0.0
    for rank, place in enumerate(sorted(range(len(ps)), key=lambda place: ps[place])):
        highest = max(highest, min(1.0, (len(ps) - rank) * ps[place]))
        adjusted[place] = highest
    return adjusted
