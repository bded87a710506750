"""Two shares against each other: an exact test that knows no more than the counts, and what it can detect.

Boschloo's test: Fisher's p is the statistic, and the p reported is the greatest chance, over every share that
both arms might have in truth, of a table as rare. It keeps its level and detects more than Fisher's own.
"""

from collections.abc import Sequence
from functools import lru_cache

import msgspec
import numpy as np
from numpy.typing import NDArray

from balrog_rag.results.statistics.censored import CensoredGame, log_rank_p

LEVEL, POWER = 0.05, 0.8
_GRID = 201
"""Shares in truth that are tried."""
_MANY = 40_000
"""Tables beyond which Boschloo's test takes too long: Fisher's p then, and power by the normal curve."""
_SAME = 1 + 1e-9
"""Two tables of equal p are equally rare, whatever the last digit says."""

Floats = NDArray[np.float64]


class Shares(msgspec.Struct, frozen=True):
    """So many of so many in one arm and in another, and how sure the difference is."""

    ours: int
    our_count: int
    theirs: int
    their_count: int
    p: float
    detects: float | None
    """The highest share below theirs that so many episodes tell from it in 4 of 5 cases; None: none."""
    test: str
    our_cut: int = 0
    """How many of ours were cut off, of which nobody knows how they would have ended."""
    their_cut: int = 0

    @property
    def sentence(self) -> str:
        """All of it in words."""
        mine, yours = self.ours / self.our_count, self.theirs / self.their_count
        verdict = "distinguishable" if self.p < LEVEL else "not distinguishable"
        if self.our_cut or self.their_cut:
            return (
                f"{self.ours} of {self.our_count} ({self.our_cut} cut off) against {self.theirs} of "
                f"{self.their_count} ({self.their_cut} cut off): {verdict}, p = {self.p:.2g} ({self.test} "
                "test; a game that was cut off counts only as long as it lasted)."
            )
        told = (
            f"{self.ours} of {self.our_count} ({mine:.0%}) against {self.theirs} of {self.their_count} "
            f"({yours:.0%}): {verdict}, p = {self.p:.2g} ({self.test}'s exact test)"
        )
        if not self.theirs:  # below which nothing can fall
            return f"{told}."
        if self.detects is None:
            return f"{told}; so few episodes detect no fall from {yours:.0%}."
        fall = f"a fall from {yours:.0%} to {self.detects:.0%}"
        return f"{told}; in 4 of 5 cases this many episodes detect {fall}."


def compare_shares(ours: int, our_count: int, theirs: int, their_count: int) -> Shares:
    """The test, and what it could have found."""
    detects = detectable(theirs / their_count, our_count, their_count)
    if our_count * their_count <= _MANY:
        p, test = exact_p(ours, our_count, theirs, their_count), "Boschloo"
    else:
        p, test = _fishers_p(ours, our_count, theirs, their_count), "Fisher"
    return Shares(ours, our_count, theirs, their_count, p, detects, test)


def compare_censored(ours: Sequence[CensoredGame], theirs: Sequence[CensoredGame]) -> Shares:
    """The same of games of which some were cut off."""
    met, cut = ([[getattr(game, what) for game in arm] for arm in (ours, theirs)] for what in ("met", "cut"))
    if not any(map(any, cut)):
        return compare_shares(sum(met[0]), len(ours), sum(met[1]), len(theirs))
    p = log_rank_p(ours, theirs)
    return Shares(
        sum(met[0]), len(ours), sum(met[1]), len(theirs), p, None, "log-rank", sum(cut[0]), sum(cut[1])
    )


def exact_p(ours: int, our_count: int, theirs: int, their_count: int) -> float:
    """Boschloo's two-sided p."""
    table = fisher(our_count, their_count)
    rarer = table <= table[ours, theirs] * _SAME
    return float(min(1.0, _chances(our_count, their_count, rarer).max()))


def _fishers_p(ours: int, our_count: int, theirs: int, their_count: int) -> float:
    from scipy.stats import fisher_exact

    return float(fisher_exact([[ours, our_count - ours], [theirs, their_count - theirs]])[1])


def power(ours: float, theirs: float, our_count: int, their_count: int) -> float:
    """How often the test finds two such shares different."""
    if our_count * their_count > _MANY:
        return _normal_power(ours, theirs, our_count, their_count)
    found = _rejected(our_count, their_count)
    return float(_binomial(our_count, ours) @ found @ _binomial(their_count, theirs))


def _normal_power(ours: float, theirs: float, our_count: int, their_count: int) -> float:
    """The same by the normal curve, on the arcsine scale, where a share's spread does not depend on it."""
    from scipy.special import ndtr, ndtri

    gap = 2 * abs(np.arcsin(np.sqrt(ours)) - np.arcsin(np.sqrt(theirs)))
    error = np.sqrt(1 / our_count + 1 / their_count)
    return float(ndtr(gap / error + ndtri(LEVEL / 2)))


def detectable(theirs: float, our_count: int, their_count: int) -> float | None:
    """The highest whole percentage below `theirs` that is found with a power of 0.8; None where none is."""
    for percent in range(int(theirs * 100), -1, -1):
        if power(percent / 100, theirs, our_count, their_count) >= POWER:
            return percent / 100
    return None


@lru_cache(maxsize=64)
def fisher(our_count: int, their_count: int) -> Floats:
    """Fisher's two-sided p of every table with these sizes."""
    from scipy.stats import hypergeom

    table = np.ones((our_count + 1, their_count + 1))
    for total in range(our_count + their_count + 1):
        mine = np.arange(max(0, total - their_count), min(our_count, total) + 1)
        chances = hypergeom.pmf(mine, our_count + their_count, our_count, total)
        order = np.argsort(chances)
        rarest = np.concatenate(([0.0], np.cumsum(chances[order])))
        as_rare = np.searchsorted(chances[order], chances * _SAME, side="right")
        table[mine, total - mine] = np.minimum(1.0, rarest[as_rare])
    return table


@lru_cache(maxsize=64)
def _rejected(our_count: int, their_count: int) -> Floats:
    """1 for every table whose exact p is below the level."""
    table = fisher(our_count, their_count)
    levels = np.unique(table)
    low, high = 0, len(levels)
    while low < high:  # the chance of a table as rare grows with the level
        middle = (low + high) // 2
        if _chances(our_count, their_count, table <= levels[middle] * _SAME).max() < LEVEL:
            low = middle + 1
        else:
            high = middle
    return (table <= levels[low - 1] * _SAME).astype(float) if low else np.zeros_like(table)


def _chances(our_count: int, their_count: int, tables: NDArray[np.bool_]) -> Floats:
    """The chance of one of these tables for each share that both arms might have."""
    shares = np.linspace(0.0, 1.0, _GRID)
    mine = np.array([_binomial(our_count, share) for share in shares])
    yours = np.array([_binomial(their_count, share) for share in shares])
    return np.asarray(np.einsum("gi,ij,gj->g", mine, tables.astype(float), yours, optimize=True))


@lru_cache(maxsize=2048)
def _binomial(count: int, share: float) -> Floats:
    from scipy.stats import binom

    return np.asarray(binom.pmf(np.arange(count + 1), count, share))
