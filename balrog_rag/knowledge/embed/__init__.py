"""Embedders: convert texts to unit vectors, behind one protocol."""

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
"""One unit vector per row."""

Progress = Callable[[int], None]
"""Called with the number of further finished texts."""


class Embedder(Protocol):
    """Converts texts to unit vectors whose inner product measures similarity."""

    identity: str
    """Identifies the vectors: with another identity they differ, and so does the index."""
    dimensions: int

    def queries(self, texts: Sequence[str]) -> Vectors:
        """Return one vector per query; each depends on its own text alone."""
        ...

    def passages(self, texts: Sequence[str], progress: Progress) -> Vectors:
        """Return one vector per passage, as fast as possible."""
        ...


def unit(vectors: Vectors) -> Vectors:
    """Scale rows to length one; a row of zeros is unchanged."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.ascontiguousarray(vectors / np.maximum(lengths, 1e-12), dtype=np.float32)
