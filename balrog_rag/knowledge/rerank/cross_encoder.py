"""A cross-encoder of the sentence-transformers library. Needs torch."""

from collections.abc import Mapping, Sequence
from typing import Any

from balrog_rag.contracts.errors import KnowledgeError


class CrossEncoder:
    """Scores pairs of query and passage."""

    def __init__(self, options: Mapping[str, Any], threads: int) -> None:
        """`options`: model (a hub name or a folder) and device."""
        try:
            import torch
            from sentence_transformers import CrossEncoder as Model
        except ImportError as error:
            raise KnowledgeError(
                "reranker cross_encoder needs its package: pip install 'balrog_rag[sentence-transformers]'"
            ) from error
        torch.set_num_threads(threads)
        try:
            self._model: Any = Model(options["model"], device=options["device"])
        except (OSError, ValueError) as error:
            raise KnowledgeError(f"cannot load the cross-encoder {options['model']}: {error}") from error

    def scores(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """One score a text."""
        if not texts:
            return []
        return [float(score) for score in self._model.predict([(query, text) for text in texts])]
