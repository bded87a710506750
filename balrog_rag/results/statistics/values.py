"""The verdict on anybody's numbers: two lists, without runs, tasks or games."""

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

MOST = 20_000
"""Numbers an arm: more than these take minutes, and need no test of this kind."""
LARGEST = 1e15
"""Numbers beyond this have no room for decimals."""
WAYS = ((0.0, 1.0), (0.0, 100.0))
"""How solved or not is written."""
ANY = Bounds(least=-inf, most=inf, counted=True)
"""Nothing is known of numbers but what they show."""


def verdict(a: Iterable[float], b: Iterable[float], paired: bool = False, solved: bool = False) -> Comparison:
    """Compare the means of two lists of numbers: a's less b's; `.sentence` says what they show.

    `paired`: the numbers stand in pairs, each pair of one game, and are compared pair by pair however few
    they are. `solved`: each number is 0 or 1 (or 0 or 100) and nothing else is possible. That is never
    guessed from the numbers, since it leaves no room for others and so makes verdicts easier to reach.
    """
    arms = numbers(a, "A"), numbers(b, "B")
    if paired and len(arms[0]) != len(arms[1]):
        raise ConfigError(
            f"{len(arms[0])} and {len(arms[1])} numbers cannot be paired: give as many of both, in one order"
        )
    bounds = Bounds(most=full_score(arms), binary=True) if solved else ANY
    matched = _pairs(*arms) if paired else _apart(*arms)
    base = described(matched.ours, matched.theirs, ("A", "B"), "numbers", "")
    base = msgspec.structs.replace(base, things="numbers")
    return weighed(base, matched, {"": bounds}, wanted=float(short(abs(base.difference))))


def _pairs(ours: Floats, theirs: Floats) -> Pairs:
    return Pairs((Paired("", ours, theirs),), _scores(ours), _scores(theirs))


def _apart(ours: Floats, theirs: Floats) -> Arms:
    """Sorted: their order says nothing, so it may not move the p of a random test."""
    part = Stratum(np.sort(ours), np.sort(theirs), 1 / len(ours), 1 / len(theirs))
    return Arms((part,), _scores(part.ours), _scores(part.theirs))


def _scores(values: Floats) -> list[Score]:
    return [Score(float(value)) for value in values]


def numbers(given: Iterable[float], name: str) -> Floats:
    """The numbers of one arm; refused where one of them is none."""
    made = []
    for place, value in enumerate(given, 1):
        try:
            made.append(float(value))
        except (TypeError, ValueError, OverflowError):
            raise ConfigError(f"{name}, number {place}: {value!r:.80} is no number") from None
        if not isfinite(made[-1]) or abs(made[-1]) > LARGEST:
            told = f"{made[-1]:g} cannot be compared; numbers must be finite, up to {LARGEST:g}"
            raise ConfigError(f"{name}, number {place}: {told}")
    if len(made) > MOST:
        raise ConfigError(
            f"{name}: holds {len(made):,} numbers; at most {MOST:,} are compared: take a sample"
        )
    if not made:
        raise ConfigError(f"{name}: holds no number; a verdict needs one at least on either side")
    return np.array(made)


def full_score(arms: Iterable[Floats]) -> float:
    """1 or 100: what stands for solved; refused where something else was scored."""
    seen = {float(value) for arm in arms for value in arm}
    for nothing, full in WAYS:
        if seen <= {nothing, full}:
            return full
    other = next((value for value in sorted(seen) if value not in {0.0, 1.0, 100.0}), None)
    told = "both 1 and 100 occur" if other is None else f"{other:g} is neither"
    raise ConfigError(f"solved or not is 0 or 1, or 0 or 100, but {told}; leave `solved` out")
