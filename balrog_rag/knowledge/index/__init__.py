"""Indexes: find the passages near a query, behind one protocol.

An index is built into a folder once and then only read. Every query is answered independently of others in
the same call, and equal scores are ordered by position, so the same query always returns the same result.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from balrog_rag.knowledge.embed import Vectors

Hits = list[tuple[int, float]]
"""Positions of passages with their scores, best first."""


class Texts(Protocol):
    """The passages that an index is built from: titles and texts in order."""

    def titles(self) -> Sequence[str]:
        """Every title."""
        ...

    def bodies(self) -> Sequence[str]:
        """Every text."""
        ...


class Index(Protocol):
    """Finds positions of passages. `vectors` is None if neither building nor searching needs any."""

    needs_vectors: ClassVar[bool]

    @classmethod
    def lasting(cls, options: Mapping[str, Any]) -> dict[str, Any]:
        """The options that the built files depend on; the others may change from search to search."""
        ...

    @classmethod
    def build(
        cls, folder: Path, texts: Texts, vectors: Vectors | None, options: Mapping[str, Any], threads: int
    ) -> None:
        """Write the index into an existing, empty folder."""
        ...

    def __init__(
        self, folder: Path, vectors: Vectors | None, options: Mapping[str, Any], threads: int
    ) -> None:
        """Open the files that `build` wrote, read-only."""
        ...

    def search(self, queries: Sequence[str], vectors: Vectors | None, k: int) -> list[Hits]:
        """Return at most `k` hits per query."""
        ...


def best(scores: NDArray[np.float32], places: NDArray[np.int64], k: int) -> Hits:
    """Return the k highest scores with their positions, equal scores by position, without -1 and NaN."""
    known = (places >= 0) & np.isfinite(scores)
    scores, places = scores[known], places[known]
    order = np.lexsort((places, -scores))[:k]
    return [(int(places[place]), float(scores[place])) for place in order]
