"""A reranking API that LiteLLM reaches. Its calls are not counted among a run's model calls."""

from collections.abc import Mapping, Sequence
from typing import Any

from balrog_rag.contracts.errors import ConfigError
from balrog_rag.knowledge import provider


class LiteLLMReranker:
    """One call a query."""

    def __init__(self, options: Mapping[str, Any], threads: int) -> None:
        """`options`: reranking_model, base_url and timeout; `model` is the one that embeds."""
        if not options["reranking_model"]:
            raise ConfigError(
                "knowledge.options.litellm.reranking_model: no model named; reranker=litellm needs one"
            )
        self._litellm = provider.litellm()
        self._options, self._model = options, str(options["reranking_model"])

    def scores(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """The provider's relevance of each text; a text that it leaves out comes last."""
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
