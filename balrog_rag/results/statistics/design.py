"""The t test's power, and which designs are too small for a permutation test to find anything.

Three against three have 20 relabellings, so no p below 0.1. The common normal formula promises too much below
ten episodes an arm: for five against five, four fifths power turns out to be three. What users see comes
from `prospects.py`. Everything here is for one test of `family`, at the bar that Holm's method begins with.
"""

from collections.abc import Callable
from math import inf, isnan, sqrt

from balrog_rag.results.statistics.permutation import least_p, least_paired_p
from balrog_rag.results.statistics.units import ALPHA

POWER = 0.8
MOST = 10_000_000
ROUNDING = 1 + 1e-9


def too_small(least: float, family: int = 1) -> bool:
    """Whether a test whose p is never below `least` can find nothing at all."""
    return least > ROUNDING * ALPHA / family


def power(difference: float, spread: float, ours: int, theirs: int, family: int = 1) -> float:
    """The chance to find a true difference significant, given each arm's episodes and their common spread."""
    if too_small(least_p([(ours, theirs)]), family):
        return 0.0
    return _power(difference, spread * sqrt(1 / ours + 1 / theirs), ours + theirs - 2, family)


def paired_power(difference: float, spread: float, pairs: int, family: int = 1) -> float:
    """The same for pairs, given the spread of their differences."""
    if too_small(least_paired_p(pairs), family):
        return 0.0
    return _power(difference, spread / sqrt(pairs), pairs - 1, family)


def _power(difference: float, error: float, freedom: int, family: int) -> float:
    from scipy.special import nctdtr, ndtr, stdtrit  # scipy.stats says the same, and takes a second to import

    alpha = ALPHA / family
    if error == 0 or difference == 0:
        return 1.0 if difference else alpha
    shift, bar = difference / error, -stdtrit(freedom, alpha / 2)
    reached = float(1 - nctdtr(freedom, shift, bar) + nctdtr(freedom, shift, -bar))
    return float(ndtr(shift - bar)) if isnan(reached) else reached


def detectable(spread: float, ours: int, theirs: int, family: int = 1) -> float:
    """The smallest true difference this design finds with a chance of 80 %; infinite where it finds none."""
    if too_small(least_p([(ours, theirs)]), family):
        return inf
    return _smallest(lambda gap: power(gap, spread, ours, theirs, family) >= POWER, spread)


def detectable_paired(spread: float, pairs: int, family: int = 1) -> float:
    """The same for pairs, given the spread of their differences."""
    if too_small(least_paired_p(pairs), family):
        return inf
    return _smallest(lambda gap: paired_power(gap, spread, pairs, family) >= POWER, spread)


def episodes_needed(difference: float, spread: float, paired: bool = False, family: int = 1) -> int | None:
    """Episodes an arm (or pairs) that detect this difference; None where more than ten million would."""
    if difference == 0:
        return None

    def enough(count: int) -> bool:
        gap = abs(difference)
        if paired:
            return paired_power(gap, spread, count, family) >= POWER
        return power(gap, spread, count, count, family) >= POWER

    low, high = 1, 2
    while not enough(high):
        low, high = high, high * 2
        if high > MOST:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _smallest(found: Callable[[float], bool], scale: float) -> float:
    """The smallest difference that `found` accepts, by halving, to six digits."""
    if scale == 0:
        return 0.0
    low, high = 0.0, scale
    while not found(high):
        low, high = high, high * 2
        if high > 1e6 * scale:
            return inf
    while high - low > 1e-6 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if found(middle) else (middle, high)
    return high
