"""Looking at results while they come in, without fooling oneself.

A test at 5 % done at every look finds differences that are not there far more often than one time in
twenty. So the 5 % are spent bit by bit: how much may be spent after a share of the planned episodes
follows a spending function (O'Brien and Fleming's shape: hardly anything early), and a look calls the
verdict clear only when its own p is at most what that look may spend, less what the looks before it were
given. The sum over these looks never exceeds 5 %, whatever the tests' dependence, so the promise holds for
exact tests on lumpy scores too; it is a little stricter than boundaries computed for normal scores. It holds
for the looks that were counted: whoever looks more often than told spends more.
"""

from math import sqrt

import msgspec

from balrog_rag.results.statistics.units import ALPHA


class PlannedLook(msgspec.Struct, frozen=True):
    """One look at the data: what it may spend, and whether the verdict is clear."""

    share: float
    """Of the planned episodes, how many are in."""
    allowed: float
    p: float
    spent: float
    """All that may have been spent up to and with this look."""

    @property
    def stop(self) -> bool:
        """Whether the arms can be told apart now, or the plan is played out."""
        return self.clear or self.share >= 1

    @property
    def clear(self) -> bool:
        """Whether the arms can be told apart now."""
        return self.p <= self.allowed


def spending(share: float) -> float:
    """How much of the 5 % may be spent once this share of the plan is in."""
    from scipy.special import ndtr, ndtri

    share = min(max(share, 0.0), 1.0)
    return float(2 * ndtr(ndtri(ALPHA / 2) / sqrt(share))) if share else 0.0


def look(p: float, episodes: int, planned: int, before: PlannedLook | None = None) -> PlannedLook:
    """Judge a p found with `episodes` of the `planned` ones an arm; `before` is the look before this one."""
    share = min(1.0, episodes / planned)
    spent = spending(share)
    return PlannedLook(share, max(0.0, spent - (before.spent if before else 0.0)), p, spent)
