"""How large a difference must be for a verdict: the interval asks for more than Student's t."""

from math import inf, sqrt
from typing import Protocol

from balrog_rag.results.statistics import design
from balrog_rag.results.statistics.differences import DRAWS, FEW, difference
from balrog_rag.results.statistics.estimate import Estimate
from balrog_rag.results.statistics.units import ALPHA, Bounds, Floats


class Maker(Protocol):
    """Makes the estimate of a difference."""

    def __call__(self, shift: float, draws: int, family: int = 1) -> Estimate:
        """As if our scores were `shift` higher, from so many possible means, at a family's level."""


ROUGH = 1_000
"""Means drawn at each step of the search."""
DOUBLINGS, HALVINGS = 30, 6


def wider(
    found: Estimate, maker: Maker, spread: float, counts: tuple[int, int], pairs: bool, solved: bool
) -> float:
    """How many times the t test's smallest difference a verdict needs.

    With few draws the room for scores not seen grows with the difference itself; so the smallest shift
    that these very scores would be told apart by is searched for. It is infinite where an arm hardly varies,
    since its room grows as fast.
    """
    if not spread or not found.interval.known:
        return 1.0
    usual = design.detectable_paired(spread, counts[0]) if pairs else design.detectable(spread, *counts)
    error = spread * sqrt(1 / counts[0] if pairs else 1 / counts[0] + 1 / counts[1])
    if solved or min(counts) > FEW:
        least = found.reach(ALPHA)[found.middle < 0]
    else:
        least = _least_shift(maker, found.middle, error)
    return max(1.0, (least + design.Z_OF_POWER * error) / usual)


def _least_shift(maker: Maker, middle: float, error: float) -> float:
    """The smallest difference, on the side where it was seen, whose interval leaves out zero; or infinity."""
    side = int(middle < 0)

    def excluded(gap: float) -> bool:
        shifted = maker((-gap if side else gap) - middle, ROUGH)
        return shifted.reach(ALPHA)[side] < gap

    low, high = 0.0, error
    for _ in range(DOUBLINGS):
        if excluded(high):
            break
        low, high = high, 2 * high
    else:
        return inf
    for _ in range(HALVINGS):
        half = (low + high) / 2
        low, high = (low, half) if excluded(half) else (half, high)
    return high


def twice(drawn: Floats, spread: float, bounds: Bounds) -> float:
    """The same for an arm against another of just these scores."""

    def made(shift: float, draws: int, family: int = 1) -> Estimate:
        return difference([(drawn + shift, drawn)], bounds, draws, family)

    return wider(made(0.0, DRAWS), made, spread, (len(drawn), len(drawn)), pairs=False, solved=bounds.binary)
