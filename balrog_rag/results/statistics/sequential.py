"""Interim looks at results without inflating the error rate.

Testing at 5 % at every look finds false differences far more often than one time in twenty. So the 5 % are
spent gradually: a spending function (of O'Brien and Fleming's shape: very little early) gives the amount that
may be spent after a share of the planned episodes, and a look calls the verdict clear only if its own p is at
most the amount for that look, minus what earlier looks were given. The sum over these looks never exceeds 5
%, however the tests depend on each other, so this also holds for exact tests on discrete scores; it is
slightly stricter than boundaries computed for normal scores. It holds only for the looks that were counted:
further looks spend more.
"""

from math import sqrt

import msgspec

from balrog_rag.results.statistics.units import ALPHA


class PlannedLook(msgspec.Struct, frozen=True):
    """One look at the data: the level it may spend, and whether the verdict is clear."""

    share: float
    """Share of the planned episodes that have ended."""
    allowed: float
    p: float
    spent: float
    """Total spent up to and including this look."""

    @property
    def stop(self) -> bool:
        """Whether the arms can be distinguished now, or the plan is complete."""
        return self.clear or self.share >= 1

    @property
    def clear(self) -> bool:
        """Whether the arms can be distinguished now."""
        return self.p <= self.allowed


def spending(share: float) -> float:
    """How much of the 5 % may be spent after this share of the plan."""
    from scipy.special import ndtr, ndtri

    share = min(max(share, 0.0), 1.0)
    return float(2 * ndtr(ndtri(ALPHA / 2) / sqrt(share))) if share else 0.0


def look(
    p: float, episodes: int, planned: int, before: PlannedLook | None = None, family: int = 1
) -> PlannedLook:
    """Judge a p found with `episodes` of `planned` per arm; `before` is the previous look.

    `family` comparisons share the 5 % equally.
    """
    share = min(1.0, episodes / planned)
    spent = spending(share) / family
    return PlannedLook(share, max(0.0, spent - (before.spent if before else 0.0)), p, spent)
