"""Permutation tests of equal means: exact where that is feasible, else by many random relabellings.

What is permuted is Welch's t, not the bare difference (Janssen 1997; Chung and Romano 2013). The bare
difference tests whether both arms are alike in every respect: where a small arm varies more than a large
one it finds "differences" between equal means in every fourth case. Welch's t holds its level for means
whatever the spreads, as the arms grow, and is exact where the arms are alike. Two-sided, and counting ties
as evidence against a difference, so that no p is too small.
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
"""Scores relabelled at the first stage; arms that are larger have fewer relabellings."""
FEW = 20
"""So many relabellings as extreme among the first ones settle a p well enough."""
SPARE = 2
"""How many times finer than Holm's strictest bar the p of random relabellings can become."""
BLOCK = 10_000_000
"""Scores held at a time."""
LUMPY = 4
"""So many draws to a value make it quicker to draw how many of each value, not which draws."""
LEAST_PAIRS = 6
"""Fewer sign flips than this cannot reach p = 0.05."""
ROUNDING = 1e-9
"""Statistics this close count as equal, and a difference this small beside the scores' spread as none."""
CANCELLED = 1e-12
"""A variance this small beside the scores' own is what rounding leaves of none."""

Draw = Callable[[int, np.random.Generator], Floats]
"""So many random relabellings' statistics."""
Sums = tuple[Floats, Floats]
"""Our sum, and our sum of squares, in each of many relabellings of a stratum."""


class Test(msgspec.Struct, frozen=True):
    """A two-sided p and how it was found."""

    p: float
    method: str


class Stratum(msgspec.Struct, frozen=True):
    """Scores that may be exchanged with each other, and what one of each arm weighs in the difference."""

    ours: Floats
    theirs: Floats
    our_weight: float
    their_weight: float
    env: str = ""

    @property
    def centred(self) -> Floats:
        """All scores less their mean, ours first."""
        pooled = np.concatenate([self.ours, self.theirs])
        centred: Floats = pooled - pooled.mean()
        return np.zeros_like(centred) if constant(pooled) else centred


def stratified(strata: Sequence[Stratum], seed: int = 0, family: int = 1) -> Test:
    """Test a weighted difference of means, exchanging labels only within a stratum (a task, a game).

    `family` is the number of tests that this one is corrected for: the more, the finer its p must be.
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
    """A stratum in many relabellings at once: our sum, and our sum of squares, in each."""

    part: Stratum
    our_sum: Floats
    our_squares: Floats

    @property
    def weight(self) -> float:
        """What our sum adds to the difference; theirs is the same with a minus, since scores are centred."""
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

    An arm's variance is that within its strata, one for each environment. Where it has but one score in
    each, the other arm's stands for it.
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
    """Of the difference within one environment."""
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
    """Test paired differences for a mean other than zero, by flipping their signs.

    Flips keep the sum of squares, so that of t and of the mean are one test.
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
    """The smallest p that arms of these sizes, stratum by stratum, can reach at all."""
    ways = sum(lgamma(a + b + 1) - lgamma(a + 1) - lgamma(b + 1) for a, b in sizes)
    mirrored = all(a == b for a, b in sizes)  # then the opposite labelling is as extreme
    return min(1.0, (2 if mirrored else 1) * exp(-ways))


def least_paired_p(pairs: int) -> float:
    """The same for so many pairs."""
    return min(1.0, 2.0 ** (1 - pairs))


def _sums(rows: Floats) -> Sums:
    return rows.sum(axis=1), (rows**2).sum(axis=1)


@lru_cache(maxsize=2)  # a family of comparisons is mostly of arms of one size
def every_pick(count: int, size: int) -> NDArray[np.int32]:
    """The places that each relabelling gives to an arm of this size."""
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
    """How many relabellings of so many scores are held at a time."""
    return max(1, min(2_000, BLOCK // max(1, count)))


def _batches(count: int, most: int) -> list[int]:
    return [min(most, count - start) for start in range(0, count, most)]


def _random_p(draw: Draw, observed: float, size: int, seed: int, family: int) -> float:
    """A p from random relabellings, in two stages (after Besag and Clifford 1991).

    No p is smaller than one in the number of relabellings. That must not decide a family of many tests, so
    a p that may still be far smaller gets as many more as the family's strictest bar calls for.
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
    """Holm's adjustment for a family of tests, in the order given."""
    adjusted = [0.0] * len(ps)
    highest = 0.0
    for rank, place in enumerate(sorted(range(len(ps)), key=lambda place: ps[place])):
        highest = max(highest, min(1.0, (len(ps) - rank) * ps[place]))
        adjusted[place] = highest
    return adjusted
