"""Embeddings from any API that LiteLLM supports."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from balrog_rag.contracts.errors import KnowledgeError
from balrog_rag.knowledge import provider
from balrog_rag.knowledge.embed import Progress, Vectors, unit

_RETRIES = 5


class LiteLLMEmbedder:
    """Calls the API for every batch; each query costs a call."""

    def __init__(self, options: Mapping[str, Any], threads: int) -> None:
        """`options`: model, base_url, dimensions (null: the model's own, requested once), batch, timeout."""
        self._litellm = provider.litellm()
        self._options = options
        wanted = options["dimensions"]
        self.dimensions = int(wanted) if wanted else self._call(["dimensions"]).shape[1]
        self.identity = f"litellm/{options['model']}/{self.dimensions}"

    def queries(self, texts: Sequence[str]) -> Vectors:
        """Embed all queries in one call; the provider computes each independently."""
        return self._call(list(texts)) if texts else np.empty((0, self.dimensions), np.float32)

    def passages(self, texts: Sequence[str], progress: Progress) -> Vectors:
        """Embed passages in batches of the configured size."""
        size = int(self._options["batch"])
        parts = []
        for start in range(0, len(texts), size):
            parts.append(self._call(list(texts[start : start + size])))
            progress(len(parts[-1]))
        return np.concatenate(parts)

    def _call(self, texts: list[str]) -> Vectors:
        settings = {"dimensions": self._options["dimensions"], "api_base": self._options["base_url"]}
        answer = provider.answered(
            "embedding",
            self._options["model"],
            lambda: self._litellm.embedding(
                model=self._options["model"],
                input=texts,
                timeout=self._options["timeout"],
                num_retries=_RETRIES,
                **{name: value for name, value in settings.items() if value},
            ),
        )
        rows = sorted(answer.data or (), key=lambda row: row["index"])
        if len(rows) != len(texts):
            raise KnowledgeError(f"{self._options['model']} gave {len(rows)} vectors for {len(texts)} texts")
        return unit(np.array([row["embedding"] for row in rows], np.float32))
