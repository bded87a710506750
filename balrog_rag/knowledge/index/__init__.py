"""Indexes: which passages are near a query, behind one protocol.

An index is built into a folder once and then only read. Every query is answered on its own, whatever
is asked beside it, and equal scores are ordered by place, so the same query always finds the same.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from balrog_rag.knowledge.embed import Vectors

Hits = list[tuple[int, float]]
"""Places of passages with their scores, best first."""


class Texts(Protocol):
    """What is known of the passages when an index is built: titles and texts in order."""

    def titles(self) -> Sequence[str]:
        """Every title."""
        ...

    def bodies(self) -> Sequence[str]:
        """Every text."""
        ...


class Index(Protocol):
    """Finds places. `vectors` is None where neither building nor searching needs any."""

    needs_vectors: ClassVar[bool]

    @classmethod
    def lasting(cls, options: Mapping[str, Any]) -> dict[str, Any]:
        """The options that what is built depends on; the others may change from search to search."""
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
        """Open what `build` wrote, read-only."""
        ...

    def search(self, queries: Sequence[str], vectors: Vectors | None, k: int) -> list[Hits]:
        """At most `k` hits a query."""
        ...


def best(scores: NDArray[np.float32], places: NDArray[np.int64], k: int) -> Hits:
    """Return the k highest scores with their places, equal scores by place, without -1 and NaN."""
    known = (places >= 0) & np.isfinite(scores)
    scores, places = scores[known], places[known]
    order = np.lexsort((places, -scores))[:k]
    return [(int(places[place]), float(scores[place])) for place in order]
