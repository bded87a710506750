"""Combine meaning and words: an index over vectors and BM25, merged by scores or by ranks."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from balrog_rag.contracts import registry
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.knowledge.embed import Vectors
from balrog_rag.knowledge.index import Hits, Index, Texts

_RANKED = 60
"""How slowly the weight falls with rank in reciprocal rank fusion; the constant of its original paper."""


class Hybrid:
    """`dense` names the index over vectors; each half returns `candidates`; words have `word_weight`.

    `fusion: scores` adds the inner product and the share of the best BM25 score; `fusion: ranks` is
    reciprocal rank fusion.
    """

    needs_vectors: ClassVar[bool] = True

    @classmethod
    def lasting(cls, options: Mapping[str, Any]) -> dict[str, Any]:
        """The options that the two halves were built with."""
        halves = (str(options["dense"]), "bm25")
        return {name: registry.indexes.get(name).lasting(_options(options, name)) for name in halves}

    @classmethod
    def build(
        cls, folder: Path, texts: Texts, vectors: Vectors | None, options: Mapping[str, Any], threads: int
    ) -> None:
        """Build both halves."""
        for name in (str(options["dense"]), "bm25"):
            half = folder / name
            half.mkdir()
            registry.indexes.get(name).build(half, texts, vectors, _options(options, name), threads)

    def __init__(
        self, folder: Path, vectors: Vectors | None, options: Mapping[str, Any], threads: int
    ) -> None:
        """Open both halves."""
        if options["fusion"] not in ("scores", "ranks"):
            raise ConfigError(f"knowledge.options.hybrid.fusion={options['fusion']}: scores or ranks")
        assert vectors is not None
        self._vectors, self._options = vectors, options
        self._dense, self._words = (
            _open(name, folder, vectors, options, threads) for name in (str(options["dense"]), "bm25")
        )
        self.count = int(getattr(self._words, "count", len(vectors)))

    def search(self, queries: Sequence[str], vectors: Vectors | None, k: int) -> list[Hits]:
        """Return the passages that rank high in either half; those high in both come first."""
        assert vectors is not None
        depth = max(k, int(self._options["candidates"]))
        near = self._dense.search(queries, vectors, depth)
        said = self._words.search(queries, None, depth)
        join = self._by_scores if self._options["fusion"] == "scores" else self._by_ranks
        return [join(*halves)[:k] for halves in zip(vectors, near, said, strict=True)]

    def _by_scores(self, vector: Vectors, near: Hits, said: Hits) -> Hits:
        words = dict(said)
        top = said[0][1] if said else 1.0
        places = sorted({place for place, _ in near} | words.keys())
        products = np.einsum("ij,j->i", self._vectors[places], vector)
        weight = float(self._options["word_weight"])
        return _ordered(
            {
                place: float(product) + weight * words.get(place, 0.0) / top
                for place, product in zip(places, products, strict=True)
            }
        )

    def _by_ranks(self, vector: Vectors, near: Hits, said: Hits) -> Hits:
        scores: dict[int, float] = {}
        for hits, weight in ((near, 1.0), (said, float(self._options["word_weight"]))):
            for rank, (place, _) in enumerate(hits, start=1):
                scores[place] = scores.get(place, 0.0) + weight / (_RANKED + rank)
        return _ordered(scores)


def _open(name: str, folder: Path, vectors: Vectors, options: Mapping[str, Any], threads: int) -> Index:
    index: Index = registry.indexes.get(name)(folder / name, vectors, _options(options, name), threads)
    return index


def _options(options: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """The options of a half; one that has defaults for all of them needs none."""
    if name not in options and not getattr(registry.indexes.get(name), "needs_options", True):
        return {}
    found: Mapping[str, Any] = options[name]
    return found


def _ordered(scores: Mapping[int, float]) -> Hits:
    return sorted(scores.items(), key=lambda hit: (-hit[1], hit[0]))
