"""How far a difference of means may be from the truth, with room for what so few draws do not show.

Five episodes need not show the one game in ten that goes well. So beside the draws of an arm stand two not
seen, and the shares of all are drawn from a Dirichlet distribution, as for a mean (`interval.py`). Where
they lie, and how much they weigh, decides how often a verdict is wrong; `benchmarks/coverage.py` simulates
it, `docs/notes/2026-11-statistics.md` shows the table.

- Each lies beyond the arm's best (or worst), at an exponential distance whose mean is two thirds of that from
  there to the arm's median.
- Up to 20 draws each weighs as much as one that was seen, with more draws less: down to half as much.
- With fewer than 20 draws they lie further out, the further the fewer: with ten or less two and a half
  times as far (beside an arm of twice as many three and a half times), and as far again as the other arm's
  best (or worst) goes beyond this one's.
- An arm that hardly varies beside the other, or at all, shows nothing of its own spread: the range of both
  arms, twice, stands for it.
- Of a family of many comparisons each must hold at a stricter level, where rarer scores count: there an arm
  passes for a smaller one, in which a score is missed at 5 % as surely as in this one at that level.

Solved-or-not scores need none of this: nothing lies beyond 0 and 100, so theirs is Newcombe's interval.
"""

from collections.abc import Sequence
from math import log, sqrt

import msgspec
import numpy as np

from balrog_rag.results.statistics.estimate import Estimate, Interval, Shrunk, gap, smooth, student
from balrog_rag.results.statistics.interval import BCA_TO, mean_estimate
from balrog_rag.results.statistics.permutation import LEAST_PAIRS
from balrog_rag.results.statistics.units import ALPHA, NO_SPREAD, Bounds, Floats, constant

FEW = 20
"""With so many draws or fewer, scores not seen weigh as much as those seen."""
EASILY_MISSED = 58
"""So many draws or fewer miss a score of one game in twenty in more than 5 % of cases."""
HALF = 2
"""Part of that many, below which they lie as far out as they ever do."""
FURTHER = 1.5
"""How many times the distance from median to best they then lie further out."""
ALONE = 1.0
"""How much further still in an arm beside one of twice as many: its own draws alone tell what is missing."""
FLAT = 0.05
"""An arm whose range is so small beside the other's hardly varies; how far apart they are says nothing."""
TWICE = 2.0
FAR = 2 / 3
"""How far they lie in the mean, in shares of that distance."""
DRAWS = 10_000


def patience(family: int) -> float:
    """How much smaller an arm counts in a family: (1 - q)^n at its level is that at 5 % of fewer draws."""
    return log(ALPHA / 2) / log(ALPHA / 2 / family)


class Room(msgspec.Struct, frozen=True):
    """What a comparison knows of scores not yet seen: the least and the best of both arms."""

    least: float
    best: float
    widest: float = 0.0
    """The range of the arm that varies more."""
    most: int = 0
    """The draws of the larger arm."""
    binary: bool = False
    family: int = 1

    def unseen(self, drawn: Floats) -> tuple[float, float, float]:
        """Two scores that this arm did not show, and the share that each is given."""
        if self.binary:
            return self.least, self.best, 0.5
        count, middle = len(drawn) * patience(self.family), float(np.median(drawn))
        few = min(1.0, max(0.0, (FEW - count) / (FEW / HALF)))
        least, best = float(drawn.min()), float(drawn.max())
        down, up = middle - least, best - middle
        if down + up <= FLAT * self.widest:
            down = up = TWICE * (self.best - self.least)
        further = 1 + few * (FURTHER + ALONE * (2 * len(drawn) <= self.most))
        low = least - further * down - few * (least - self.least)
        high = best + further * up + few * (self.best - best)
        return low, high, min(1.0, max(0.5, FEW / count))

    def mean(self, drawn: Floats, draws: int) -> Estimate:
        """The mean of an arm's draws."""
        if len(drawn) > BCA_TO and not self.binary:
            return student(drawn)
        low, high, share = self.unseen(drawn)
        return smooth(drawn, low, high, share, draws, 0.0 if self.binary else FAR)


def room(arms: Sequence[Floats], bounds: Bounds, family: int) -> Room:
    """The room for these arms' scores."""
    if bounds.binary:
        return Room(bounds.least, bounds.most, binary=True)
    drawn = np.concatenate(arms)
    widest = max(float(np.ptp(arm)) for arm in arms)
    return Room(float(drawn.min()), float(drawn.max()), widest, max(map(len, arms)), family=family)


def difference(
    strata: Sequence[tuple[Floats, Floats]], bounds: Bounds, draws: int = DRAWS, family: int = 1
) -> Estimate:
    """The difference of two independent means, each over all its strata, ours less theirs."""
    cells = [[pair[side] for pair in strata] for side in (0, 1)]
    arms = [np.concatenate(own) for own in cells]
    means = _means(arms, bounds, draws, family)
    ours, theirs = (
        Shrunk(mean.middle, mean, sqrt(design_effect(own))) for mean, own in zip(means, cells, strict=True)
    )
    return gap(ours, theirs)


def _means(arms: Sequence[Floats], bounds: Bounds, draws: int, family: int) -> list[Estimate]:
    if constant(np.concatenate(arms)) and not bounds.binary:  # no score tells how far another may be
        return [mean_estimate(drawn, np.ones(len(drawn)), bounds) for drawn in arms]
    around = room(arms, bounds, family)
    return [around.mean(drawn, draws) for drawn in arms]


def paired_difference(
    ours: Floats, theirs: Floats, bounds: Bounds, draws: int = DRAWS, family: int = 1
) -> Estimate:
    """The mean difference of pairs.

    Of more than 20 pairs of which six, and a quarter, differ: by the differences seen. Else, and for
    solved-or-not scores, by the arms' means and the pairs' correlation: a few differences say too little,
    and each arm's own scores say what else there may be.
    """
    gaps = ours - theirs
    differing = np.count_nonzero(np.abs(gaps) > NO_SPREAD)
    telling = differing >= max(LEAST_PAIRS, len(gaps) / 4) and not bounds.binary
    if len(gaps) * patience(family) > FEW and telling:
        return room([gaps, np.zeros(1)], Bounds(), family).mean(gaps, draws)
    mine, yours = _means([ours, theirs], bounds, draws, family)
    return gap(mine, yours, correlation(ours, theirs, bounds))


def correlation(ours: Floats, theirs: Floats, bounds: Bounds) -> float:
    """Pearson's; for solved-or-not with Newcombe's continuity correction; 0 where an arm is constant."""
    if constant(ours) or constant(theirs):
        return 0.0
    spreads = float(ours.std() * theirs.std())
    together = float(np.mean((ours - ours.mean()) * (theirs - theirs.mean())))
    if bounds.binary and together > 0:
        together = max(0.0, together - (bounds.most - bounds.least) ** 2 / (2 * len(ours)))
    return max(-1.0, min(1.0, together / spreads))


def agreeing(made: Interval, claimed: bool) -> Interval:
    """The interval, stretched to hold zero where no difference of means is claimed; never cut."""
    if claimed:
        return made
    return msgspec.structs.replace(made, low=min(made.low, 0.0), high=max(made.high, 0.0))


def design_effect(cells: Sequence[Floats]) -> float:
    """Kish's: the variance of a stratified mean in shares of a simple random sample's.

    Never more than 1, and never so little as if these draws were worth more than their number squared.
    """
    drawn = np.concatenate(cells)
    free = len(drawn) - len(cells)
    if len(cells) == 1 or free == 0 or constant(drawn):
        return 1.0
    within = sum(float(((cell - cell.mean()) ** 2).sum()) for cell in cells) / free
    return max(1 / len(drawn), min(1.0, within / float(drawn.var(ddof=1))))
