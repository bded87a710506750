"""Intervals for differences of means that allow for scores which a small sample did not show.

Five episodes may easily miss the one game in ten that goes well. So two unseen scores are added to the draws
of each arm, and the weights of all are drawn from a Dirichlet distribution, as for a mean (`interval.py`).
The position and weight of the unseen scores determine how often a verdict is wrong; `benchmarks/coverage.py`
simulates this, and `docs/notes/2026-11-statistics.md` shows the table.

- Each unseen score lies beyond the arm's best (or worst) score, at an exponentially distributed distance. Its
  mean is two thirds of the distance from the best (or worst) to the arm's median.
- With up to 20 draws, an unseen score weighs as much as an observed one. With more draws its weight falls to
  one half.
- With fewer than 20 draws the distance grows as the number falls. With ten or fewer it is 2.5 times as long
  (3.5 times if the other arm has at least twice as many draws), plus the amount by which the other arm's best
  (or worst) exceeds this arm's.
- If an arm has no spread, or hardly any compared with the other, its own range says nothing: twice the range
  of both arms together is used instead.
- In a family of comparisons each one must hold at a stricter level, at which rarer scores matter. The arm is
  then treated as a smaller one, which misses a score at 5 % as surely as this one does at the stricter level.

Solved-or-not scores need none of this: no score lies beyond 0 and 100. They have Newcombe's interval.
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
"""Number of draws up to which an unseen score weighs as much as an observed one."""
EASILY_MISSED = 58
"""Number of draws up to which a score of one game in twenty is missed in more than 5 % of cases."""
HALF = 2
"""FEW divided by this is the number of draws below which the distance no longer grows."""
FURTHER = 1.5
"""Added to the distance of unseen scores in such a small arm, in units of that distance."""
ALONE = 1.0
"""Added if the other arm has at least twice as many draws, because unequal arms need more room."""
FLAT = 0.05
"""Range relative to the other arm's below which an arm is treated as if it did not vary."""
TWICE = 2.0
"""Multiple of both arms' range that replaces the range of an arm without spread."""
FAR = 2 / 3
"""Mean distance of an unseen score, as a share of the distance from median to best (or worst)."""
DRAWS = 10_000


def patience(family: int) -> float:
    """The factor by which an arm counts as smaller in a family: (1 - q)^n then reaches the stricter level."""
    return log(ALPHA / 2) / log(ALPHA / 2 / family)


class Room(msgspec.Struct, frozen=True):
    """Where unseen scores may lie in a comparison: the lowest and highest scores of both arms."""

    least: float
    best: float
    widest: float = 0.0
    """The range of the arm that varies more."""
    most: int = 0
    """Number of draws of the larger arm."""
    binary: bool = False
    family: int = 1

    def unseen(self, drawn: Floats) -> tuple[float, float, float]:
        """Two unseen scores of this arm, and the weight of each."""
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
        """Estimate the mean of an arm."""
        if len(drawn) > BCA_TO and not self.binary:
            return student(drawn)
        low, high, share = self.unseen(drawn)
        return smooth(drawn, low, high, share, draws, 0.0 if self.binary else FAR)


def room(arms: Sequence[Floats], bounds: Bounds, family: int) -> Room:
    """Where unseen scores of these arms may lie."""
    if bounds.binary:
        return Room(bounds.least, bounds.most, binary=True)
    drawn = np.concatenate(arms)
    widest = max(float(np.ptp(arm)) for arm in arms)
    return Room(float(drawn.min()), float(drawn.max()), widest, max(map(len, arms)), family=family)


def difference(
    strata: Sequence[tuple[Floats, Floats]], bounds: Bounds, draws: int = DRAWS, family: int = 1
) -> Estimate:
    """Estimate the difference of two independent means over all strata, ours minus theirs."""
    cells = [[pair[side] for pair in strata] for side in (0, 1)]
    arms = [np.concatenate(own) for own in cells]
    means = _means(arms, bounds, draws, family)
    ours, theirs = (
        Shrunk(mean.middle, mean, sqrt(design_effect(own))) for mean, own in zip(means, cells, strict=True)
    )
    return gap(ours, theirs)


def _means(arms: Sequence[Floats], bounds: Bounds, draws: int, family: int) -> list[Estimate]:
    if (
        constant(np.concatenate(arms)) and not bounds.binary
    ):  # without spread there is no distance to extrapolate
        return [mean_estimate(drawn, np.ones(len(drawn)), bounds) for drawn in arms]
    around = room(arms, bounds, family)
    return [around.mean(drawn, draws) for drawn in arms]


def paired_difference(
    ours: Floats, theirs: Floats, bounds: Bounds, draws: int = DRAWS, family: int = 1
) -> Estimate:
    """Estimate the mean difference of pairs.

    With more than 20 pairs, of which at least six and at least a quarter differ, the observed differences are
    used. Otherwise, and for solved-or-not scores, the arms' means and the pairs' correlation are used: a few
    differences show too little of what else may occur, and each arm's own scores show more.
    """
    gaps = ours - theirs
    differing = np.count_nonzero(np.abs(gaps) > NO_SPREAD)
    telling = differing >= max(LEAST_PAIRS, len(gaps) / 4) and not bounds.binary
    if len(gaps) * patience(family) > FEW and telling:
        return room([gaps, np.zeros(1)], Bounds(), family).mean(gaps, draws)
    mine, yours = _means([ours, theirs], bounds, draws, family)
    return gap(mine, yours, correlation(ours, theirs, bounds))


def correlation(ours: Floats, theirs: Floats, bounds: Bounds) -> float:
    """Pearson's correlation, for solved-or-not with Newcombe's correction; 0 if an arm is constant."""
    if constant(ours) or constant(theirs):
        return 0.0
    spreads = float(ours.std() * theirs.std())
    together = float(np.mean((ours - ours.mean()) * (theirs - theirs.mean())))
    if bounds.binary and together > 0:
        together = max(0.0, together - (bounds.most - bounds.least) ** 2 / (2 * len(ours)))
    return max(-1.0, min(1.0, together / spreads))


def agreeing(made: Interval, claimed: bool) -> Interval:
    """Extend the interval to zero unless a difference of means is claimed, so that both say the same."""
    if claimed:
        return made
    return msgspec.structs.replace(made, low=min(made.low, 0.0), high=max(made.high, 0.0))


def design_effect(cells: Sequence[Floats]) -> float:
    """Kish's design effect: the variance of a stratified mean relative to a simple random sample's.

    At most 1, and at least one divided by the number of draws.
    """
    drawn = np.concatenate(cells)
    free = len(drawn) - len(cells)
    if len(cells) == 1 or free == 0 or constant(drawn):
        return 1.0
    within = sum(float(((cell - cell.mean()) ** 2).sum()) for cell in cells) / free
    return max(1 / len(drawn), min(1.0, within / float(drawn.var(ddof=1))))
