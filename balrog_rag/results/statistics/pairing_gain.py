"""How much pairs of scores gain over independent arms: measured, as arms that diverge soon gain nothing."""

from collections.abc import Mapping
from math import sqrt
from typing import NamedTuple

import numpy as np

from balrog_rag.results.statistics.differences import correlation
from balrog_rag.results.statistics.pairing import Pairs
from balrog_rag.results.statistics.units import NO_SPREAD, Bounds


class Pairing(NamedTuple):
    """How much the comparison gained because both arms played the same games or states."""

    correlation: float
    gain: float
    """The pairs that independent arms would need for the same precision, as a multiple of these."""

    def __str__(self) -> str:
        said = f"correlation {self.correlation:+.2f}"
        if self.gain > 1:
            return f"pairing helped: {said}, as precise as {self.gain:.2g} times as many without pairs"
        return f"pairing did not help: {said}"


def pairings(matched: Pairs, bounds: Mapping[str, Bounds]) -> list[Pairing]:
    """Return the gain of pairing in each environment whose pairs vary."""
    made = []
    for part in matched.envs:
        apart = float(part.ours.var() + part.theirs.var())
        paired = float(np.var(part.gaps))
        if sqrt(min(apart, paired)) > NO_SPREAD:
            made.append(Pairing(correlation(part.ours, part.theirs, bounds[part.env]), apart / paired))
    return made
