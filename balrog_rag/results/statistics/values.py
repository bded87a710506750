"""The verdict on two lists of numbers, without runs, tasks or games."""

from collections.abc import Iterable
from math import inf, isfinite

import msgspec
import numpy as np

from balrog_rag.contracts.errors import ConfigError
from balrog_rag.results.statistics.comparison import Comparison
from balrog_rag.results.statistics.pairing import Arms, Paired, Pairs
from balrog_rag.results.statistics.permutation import Stratum
from balrog_rag.results.statistics.sentence import short
from balrog_rag.results.statistics.units import Bounds, Floats, Score
from balrog_rag.results.statistics.verdict import described, weighed

MOST = 200_000
"""Maximum numbers per arm: 100,000 take a minute, and more do not need this kind of test."""
LARGEST = 1e15
"""Larger numbers have no precision left for decimals."""
WAYS = ((0.0, 1.0), (0.0, 100.0))
"""The values for unsolved and solved."""
ANY = Bounds(least=-inf, most=inf, counted=True)
"""Plain numbers have no known bounds."""


def verdict(a: Iterable[float], b: Iterable[float], paired: bool = False, solved: bool = False) -> Comparison:
    """Compare the means of two lists of numbers: a minus b; `.sentence` is the verdict.

    `paired`: numbers at the same position belong to the same game and are compared in pairs, however few they
    are. `solved`: each number is 0 or 1 (or 0 or 100) and nothing else is possible. This is never guessed
    from the numbers, since it excludes other values and so makes verdicts easier to reach.
    """
    arms = numbers(a, "A"), numbers(b, "B")
    if paired and len(arms[0]) != len(arms[1]):
        raise ConfigError(
            f"{len(arms[0])} and {len(arms[1])} numbers cannot be paired; pass equally many in one order"
        )
    return compared(*arms, paired, Bounds(most=full_score(arms), binary=True) if solved else ANY)


def compared(ours: Floats, theirs: Floats, paired: bool, bounds: Bounds) -> Comparison:
    """Compare the means of two lists of numbers within known bounds."""
    matched = _pairs(ours, theirs) if paired else _apart(ours, theirs)
    base = described(matched.ours, matched.theirs, ("A", "B"), "numbers", "")
    base = msgspec.structs.replace(base, things="numbers")
    return weighed(base, matched, {"": bounds}, wanted=float(short(abs(base.difference))))


def _pairs(ours: Floats, theirs: Floats) -> Pairs:
    return Pairs((Paired("", ours, theirs),), _scores(ours), _scores(theirs))


def _apart(ours: Floats, theirs: Floats) -> Arms:
    """Sorted: the order is irrelevant, so it must not affect the p of a random test."""
    part = Stratum(np.sort(ours), np.sort(theirs), 1 / len(ours), 1 / len(theirs))
    return Arms((part,), _scores(part.ours), _scores(part.theirs))


def _scores(values: Floats) -> list[Score]:
    return [Score(float(value)) for value in values]


def numbers(given: Iterable[float], name: str) -> Floats:
    """Convert and check the numbers of one arm."""
    made = []
    for place, value in enumerate(given, 1):
        try:
            made.append(float(value))
        except (TypeError, ValueError, OverflowError):
            raise ConfigError(f"{name}, number {place}: {value!r:.80} is not a number") from None
        if not isfinite(made[-1]) or abs(made[-1]) > LARGEST:
            problem = f"{made[-1]:g} out of range; use finite numbers up to {LARGEST:g}"
            raise ConfigError(f"{name}, number {place}: {problem}")
    if len(made) > MOST:
        raise ConfigError(
            f"{name}: {len(made):,} numbers, but at most {MOST:,} can be compared; take a sample"
        )
    if not made:
        raise ConfigError(f"{name}: contains no number; a verdict needs at least one on either side")
    return np.array(made)


def full_score(arms: Iterable[Floats]) -> float:
    """The score of a solved game, 1 or 100; rejects other scores."""
    seen = {float(value) for arm in arms for value in arm}
    for nothing, full in WAYS:
        if seen <= {nothing, full}:
            return full
    other = next((value for value in sorted(seen) if value not in {0.0, 1.0, 100.0}), None)
    problem = "both 1 and 100 occur" if other is None else f"{other:g} is neither"
    raise ConfigError(f"solved or not is 0 or 1, or 0 or 100, but {problem}; leave `solved` out")
