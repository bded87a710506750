"""Compare two shares: an exact test that only uses the counts, and its power.

Boschloo's test: the statistic is Fisher's p, and the reported p is the maximum, over every common true share,
of the probability of a table at least as rare. It keeps its level and has more power than Fisher's test.
"""

from collections.abc import Sequence
from functools import lru_cache

import msgspec
import numpy as np
from numpy.typing import NDArray

from balrog_rag.results.statistics.censored import CensoredGame, log_rank_p

LEVEL, POWER = 0.05, 0.8
_GRID = 201
"""Number of true shares that are tried."""
_MANY = 40_000
"""Number of tables above which Boschloo's test takes too long: then Fisher's p and normal power are used."""
_SAME = 1 + 1e-9
"""Relative tolerance for tables of equal p."""

Floats = NDArray[np.float64]


class Shares(msgspec.Struct, frozen=True):
    """Two shares given as counts, and the result of comparing them."""

    ours: int
    our_count: int
    theirs: int
    their_count: int
    p: float
    detects: float | None
    """The highest share below theirs that these sizes detect in 4 of 5 cases; None: none."""
    test: str
    our_cut: int = 0
    """How many of our games were cut off, so that their ends are unknown."""
    their_cut: int = 0

    @property
    def sentence(self) -> str:
        """The result in words."""
        mine, yours = self.ours / self.our_count, self.theirs / self.their_count
        verdict = "distinguishable" if self.p < LEVEL else "not distinguishable"
        if self.our_cut or self.their_cut:
            return (
                f"{self.ours} of {self.our_count} ({self.our_cut} cut off) against {self.theirs} of "
                f"{self.their_count} ({self.their_cut} cut off): {verdict}, p = {self.p:.2g} ({self.test} "
                "test; a game that was cut off counts only as long as it lasted)."
            )
        result = (
            f"{self.ours} of {self.our_count} ({mine:.0%}) against {self.theirs} of {self.their_count} "
            f"({yours:.0%}): {verdict}, p = {self.p:.2g} ({self.test}'s exact test)"
        )
        if not self.theirs:  # a share of zero cannot fall
            return f"{result}."
        if self.detects is None:
            return f"{result}; too few episodes to detect a fall from {yours:.0%}."
        fall = f"a fall from {yours:.0%} to {self.detects:.0%}"
        return f"{result}; in 4 of 5 cases this many episodes detect {fall}."


def compare_shares(ours: int, our_count: int, theirs: int, their_count: int) -> Shares:
    """Test two shares, and compute what the test can detect."""
    detects = detectable(theirs / their_count, our_count, their_count)
    if our_count * their_count <= _MANY:
        p, test = exact_p(ours, our_count, theirs, their_count), "Boschloo"
    else:
        p, test = _fishers_p(ours, our_count, theirs, their_count), "Fisher"
    return Shares(ours, our_count, theirs, their_count, p, detects, test)


def compare_censored(ours: Sequence[CensoredGame], theirs: Sequence[CensoredGame]) -> Shares:
    """The same for games of which some were cut off."""
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
    """The probability that the test distinguishes two such shares."""
    if our_count * their_count > _MANY:
        return _normal_power(ours, theirs, our_count, their_count)
    found = _rejected(our_count, their_count)
    return float(_binomial(our_count, ours) @ found @ _binomial(their_count, theirs))


def _normal_power(ours: float, theirs: float, our_count: int, their_count: int) -> float:
    """The same by normal approximation on the arcsine scale, on which the spread is constant."""
    from scipy.special import ndtr, ndtri

    gap = 2 * abs(np.arcsin(np.sqrt(ours)) - np.arcsin(np.sqrt(theirs)))
    error = np.sqrt(1 / our_count + 1 / their_count)
    return float(ndtr(gap / error + ndtri(LEVEL / 2)))


def detectable(theirs: float, our_count: int, their_count: int) -> float | None:
    """The highest whole percentage below `theirs` that is detected with 80 % power; None if there is none."""
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
    while low < high:  # the probability grows with the level
        middle = (low + high) // 2
        if _chances(our_count, their_count, table <= levels[middle] * _SAME).max() < LEVEL:
            low = middle + 1
        else:
            high = middle
    return (table <= levels[low - 1] * _SAME).astype(float) if low else np.zeros_like(table)


def _chances(our_count: int, their_count: int, tables: NDArray[np.bool_]) -> Floats:
    """The probability of one of these tables for each common true share."""
    shares = np.linspace(0.0, 1.0, _GRID)
    mine = np.array([_binomial(our_count, share) for share in shares])
    yours = np.array([_binomial(their_count, share) for share in shares])
    return np.asarray(np.einsum("gi,ij,gj->g", mine, tables.astype(float), yours, optimize=True))


@lru_cache(maxsize=2048)
def _binomial(count: int, share: float) -> Floats:
    from scipy.stats import binom

    return np.asarray(binom.pmf(np.arange(count + 1), count, share))
