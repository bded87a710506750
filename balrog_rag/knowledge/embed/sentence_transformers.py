"""Any model of the sentence-transformers library: the reference, and other models. Needs torch."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from balrog_rag.knowledge import sentence_models
from balrog_rag.knowledge.embed import Progress, Vectors, unit

_BATCH = 32
_REPORTED = 256
"""Passages between two reports of progress; the library sorts these by length before it forms batches."""


class SentenceTransformers:
    """Adapts the library's encoder to our protocol."""

    requires: ClassVar[Mapping[str, str]] = sentence_models.EXTRA

    def __init__(self, options: Mapping[str, Any], threads: int) -> None:
        """`options`: model (a hub name or a folder), device, and the prefixes of queries and passages."""
        self._model = sentence_models.load("SentenceTransformer", "model", options, threads)
        self._options = options
        model = sentence_models.identity("model", options)
        self.identity = f"sentence_transformers/{model}/{options['passage_prefix']}"
        self.dimensions = self._encode(["dimensions"]).shape[1]

    def queries(self, texts: Sequence[str]) -> Vectors:
        """Embed each text separately, so that the same query always has the same vector."""
        prefix = self._options["query_prefix"]
        if not texts:
            return np.empty((0, self.dimensions), np.float32)
        return unit(np.concatenate([self._encode([prefix + text]) for text in texts]))

    def passages(self, texts: Sequence[str], progress: Progress) -> Vectors:
        """Embed passages in batches of similar length, as the library forms them."""
        prefix = self._options["passage_prefix"]
        parts = [np.empty((0, self.dimensions), np.float32)]
        for start in range(0, len(texts), _REPORTED):
            parts.append(self._encode([prefix + text for text in texts[start : start + _REPORTED]]))
            progress(len(parts[-1]))
        return unit(np.concatenate(parts))

    def _encode(self, texts: list[str]) -> Vectors:
        found: Vectors = self._model.encode(
            texts, batch_size=_BATCH, convert_to_numpy=True, show_progress_bar=False
        )
        return np.asarray(found, np.float32)
