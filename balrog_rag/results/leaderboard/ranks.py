"""Ranks that admit what is not known: two rows that cannot be told apart share theirs."""

from collections.abc import Callable, Sequence
from itertools import combinations

import msgspec

from balrog_rag.results.statistics.units import Bounds, Score
from balrog_rag.results.statistics.verdict import adjust, compare


class Rank(msgspec.Struct, frozen=True):
    """The places a row may hold, given what can be told apart."""

    first: int
    last: int

    @property
    def text(self) -> str:
        """'3' or '2 to 5'."""
        return str(self.first) if self.first == self.last else f"{self.first} to {self.last}"


Pair = tuple[Sequence[Score], Sequence[Score]]


def ranks(
    rows: Sequence[Sequence[Score]], bounds: dict[str, Bounds], pair: Callable[[int, int], Pair] | None = None
) -> list[Rank]:
    """For each row: behind all that are surely better, before all surely worse (Holm over all pairs).

    `pair` gives what two rows are compared by, where that is not all their scores.
    """
    taken = pair or (lambda a, b: (rows[a], rows[b]))
    pairs = list(combinations(range(len(rows)), 2))
    judged = adjust([compare(*taken(a, b), bounds=bounds, family=len(pairs), plan=False) for a, b in pairs])
    better, worse = [0] * len(rows), [0] * len(rows)
    for (a, b), verdict in zip(pairs, judged, strict=True):
        if verdict.clear:
            winner, loser = (a, b) if verdict.difference > 0 else (b, a)
            better[loser] += 1
            worse[winner] += 1
    return [Rank(1 + up, len(rows) - down) for up, down in zip(better, worse, strict=True)]
