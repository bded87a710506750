"""Ranks that account for uncertainty: rows that cannot be distinguished share them.

Two tests must agree that two rows differ. A permutation test of Welch's t with Holm's correction over all
pairs keeps its level exactly if rows are alike, however few episodes they have. A bootstrap of the greatest t
over all pairs (`statistics/all_pairs.py`) protects against rows whose scores differ in spread or skewness,
for which relabelling finds too many differences. `benchmarks/ranks.py` compares methods.
"""

from collections.abc import Sequence
from itertools import combinations

import msgspec
import numpy as np

from balrog_rag.results.statistics import permutation
from balrog_rag.results.statistics.all_pairs import adjusted_p
from balrog_rag.results.statistics.pairing import Pairs, match
from balrog_rag.results.statistics.units import ALPHA, Score

GUARD = 0.07
"""Level of the bootstrap: ALPHA would be too strict, since the other test must agree as well."""


class Rank(msgspec.Struct, frozen=True):
    """The range of ranks that a row may have."""

    first: int
    last: int

    @property
    def text(self) -> str:
        """'3' or '2 to 5'."""
        return str(self.first) if self.first == self.last else f"{self.first} to {self.last}"


def ranks(rows: Sequence[Sequence[Score]]) -> list[Rank]:
    """Rank each row: below all that are significantly better, above all that are significantly worse."""
    pairs = list(combinations(range(len(rows)), 2))
    found = [_exchanged(rows[a], rows[b], len(pairs)) for a, b in pairs]
    relabelled = permutation.holm([p for p, _ in found])
    guard = adjusted_p(rows)
    better, worse = [0] * len(rows), [0] * len(rows)
    for pair, p, (_, difference) in zip(pairs, relabelled, found, strict=True):
        if p <= ALPHA and guard[pair] <= GUARD:
            winner, loser = pair if difference > 0 else pair[::-1]
            better[loser] += 1
            worse[winner] += 1
    return [Rank(1 + up, len(rows) - down) for up, down in zip(better, worse, strict=True)]


def _exchanged(ours: Sequence[Score], theirs: Sequence[Score], family: int) -> tuple[float, float]:
    """The p of a permutation test of equal means, and the difference."""
    matched = match(ours, theirs)
    if isinstance(matched, Pairs):
        gaps = [part.gaps for part in matched.envs]
        weighed = np.concatenate([part / (len(gaps) * len(part)) for part in gaps])
        return permutation.paired(weighed, family=family).p, float(weighed.sum())
    if not matched.strata:
        return 1.0, 0.0
    difference = sum(
        part.our_weight * part.ours.sum() - part.their_weight * part.theirs.sum() for part in matched.strata
    )
    return permutation.stratified(matched.strata, family=family).p, float(difference)
