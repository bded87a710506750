"""Intervals for means and for their differences that keep their promise on progression's lumpy values.

A mean of 100 to 1,000 draws has the bias-corrected, accelerated bootstrap (BCa), from scipy. Below that it
is far too short (five episodes: 66 to 90 in 100 instead of 95), because a handful of episodes shows neither
the zeros nor the good games that are still to come. There a smooth bootstrap takes its place: weights drawn
from a Dirichlet distribution, one share for each draw seen and half a share each for two not seen, the
least value possible and twice the best. For solved-or-not scores that is Jeffreys' interval, at any number
of draws. Beyond 1,000 draws, and for plain counts such as steps and dollars, it is Student's t.

Sums and differences of means take their intervals from those of the single means: the method of variance
estimates recovery (MOVER; Zou and Donner 2008), which for solved-or-not scores is Newcombe's. So where all
scores are the same a difference is as uncertain as its two means are. `docs/evaluation.md` shows the
coverage, simulated.
"""

from collections.abc import Sequence
from math import hypot, sqrt

import msgspec
import numpy as np

from balrog_rag.results.statistics.permutation import LEAST_PAIRS
from balrog_rag.results.statistics.units import ALPHA, NO_SPREAD, Bounds, Floats, Score, constant, draws

DRAWS = 10_000
BCA_FROM = 100
BCA_TO = 1_000
BLOCK = 2_000_000
"""Random numbers drawn at a time."""
STUDENT = "Student's t"
RECOVERED = "MOVER"


class Interval(msgspec.Struct, frozen=True):
    """From `low` to `high` at 95 % confidence; `method` says how it was made."""

    low: float
    high: float
    method: str = ""


class Span(msgspec.Struct, frozen=True):
    """An estimate, and how far its interval reaches below and above it."""

    middle: float
    below: float
    above: float
    method: str

    @property
    def interval(self) -> Interval:
        """The same as its two ends."""
        return Interval(self.middle - self.below, self.middle + self.above, self.method)


NOTHING = Interval(np.nan, np.nan, "none")


def mean_interval(scores: Sequence[Score], bounds: Bounds, method: str = "auto", seed: int = 0) -> Interval:
    """The interval of the mean of these scores, a game's plays drawn together; NaN where there are none."""
    if not scores:
        return NOTHING
    return _mean(*draws(scores), bounds, method, seed).interval


def average_interval(groups: Sequence[Sequence[Score]], bounds: Sequence[Bounds]) -> Interval:
    """The interval of the unweighted mean of several groups' means (BALROG's average over environments)."""
    if not groups or not all(groups):
        return NOTHING
    return average([_mean(*draws(group), each) for group, each in zip(groups, bounds, strict=True)]).interval


def average(parts: Sequence[Span]) -> Span:
    """The unweighted mean of independent estimates (MOVER for a sum)."""
    if len(parts) == 1:
        return parts[0]
    return Span(
        float(np.mean([part.middle for part in parts])),
        hypot(*(part.below for part in parts)) / len(parts),
        hypot(*(part.above for part in parts)) / len(parts),
        RECOVERED,
    )


def difference(strata: Sequence[tuple[Floats, Floats]], bounds: Bounds) -> Span:
    """The difference of two independent means, each over all its strata, ours less theirs (MOVER)."""
    ours, theirs = (_within([pair[side] for pair in strata], bounds) for side in (0, 1))
    return Span(
        ours.middle - theirs.middle,
        hypot(ours.below, theirs.above),
        hypot(ours.above, theirs.below),
        RECOVERED,
    )


def paired_difference(ours: Floats, theirs: Floats, bounds: Bounds) -> Span:
    """The mean difference of pairs: Student's t, or MOVER with the pairs' correlation.

    Student's t knows only the differences seen. Where few pairs differ, or scores are solved-or-not, that
    is too little, and each arm's own interval says what else there may be.
    """
    gaps = ours - theirs
    differing = np.count_nonzero(np.abs(gaps) > NO_SPREAD)
    telling = differing >= max(LEAST_PAIRS, len(gaps) / 4) and not bounds.binary
    if (telling or bounds.counted) and not constant(gaps):
        return _student(gaps)
    mine, yours = _mean(ours, np.ones(len(ours)), bounds), _mean(theirs, np.ones(len(theirs)), bounds)
    shared = correlation(ours, theirs, bounds)
    return Span(
        float(gaps.mean()),
        _leg(mine.below, yours.above, shared),
        _leg(mine.above, yours.below, shared),
        RECOVERED,
    )


def correlation(ours: Floats, theirs: Floats, bounds: Bounds) -> float:
    """Pearson's; for solved-or-not with Newcombe's continuity correction; 0 where an arm is constant."""
    if constant(ours) or constant(theirs):
        return 0.0
    spreads = float(ours.std() * theirs.std())
    together = float(np.mean((ours - ours.mean()) * (theirs - theirs.mean())))
    if bounds.binary and together > 0:
        together = max(0.0, together - (bounds.most - bounds.least) ** 2 / (2 * len(ours)))
    return max(-1.0, min(1.0, together / spreads))


def _leg(ours: float, theirs: float, shared: float) -> float:
    return sqrt(max(0.0, ours**2 + theirs**2 - 2 * shared * ours * theirs))


def agreeing(made: Interval, difference: float, p: float) -> Interval:
    """The interval with zero on the side where the test has it.

    Interval and permutation test weigh lumpy scores differently, and near p = 0.05 they may disagree about
    zero. The test decides: an interval ends at zero where the test excludes it, and reaches to zero where
    it does not (a test inverted at that one point).
    """
    if p > ALPHA:
        return msgspec.structs.replace(made, low=min(made.low, 0.0), high=max(made.high, 0.0))
    if difference > 0:
        return msgspec.structs.replace(made, low=max(made.low, float(np.nextafter(0.0, 1.0))))
    return msgspec.structs.replace(made, high=min(made.high, float(np.nextafter(0.0, -1.0))))


def _within(cells: Sequence[Floats], bounds: Bounds) -> Span:
    """The mean over all draws of an arm, as far as it varies within strata that are given."""
    drawn = np.concatenate(cells)
    found, shrunk = _mean(drawn, np.ones(len(drawn)), bounds), sqrt(design_effect(cells))
    return Span(found.middle, shrunk * found.below, shrunk * found.above, found.method)


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


def _mean(drawn: Floats, plays: Floats, bounds: Bounds, method: str = "auto", seed: int = 0) -> Span:
    """The mean over all plays of the games drawn."""
    way = chosen(method, len(drawn), bounds)
    if way == "smooth" or constant(drawn):
        means = smooth_means(drawn, *unseen(drawn, bounds), np.random.default_rng(seed), plays=plays)
        return from_draws(means, float(np.average(drawn, weights=plays)))
    told = _linear(drawn, plays)
    return _bca(told, seed) if way == "bca" else _student(told)


def _linear(drawn: Floats, plays: Floats) -> Floats:
    """Games played unevenly often make the mean a ratio; these values have its mean and its variance."""
    mean = np.average(drawn, weights=plays)
    told: Floats = mean + plays / plays.mean() * (drawn - mean)
    return told


def chosen(method: str, count: int, bounds: Bounds) -> str:
    """'smooth', 'bca' or 'student': what 'auto' means for so many draws."""
    if method != "auto":
        return method
    if bounds.counted or (count > BCA_TO and not bounds.binary):
        return "student"
    return "smooth" if bounds.binary or count < BCA_FROM else "bca"


def unseen(drawn: Floats, bounds: Bounds) -> tuple[float, float]:
    """The two values given half a share each."""
    return bounds.least, bounds.unseen(float(drawn.max()))


def smooth_means(
    drawn: Floats, low: float, high: float, rng: np.random.Generator, count: int = DRAWS,
    plays: Floats | None = None,
) -> Floats:  # fmt: skip
    """Means that the truth might have: see the module's words."""
    if plays is None or np.ptp(plays) == 0:
        seen, counts = np.unique(drawn, return_counts=True)  # equal values share one joint weight
        sizes = np.ones(len(seen) + 2)
    else:
        seen, counts = drawn, np.ones(len(drawn), dtype=np.intp)
        sizes = np.append(plays, [plays.mean()] * 2)
    values, shape = np.append(seen, [low, high]), np.append(counts, [0.5, 0.5])
    rows = max(1, BLOCK // len(values))
    blocks = []
    for start in range(0, count, rows):
        shares = sizes * rng.standard_gamma(shape, (min(rows, count - start), len(values)))
        blocks.append(shares @ values / shares.sum(axis=1))
    return np.concatenate(blocks)


def from_draws(means: Floats, seen: float) -> Span:
    """The middle 95 % of possible means, stretched to what was seen: nothing but zeros begins at zero."""
    low, high = np.quantile(means, [ALPHA / 2, 1 - ALPHA / 2])
    return Span(seen, max(0.0, seen - float(low)), max(0.0, float(high) - seen), "smooth bootstrap")


def _bca(drawn: Floats, seed: int) -> Span:
    from scipy.stats import bootstrap

    found = bootstrap(
        (drawn,), np.mean, n_resamples=DRAWS, confidence_level=1 - ALPHA, method="BCa", batch=500,
        vectorized=True, rng=np.random.default_rng(seed),
    ).confidence_interval  # fmt: skip
    middle = float(drawn.mean())
    return Span(middle, middle - float(found.low), float(found.high) - middle, "BCa bootstrap")


def _student(drawn: Floats) -> Span:
    from scipy.stats import t

    reach = float(t.isf(ALPHA / 2, len(drawn) - 1) * drawn.std(ddof=1) / sqrt(len(drawn)))
    return Span(float(drawn.mean()), reach, reach, STUDENT)
