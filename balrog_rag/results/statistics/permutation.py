"""Permutation tests of a difference of means: exact where that is feasible, else by many random relabellings.

Two-sided, and counting ties as evidence against a difference, so that no p is too small.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import combinations
from math import ceil, comb, exp, lgamma

import msgspec
import numpy as np
from numpy.typing import NDArray

from balrog_rag.results.statistics.units import ALPHA, Floats

EXACT_UP_TO = 200_000
RANDOM = 19_999
FEW = 20
"""So many relabellings as extreme among the first ones settle a p well enough."""
SPARE = 2
"""How many times finer than Holm's strictest bar the p of random relabellings can become."""
LUMPY = 4
"""So many draws to a value make it quicker to draw how many of each value, not which draws."""
LEAST_PAIRS = 6
"""Fewer sign flips than this cannot reach p = 0.05."""

Draw = Callable[[int, np.random.Generator], Floats]
"""So many random relabellings' differences."""


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


def stratified(strata: Sequence[Stratum], seed: int = 0, family: int = 1) -> Test:
    """Test a weighted difference of means, exchanging labels only within a stratum (a task, a game).

    `family` is the number of tests that this one is corrected for: the more, the finer its p must be.
    """
    observed = sum(float(_gap(part, part.ours.sum())) for part in strata)
    within = " within strata" if len(strata) > 1 else ""
    first, size = strata[0], len(strata[0].ours)
    if len(strata) == 1 and comb(size + len(first.theirs), size) <= EXACT_UP_TO:
        sums = _every_sum(np.concatenate([first.ours, first.theirs]), size)
        return Test(_share(_gap(first, sums), observed), "exact permutation")

    def draw(count: int, rng: np.random.Generator) -> Floats:
        gaps: Floats = np.zeros(count)
        for part in strata:
            pooled = np.concatenate([part.ours, part.theirs])
            gaps += _gap(part, _random_sums(pooled, len(part.ours), count, rng))
        return gaps

    return Test(_random_p(draw, observed, seed, family), "Monte-Carlo permutation" + within)


def paired(gaps: Floats, seed: int = 0, family: int = 1) -> Test:
    """Test paired differences for a mean other than zero, by flipping their signs."""
    moved = gaps[gaps != 0]
    observed = float(moved.sum())
    if 2 ** len(moved) <= EXACT_UP_TO:
        bits = np.arange(2 ** len(moved))[:, None] >> np.arange(len(moved)) & 1
        return Test(_share((1.0 - 2.0 * bits) @ moved, observed), "exact sign flips")

    def draw(count: int, rng: np.random.Generator) -> Floats:
        return np.concatenate(
            [rng.choice([-1.0, 1.0], (rows, len(moved))) @ moved for rows in _batches(count)]
        )

    return Test(_random_p(draw, observed, seed, family), "Monte-Carlo sign flips")


def least_p(sizes: Sequence[tuple[int, int]]) -> float:
    """The smallest p that arms of these sizes, stratum by stratum, can reach at all."""
    ways = sum(lgamma(a + b + 1) - lgamma(a + 1) - lgamma(b + 1) for a, b in sizes)
    mirrored = all(a == b for a, b in sizes)  # then the opposite labelling is as extreme
    return min(1.0, (2 if mirrored else 1) * exp(-ways))


def least_paired_p(pairs: int) -> float:
    """The same for so many pairs."""
    return min(1.0, 2.0 ** (1 - pairs))


def _gap(part: Stratum, our_sum: Floats | np.float64) -> Floats:
    total = part.ours.sum() + part.theirs.sum()
    gap: Floats = part.our_weight * our_sum - part.their_weight * (total - our_sum)
    return gap


def _every_sum(pooled: Floats, size: int) -> Floats:
    sums: Floats = pooled[_every_pick(len(pooled), size)].sum(axis=1)
    return sums


@lru_cache(maxsize=2)  # a family of comparisons is mostly of arms of one size
def _every_pick(count: int, size: int) -> NDArray[np.int32]:
    places = (place for pick in combinations(range(count), size) for place in pick)
    return np.fromiter(places, dtype=np.int32).reshape(-1, size)


def _random_sums(pooled: Floats, size: int, count: int, rng: np.random.Generator) -> Floats:
    lumps, counts = np.unique(pooled, return_counts=True)
    if LUMPY * len(lumps) <= len(pooled):
        picked = rng.multivariate_hypergeometric(counts, size, count, method="marginals")
        few: Floats = picked @ lumps
        return few
    shuffled = (
        rng.permuted(np.broadcast_to(pooled, (rows, len(pooled))), axis=1) for rows in _batches(count)
    )
    return np.concatenate([rows[:, :size].sum(axis=1) for rows in shuffled])


def _batches(count: int, most: int = 2_000) -> list[int]:
    return [min(most, count - start) for start in range(0, count, most)]


def _random_p(draw: Draw, observed: float, seed: int, family: int) -> float:
    """A p from random relabellings, in two stages (after Besag and Clifford 1991).

    No p is smaller than one in the number of relabellings. That must not decide a family of many tests, so
    a p that may still be far smaller gets as many more as the family's strictest bar calls for.
    """
    rng = np.random.default_rng(seed)
    count, extreme = RANDOM, _extreme(draw(RANDOM, rng), observed)
    for rows in _batches(ceil(SPARE * family / ALPHA) - RANDOM, RANDOM) if extreme < FEW else ():
        count, extreme = count + rows, extreme + _extreme(draw(rows, rng), observed)
    return (extreme + 1) / (count + 1)


def _share(gaps: Floats, observed: float) -> float:
    return _extreme(gaps, observed) / len(gaps)


def _extreme(gaps: Floats, observed: float) -> int:
    slack = 1e-9 * max(1.0, abs(observed))
    return int((np.abs(gaps) >= abs(observed) - slack).sum())


def holm(ps: Sequence[float]) -> list[float]:
    """Holm's adjustment for a family of tests, in the order given."""
    adjusted = [0.0] * len(ps)
    highest = 0.0
    for rank, place in enumerate(sorted(range(len(ps)), key=lambda place: ps[place])):
        highest = max(highest, min(1.0, (len(ps) - rank) * ps[place]))
        adjusted[place] = highest
    return adjusted
