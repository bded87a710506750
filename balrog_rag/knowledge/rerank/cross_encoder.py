"""Cross-encoders of the sentence-transformers library: read query and passage together. Needs torch."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from balrog_rag.contracts.errors import ConfigError
from balrog_rag.knowledge import sentence_models

_BATCH = 32


class CrossEncoderReranker:
    """Scores each passage by one reading of the model."""

    requires: ClassVar[Mapping[str, str]] = sentence_models.EXTRA

    def __init__(self, options: Mapping[str, Any], threads: int) -> None:
        """`options`: reranking_model (a hub name or a folder) and device; `model` is the embedder."""
        self._model = sentence_models.load("CrossEncoder", "reranking_model", options, threads)
        if self._model.num_labels != 1:
            raise ConfigError(
                f"{sentence_models.OPTIONS}.reranking_model={options['reranking_model']}: has "
                f"{self._model.num_labels} outputs; use a cross-encoder with one, the relevance"
            )

    def scores(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """Return the model's relevance of each text; more words than it reads are cut off."""
        if not texts:
            return []
        pairs = [(query, text) for text in texts]
        return [
            float(score) for score in self._model.predict(pairs, batch_size=_BATCH, show_progress_bar=False)
        ]
