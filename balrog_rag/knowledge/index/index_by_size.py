"""The index over vectors that suits their number: exact, a graph, or cells of short codes."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from balrog_rag.contracts import registry
from balrog_rag.knowledge.embed import Vectors
from balrog_rag.knowledge.index import Hits, Index, Texts

EXACT = 30_000
"""Most passages that are searched exactly: up to here that takes no longer than embedding the query."""
GRAPH = 100_000
"""Most passages in an HNSW graph, whose recall falls beyond at the same effort."""
DEFAULTS: Mapping[str, Mapping[str, Any]] = {
    "flat_ip": {},
    "hnsw": {"m": 32, "build_effort": 100, "effort": 128},
    "ivf_pq": {"cells": None, "codes": 48, "probes": 32, "refine": 8},
}
"""Settings of each, those of conf/knowledge; `knowledge.options.by_size.NAME` replaces them."""


def suitable(count: int) -> str:
    """Return the name of the index for so many passages."""
    return "flat_ip" if count <= EXACT else "hnsw" if count <= GRAPH else "ivf_pq"


class BySize:
    """Chooses when it is built, by the number of passages."""

    needs_vectors: ClassVar[bool] = True
    needs_options: ClassVar[bool] = False

    @classmethod
    def lasting(cls, options: Mapping[str, Any]) -> dict[str, Any]:
        """The options that any of them is built with, since the choice depends on the corpus."""
        return {name: registry.indexes.get(name).lasting(_of(options, name)) for name in DEFAULTS}

    @classmethod
    def build(
        cls, folder: Path, texts: Texts, vectors: Vectors | None, options: Mapping[str, Any], threads: int
    ) -> None:
        """Build the suitable one."""
        name = suitable(0 if vectors is None else len(vectors))
        registry.indexes.get(name).build(folder, texts, vectors, _of(options, name), threads)

    def __init__(
        self, folder: Path, vectors: Vectors | None, options: Mapping[str, Any], threads: int
    ) -> None:
        """Open what `build` chose."""
        name = suitable(0 if vectors is None else len(vectors))
        self._chosen: Index = registry.indexes.get(name)(folder, vectors, _of(options, name), threads)

    def search(self, queries: Sequence[str], vectors: Vectors | None, k: int) -> list[Hits]:
        """Return the nearest."""
        return self._chosen.search(queries, vectors, k)


def _of(options: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    return options[name] if name in options else DEFAULTS[name]
