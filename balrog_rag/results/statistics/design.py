"""Power of the t test, and designs that are too small for a permutation test to find anything.

Three against three have 20 relabellings, so p cannot be below 0.1. The common normal formula is too
optimistic below ten episodes per arm: for five against five, a promised power of 80 % is really 60 %. The
figures shown to users come from `prospects.py`. Everything here is for one test of `family`, at Holm's
strictest level.
"""

from collections.abc import Callable
from math import inf, isnan, sqrt

from balrog_rag.results.statistics.permutation import least_p, least_paired_p
from balrog_rag.results.statistics.units import ALPHA

POWER = 0.8
ROUNDING = 1 + 1e-9


def too_small(least: float, family: int = 1) -> bool:
    """Whether a test whose p is at least `least` cannot find anything."""
    return least > ROUNDING * ALPHA / family


def power(difference: float, spread: float, ours: int, theirs: int, family: int = 1) -> float:
    """The probability that a true difference is significant, given each arm's size and the common spread."""
    if too_small(least_p([(ours, theirs)]), family):
        return 0.0
    return _power(difference, spread * sqrt(1 / ours + 1 / theirs), ours + theirs - 2, family)


def paired_power(difference: float, spread: float, pairs: int, family: int = 1) -> float:
    """The same for pairs, given the spread of their differences."""
    if too_small(least_paired_p(pairs), family):
        return 0.0
    return _power(difference, spread / sqrt(pairs), pairs - 1, family)


def _power(difference: float, error: float, freedom: int, family: int) -> float:
    from scipy.special import nctdtr, ndtr, stdtrit  # scipy.stats takes a second to import

    alpha = ALPHA / family
    if error == 0 or difference == 0:
        return 1.0 if difference else alpha
    shift, bar = difference / error, -stdtrit(freedom, alpha / 2)
    reached = float(1 - nctdtr(freedom, shift, bar) + nctdtr(freedom, shift, -bar))
    return float(ndtr(shift - bar)) if isnan(reached) else reached


def detectable(spread: float, ours: int, theirs: int, family: int = 1) -> float:
    """The smallest true difference that this design detects with 80 % power; infinite if there is none."""
    if too_small(least_p([(ours, theirs)]), family):
        return inf
    return _smallest(lambda gap: power(gap, spread, ours, theirs, family) >= POWER, spread)


def detectable_paired(spread: float, pairs: int, family: int = 1) -> float:
    """The same for pairs, given the spread of their differences."""
    if too_small(least_paired_p(pairs), family):
        return inf
    return _smallest(lambda gap: paired_power(gap, spread, pairs, family) >= POWER, spread)


def _smallest(found: Callable[[float], bool], scale: float) -> float:
    """The smallest difference that `found` accepts, by bisection, to six digits."""
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
