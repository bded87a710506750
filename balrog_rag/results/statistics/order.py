"""Which arm scores higher more often: the probability that one arm's episode beats the other's, ties half.

Independent arms: Brunner and Munzel's statistic, by permutation (Neubert and Brunner 2007). Exact if both
arms are alike; otherwise, if neither wins more often, it holds its level approximately, so its t distribution
must agree. Only two values (solved or not): Boschloo's exact test. Pairs: the sign test.

An arm of fewer than five draws is not decided, nor are two arms of five that never vary: if one arm is
constant and the other falls on either side of it by chance, five draws fall on one side in 1 of 16 cases.
For the same reason fewer than ten draws against more than twice as many must lie on one side of the others'
median by a sign test, too: without it such arms are called different in up to 11 % of cases instead of 5.
"""

from collections.abc import Sequence
from math import ceil, comb

import msgspec
import numpy as np
from numpy.typing import NDArray

from balrog_rag.results.statistics.permutation import (
    FEW,
    SPARE,
    Stratum,
    every_pick,
    paired,
)
from balrog_rag.results.statistics.shares import exact_p
from balrog_rag.results.statistics.units import ALPHA, Floats

LEAST = 5
"""Draws per arm below which no claim is made."""
TOO_FEW = f"fewer than {LEAST} draws"
"""Given as the method where no test was made."""
SHORT, LOPSIDED = 10, 2
"""Draws, and the ratio of both arms' draws, from which Brunner and Munzel's statistic needs no sign test."""
EXACT_UP_TO = 50_000
CELLS = 8_000_000
"""Draws relabelled in the first stage."""
RANDOM, LEAST_RANDOM = 9_999, 1_999
BLOCK = 4_000_000
BOSCHLOO_UP_TO = 40_000
"""Number of tables above which Boschloo's test takes too long."""
WIDE = 200
"""Number of distinct scores above which the statistic's t distribution suffices without a permutation."""
MOSTLY = 2 / 3
"""The share of a single value from which relabellings as extreme as the observed one count half.

They are so frequent there that a permutation test would make a claim in 1 case of 200 instead of 20.
"""
HALF = 0.5
NONE = 1e-12


class Order(msgspec.Struct, frozen=True):
    """How often our arm is higher, and the p of that."""

    superiority: float = 0.5
    """The probability that one of ours beats one of theirs, ties counted half."""
    p: float = 1.0
    method: str = "none"


class Moments(msgspec.Struct, frozen=True):
    """Per relabelling: the superiority minus one half, and each arm's part of its variance."""

    gap: Floats
    ours: Floats
    theirs: Floats

    @property
    def statistic(self) -> Floats:
        """Brunner and Munzel's statistic without its sign; infinite if the arms do not overlap."""
        variance = self.ours + self.theirs
        with np.errstate(divide="ignore", invalid="ignore"):
            made = np.abs(self.gap) / np.sqrt(np.where(variance > NONE, variance, 0.0))
        return np.where(np.abs(self.gap) > NONE, made, 0.0)


def independent_order(
    strata: Sequence[Stratum], solved: bool = False, seed: int = 0, family: int = 1
) -> Order:
    """The order of two independent arms, averaged over strata like their means."""
    parts = [Lumps.of(part) for part in strata]
    weights = _weights(strata)
    seen = [part.moments(part.seen[None, :]) for part in parts]
    observed = _combined(seen, weights)
    superiority = 0.5 + float(observed.gap[0])
    sizes = [(len(part.ours), len(part.theirs)) for part in strata]
    if min(sum(size[side] for size in sizes) for side in (0, 1)) < LEAST:
        return Order(superiority, 1.0, TOO_FEW)
    table = parts[0].table if len(parts) == 1 else None
    if table is not None and sizes[0][0] * sizes[0][1] <= BOSCHLOO_UP_TO:
        return Order(
            superiority, max(exact_p(*table), 0.0 if solved else _flat(table)), "Boschloo's exact test"
        )
    by_t = max(_by_t(seen, weights, sizes), _by_median(strata))
    if all(
        len(part.values) > WIDE and min(size) >= WIDE / 2 for part, size in zip(parts, sizes, strict=True)
    ):
        return Order(superiority, by_t, "Brunner and Munzel's test")
    p = _permuted(parts, weights, float(observed.statistic[0]), seed, family)
    return Order(superiority, max(p, by_t), "permutation of Brunner and Munzel's statistic")


def paired_order(gaps: Sequence[Floats], seed: int = 0, family: int = 1) -> Order:
    """The sign test of pairs; for pairs of several environments, by flipping weighted signs."""
    superiority = float(np.mean([np.mean(np.sign(part)) for part in gaps])) / 2 + 0.5
    if len(gaps) == 1:
        above, below = int((gaps[0] > 0).sum()), int((gaps[0] < 0).sum())
        return Order(superiority, _sign_p(min(above, below), above + below), "exact sign test")
    count = sum(len(part) for part in gaps)
    signs = np.concatenate([np.sign(part) * count / (len(gaps) * len(part)) for part in gaps])
    return Order(superiority, paired(signs, seed, family).p, "sign test")


def _sign_p(fewer: int, count: int) -> float:
    from scipy.special import bdtr

    return min(1.0, 2 * float(bdtr(fewer, count, 0.5))) if count else 1.0


def _by_median(strata: Sequence[Stratum]) -> float:
    """The sign test of a short arm's draws against the medians of a much longer one; 0 for other arms."""
    arms = [(part.ours, part.theirs) for part in strata]
    short = min((0, 1), key=lambda side: sum(len(arm[side]) for arm in arms))
    fewer, more = (sum(len(arm[side]) for arm in arms) for side in (short, 1 - short))
    if fewer >= SHORT or more <= LOPSIDED * fewer:
        return 0.0
    signs = np.concatenate([np.sign(arm[short] - np.median(arm[1 - short])) for arm in arms])
    above, below = int((signs > 0).sum()), int((signs < 0).sum())
    return _sign_p(min(above, below), above + below)


def _flat(table: tuple[int, int, int, int]) -> float:
    """The sign test of one arm against another if neither varies; 0 if one does."""
    ours, our_count, theirs, their_count = table
    if 0 < ours < our_count or 0 < theirs < their_count:
        return 0.0
    return 2.0 ** (1 - min(our_count, their_count))


class Lumps(msgspec.Struct, frozen=True):
    """The distinct values of a stratum, sorted: their frequencies in total and in our arm."""

    values: Floats
    counts: NDArray[np.intp]
    seen: Floats
    size: int
    """Size of our arm."""

    @classmethod
    def of(cls, part: Stratum) -> "Lumps":
        """The values of a stratum; differences from rounding are ignored."""
        pooled = np.round(np.concatenate([part.ours, part.theirs]), 9)
        found, places, counts = np.unique(pooled, return_inverse=True, return_counts=True)
        seen = np.bincount(places[: len(part.ours)], minlength=len(found)).astype(float)
        return cls(found, counts, seen, len(part.ours))

    @property
    def total(self) -> int:
        """Size of both arms."""
        return int(self.counts.sum())

    @property
    def commonest(self) -> float:
        """The share of the most frequent value."""
        return float(self.counts.max() / self.total)

    @property
    def table(self) -> tuple[int, int, int, int] | None:
        """For two values: frequency of the higher one and size, for ours and theirs; otherwise None."""
        if len(self.values) != 2:
            return None
        return int(self.seen[1]), self.size, int(self.counts[1] - self.seen[1]), self.total - self.size

    def moments(self, ours: Floats) -> Moments:
        """The moments for rows of counts: how many of each value are labelled ours."""
        theirs = self.counts - ours
        size, other = self.size, self.total - self.size
        beaten = (np.cumsum(theirs, axis=1) - theirs / 2) / other
        beating = (np.cumsum(ours, axis=1) - ours / 2) / size
        mean, mean_of_theirs = (ours * beaten).sum(axis=1) / size, (theirs * beating).sum(axis=1) / other
        spread = (ours * beaten**2).sum(axis=1) / size - mean**2
        other_spread = (theirs * beating**2).sum(axis=1) / other - mean_of_theirs**2
        return Moments(
            mean - 0.5,
            np.maximum(spread, 0.0) / max(1, size - 1),
            np.maximum(other_spread, 0.0) / max(1, other - 1),
        )

    def relabelled(self, count: int, rng: np.random.Generator) -> Floats:
        """Rows of random counts."""
        if 4 * len(self.values) <= self.total:
            drawn = rng.multivariate_hypergeometric(self.counts, self.size, count, method="marginals")
            return drawn.astype(float)
        labels = np.zeros((count, self.total), dtype=np.int8)
        labels[:, : self.size] = 1
        return self._lumped(rng.permuted(labels, axis=1))

    def every(self) -> Floats:
        """Rows of all relabellings."""
        picks = every_pick(self.total, self.size)
        labels = np.zeros((len(picks), self.total), dtype=np.int8)
        np.put_along_axis(labels, picks, 1, axis=1)
        return self._lumped(labels)

    def _lumped(self, labels: NDArray[np.int8]) -> Floats:
        if len(self.values) == self.total:
            return labels.astype(float)
        starts = np.concatenate([[0], np.cumsum(self.counts)[:-1]])
        made: Floats = np.add.reduceat(labels, starts, axis=1, dtype=float)
        return made


def _weights(strata: Sequence[Stratum]) -> Floats:
    """Equal weights for environments, and for strata within them."""
    envs = [part.env for part in strata]
    return np.array([1 / (len(set(envs)) * envs.count(env)) for env in envs])


def _combined(parts: Sequence[Moments], weights: Floats) -> Moments:
    return Moments(
        np.sum([each.gap * weight for each, weight in zip(parts, weights, strict=True)], axis=0),
        np.sum([each.ours * weight**2 for each, weight in zip(parts, weights, strict=True)], axis=0),
        np.sum([each.theirs * weight**2 for each, weight in zip(parts, weights, strict=True)], axis=0),
    )


def _permuted(parts: Sequence[Lumps], weights: Floats, observed: float, seed: int, family: int) -> float:
    tied = HALF if max(part.commonest for part in parts) >= MOSTLY else 1.0
    if len(parts) == 1 and comb(parts[0].total, parts[0].size) <= EXACT_UP_TO:
        return _share(parts[0].moments(parts[0].every()).statistic, observed, tied)
    rng, width = np.random.default_rng(seed), sum(len(part.values) for part in parts)
    count = min(RANDOM, max(LEAST_RANDOM, CELLS // width))
    extreme = _extreme(parts, weights, observed, tied, count, rng)
    more = min(ceil(SPARE * family / ALPHA), 8 * CELLS // width) - count
    if extreme < FEW and more > 0:
        extreme += _extreme(parts, weights, observed, tied, more, rng)
        count += more
    return (extreme + 1) / (count + 1)


def _extreme(
    parts: Sequence[Lumps],
    weights: Floats,
    observed: float,
    tied: float,
    count: int,
    rng: np.random.Generator,
) -> float:
    """Count the random relabellings that are as extreme, one block at a time."""
    rows, found = max(1, BLOCK // sum(part.total for part in parts)), 0.0
    for start in range(0, count, rows):
        size = min(rows, count - start)
        drawn = [part.moments(part.relabelled(size, rng)) for part in parts]
        found += _share(_combined(drawn, weights).statistic, observed, tied) * size
    return found


def _share(statistics: Floats, observed: float, tied: float) -> float:
    """The share that is as extreme as the observed one; equal ones count `tied`."""
    close = np.isclose(statistics, observed, rtol=1e-9, atol=1e-9)
    return float(np.mean(np.where(close, tied, statistics > observed)))


def _by_t(seen: Sequence[Moments], weights: Floats, sizes: Sequence[tuple[int, int]]) -> float:
    """Brunner and Munzel's own p; 0 if the arms do not overlap, which only the permutation can judge."""
    from scipy.special import stdtr

    whole = _combined(seen, weights)
    variance = float(whole.ours[0] + whole.theirs[0])
    if variance <= NONE:
        return 0.0
    spent = sum(
        weight**4
        * (float(each.ours[0]) ** 2 / max(1, ours - 1) + float(each.theirs[0]) ** 2 / max(1, theirs - 1))
        for each, weight, (ours, theirs) in zip(seen, weights, sizes, strict=True)
    )
    return 2 * float(stdtr(variance**2 / spent, -whole.statistic[0]))
