"""Indexes over vectors, by FAISS: exact (`flat_ip`, `flat_l2`), `hnsw` and `ivf_pq`.

The exact ones search the stored vectors directly, so they have no file of their own. All use the same kernel
for one query and for many, so that a query's neighbours never depend on other queries in the call.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from balrog_rag.contracts.errors import KnowledgeError
from balrog_rag.knowledge.embed import Vectors
from balrog_rag.knowledge.index import Hits, Texts, best

_FILE = "index.faiss"
_FEW = 30_000
"""Number of rows up to which a single thread is fastest at learning codes."""
_MORE = 16
"""Neighbours requested beyond k, so that equal scores at the end are also ordered by position."""


def _faiss(threads: int) -> Any:
    import faiss

    faiss.omp_set_num_threads(threads)
    # From 20 queries on FAISS uses a matrix product, whose sums differ in the last bit.
    faiss.cvar.distance_compute_blas_threshold = 1 << 30
    return faiss


class FlatIP:
    """Exact: compares every vector by inner product."""

    needs_vectors: ClassVar[bool] = True
    metric: ClassVar[str] = "METRIC_INNER_PRODUCT"
    sign: ClassVar[int] = 1

    @classmethod
    def lasting(cls, options: Mapping[str, Any]) -> dict[str, Any]:
        """None: the vectors are the index."""
        return {}

    @classmethod
    def build(
        cls, folder: Path, texts: Texts, vectors: Vectors | None, options: Mapping[str, Any], threads: int
    ) -> None:
        """Write nothing: the vectors are the index."""

    def __init__(
        self, folder: Path, vectors: Vectors | None, options: Mapping[str, Any], threads: int
    ) -> None:
        """Search in these vectors."""
        self._faiss, self._vectors = _faiss(threads), _present(vectors)

    def search(self, queries: Sequence[str], vectors: Vectors | None, k: int) -> list[Hits]:
        """Return the nearest, by comparing with all."""
        count = min(k + _MORE, len(self._vectors))
        metric = getattr(self._faiss, self.metric)
        scores, places = self._faiss.knn(_present(vectors), self._vectors, count, metric=metric)
        return [best(self.sign * row, found, k) for row, found in zip(scores, places, strict=True)]


class FlatL2(FlatIP):
    """Exact: compares every vector by distance; scores are negative squared distances."""

    metric: ClassVar[str] = "METRIC_L2"
    sign: ClassVar[int] = -1


class _Stored:
    """An index with a file of its own, mapped if FAISS can."""

    needs_vectors: ClassVar[bool] = True
    built_with: ClassVar[tuple[str, ...]]
    kind: ClassVar[str]
    """FAISS's class."""

    @classmethod
    def lasting(cls, options: Mapping[str, Any]) -> dict[str, Any]:
        """The options that the file was built with."""
        return {name: options[name] for name in cls.built_with}

    def __init__(
        self, folder: Path, vectors: Vectors | None, options: Mapping[str, Any], threads: int
    ) -> None:
        """Open the file that `build` wrote."""
        self._faiss, self._vectors, self._options = _faiss(threads), _present(vectors), options
        flags = self._faiss.IO_FLAG_READ_ONLY | self._faiss.IO_FLAG_MMAP_IFC
        try:
            self._index = self._faiss.read_index(str(folder / _FILE), flags)
        except RuntimeError as error:
            raise KnowledgeError(f"{folder / _FILE} is not a FAISS index; build the index again") from error
        if wrong := self._wrong():
            raise KnowledgeError(f"{folder / _FILE} {wrong}; build the index again")
        self._tune()

    def _wrong(self) -> str:
        """Describe how the index differs from one over these vectors; empty if it does not."""
        index, wanted = self._index, self._vectors.shape
        if type(index).__name__ != self.kind:
            return f"is an {type(index).__name__}, not an {self.kind}"
        if (index.ntotal, index.d) != wanted:
            return f"is over {index.ntotal} vectors of {index.d} numbers, not {wanted[0]} of {wanted[1]}"
        if index.metric_type != self._faiss.METRIC_INNER_PRODUCT:
            return "does not search by inner product"
        return "" if index.is_trained else "was never trained"

    def _tune(self) -> None:
        """Set the effort of a search."""

    def search(self, queries: Sequence[str], vectors: Vectors | None, k: int) -> list[Hits]:
        """Return the nearest as far as the index finds them."""
        scores, places = self._index.search(_present(vectors), min(k + _MORE, self._index.ntotal))
        return [best(row, found, k) for row, found in zip(scores, places, strict=True)]


class HNSW(_Stored):
    """A graph of near neighbours; `m` links per vector; `build_effort` and `effort` candidates examined."""

    built_with: ClassVar[tuple[str, ...]] = ("m", "build_effort")
    kind: ClassVar[str] = "IndexHNSWFlat"

    @classmethod
    def build(
        cls, folder: Path, texts: Texts, vectors: Vectors | None, options: Mapping[str, Any], threads: int
    ) -> None:
        """Build the graph."""
        faiss, rows = _faiss(threads), _present(vectors)
        index = faiss.IndexHNSWFlat(rows.shape[1], options["m"], faiss.METRIC_INNER_PRODUCT)
        index.hnsw.efConstruction = options["build_effort"]
        index.add(rows)
        faiss.write_index(index, str(folder / _FILE))

    def _tune(self) -> None:
        self._index.hnsw.efSearch = self._options["effort"]


class IVFPQ(_Stored):
    """Cells of vectors stored as short codes; the best `refine` × k are scored again with their vectors."""

    built_with: ClassVar[tuple[str, ...]] = ("cells", "codes")
    kind: ClassVar[str] = "IndexIVFPQ"

    @classmethod
    def build(
        cls, folder: Path, texts: Texts, vectors: Vectors | None, options: Mapping[str, Any], threads: int
    ) -> None:
        """Learn cells and codes from a sample, then encode every vector."""
        faiss, rows = _faiss(threads), _present(vectors)
        cells = max(1, min(options["cells"] or int(4 * len(rows) ** 0.5), len(rows) // 39))
        bits = 8 if len(rows) >= 39 * 256 else max(1, min(8, int(np.log2(max(2, len(rows) / 39)))))
        quantizer = faiss.IndexFlatIP(rows.shape[1])
        metric = faiss.METRIC_INNER_PRODUCT
        index = faiss.IndexIVFPQ(quantizer, rows.shape[1], cells, options["codes"], bits, metric)
        index.cp.min_points_per_centroid = index.pq.cp.min_points_per_centroid = 1  # no warnings on few rows
        # With few rows several threads mostly wait for each other and take up to a hundred times as long.
        faiss.omp_set_num_threads(1 if len(rows) < _FEW else threads)
        index.train(_sample(rows, max(256, cells) * 64))
        faiss.omp_set_num_threads(threads)
        index.add(rows)
        faiss.write_index(index, str(folder / _FILE))

    def _tune(self) -> None:
        self._index.nprobe = self._options["probes"]

    def search(self, queries: Sequence[str], vectors: Vectors | None, k: int) -> list[Hits]:
        """Return the nearest by code, ordered by their exact inner products."""
        asked = _present(vectors)
        count = min((k + _MORE) * self._options["refine"], self._index.ntotal)
        _, places = self._index.search(asked, count)
        return [
            self._refined(vector, found[found >= 0], k) for vector, found in zip(asked, places, strict=True)
        ]

    def _refined(self, vector: Vectors, places: Any, k: int) -> Hits:
        scores = np.einsum("ij,j->i", self._vectors[places], vector)
        return best(scores, places, k)


def _sample(rows: Vectors, size: int) -> Vectors:
    """Select evenly spaced rows to learn from."""
    return np.ascontiguousarray(rows[:: max(1, len(rows) // size)])


def _present(vectors: Vectors | None) -> Vectors:
    if vectors is None:
        raise KnowledgeError("this index needs vectors; choose an embedder")
    return vectors
