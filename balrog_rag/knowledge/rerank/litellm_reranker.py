"""A reranking API that LiteLLM supports. Its calls are not counted among a run's model calls."""

from collections.abc import Mapping, Sequence
from typing import Any

from balrog_rag.contracts.errors import ConfigError
from balrog_rag.knowledge import provider


class LiteLLMReranker:
    """Makes one call per query."""

    def __init__(self, options: Mapping[str, Any], threads: int) -> None:
        """`options`: reranking_model, base_url and timeout; `model` is the embedder."""
        if not options["reranking_model"]:
            raise ConfigError(
                "knowledge.options.litellm.reranking_model: no model named; reranker=litellm needs one"
            )
        self._litellm = provider.litellm()
        self._options, self._model = options, str(options["reranking_model"])

    def scores(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """Return the provider's relevance of each text; texts that it omits come last."""
        base = self._options["base_url"]
        answer = provider.answered(
            "reranking",
            self._model,
            lambda: self._litellm.rerank(
                model=self._model,
                query=query,
                documents=list(texts),
                timeout=self._options["timeout"],
                **({"api_base": base} if base else {}),
            ),
        )
        scores = [0.0] * len(texts)
        for row in answer.results:
            scores[row["index"]] = float(row["relevance_score"])
        return scores
