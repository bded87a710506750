"""Any model of the sentence-transformers library: the reference, and other models. Needs torch."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from balrog_rag.contracts.errors import KnowledgeError
from balrog_rag.knowledge.embed import Progress, Vectors, unit

_BATCH = 32


class SentenceTransformers:
    """Adapts the library's encoder to our protocol."""

    requires: ClassVar[Mapping[str, str]] = {"sentence_transformers": "sentence-transformers"}

    def __init__(self, options: Mapping[str, Any], threads: int) -> None:
        """`options`: model (a hub name or a folder), device, and the prefixes of queries and passages."""
        try:
            import torch
            from sentence_transformers import SentenceTransformer
        except ImportError as error:
            raise KnowledgeError(
                "embedder sentence_transformers needs its package: "
                "pip install 'balrog_rag[sentence-transformers]'"
            ) from error
        torch.set_num_threads(threads)
        try:
            self._model: Any = SentenceTransformer(options["model"], device=options["device"])
        except (OSError, ValueError) as error:
            raise KnowledgeError(f"sentence-transformers cannot load {options['model']}: {error}") from error
        self._options = options
        self.identity = f"sentence_transformers/{options['model']}/{options['passage_prefix']}"
        self.dimensions = int(self._model.get_sentence_embedding_dimension())

    def queries(self, texts: Sequence[str]) -> Vectors:
        """Embed each text separately, so that the same query always has the same vector."""
        prefix = self._options["query_prefix"]
        if not texts:
            return np.empty((0, self.dimensions), np.float32)
        return unit(np.concatenate([self._encode([prefix + text]) for text in texts]))

    def passages(self, texts: Sequence[str], progress: Progress) -> Vectors:
        """Embed passages in batches of similar length, as the library forms them."""
        prefix = self._options["passage_prefix"]
        vectors = self._encode([prefix + text for text in texts])
        progress(len(texts))
        return unit(vectors)

    def _encode(self, texts: list[str]) -> Vectors:
        found: Vectors = self._model.encode(
            texts, batch_size=_BATCH, convert_to_numpy=True, show_progress_bar=False
        )
        return np.asarray(found, np.float32)
