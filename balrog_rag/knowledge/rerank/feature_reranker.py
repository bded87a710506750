"""A small learned reranker: a linear model over eight features of query and passage, trained by pairs.

The weights are `wiki_index/reranker.json`, made by `benchmarks/train_reranker.py` from the judgements in
`eval/judgements` and the dev queries. It needs no model.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from balrog_rag.contracts.data import Passage
from balrog_rag.contracts.errors import KnowledgeError
from balrog_rag.knowledge.rewriting import parts
from balrog_rag.util.files import read_file
from balrog_rag.util.paths import data

FEATURES = ("score", "rank", "title_asked", "query_in_title", "query_in_text", "alike", "covered", "parts")
"""The search's score relative to the best; one over the rank; shares of words: the title's in the query, the
query's in the title and in the text; the likeness of the most similar other way to ask (Jaccard); the share
of the query's words in the best of them; the mean share of each part's words in title and text."""

_STOP = frozenset(
    (
        *("a", "an", "the", "to", "of", "in", "on", "at", "for", "with", "is", "are", "it", "i", "you", "my"),
        *("your", "and", "or", "not", "do", "does", "what", "how", "when", "where", "which", "can", "should"),
        *("be", "as", "by", "from", "this", "that", "if", "no"),
    )
)
_ENDINGS = ("ing", "ies", "es", "ed", "s")
_STEM = 3


class FeatureReranker:
    """Scores passages by the weighted features."""

    def __init__(self, options: Mapping[str, Any], threads: int) -> None:
        """Read the weights."""
        path = data("wiki_index") / "reranker.json"
        try:
            weights = msgspec.json.decode(read_file(path), type=dict[str, float])
        except (OSError, msgspec.DecodeError) as error:
            raise KnowledgeError(f"cannot read the reranker's weights in {path}: {error}") from error
        if set(weights) != set(FEATURES):
            raise KnowledgeError(f"{path}: expected weights of {', '.join(FEATURES)}; train it again")
        self._weights = [weights[name] for name in FEATURES]

    def passage_scores(self, query: str, passages: Sequence[Passage]) -> list[float]:
        """Return one score per passage, given in the order of the search."""
        return [
            sum(weight * value for weight, value in zip(self._weights, row, strict=True))
            for row in features(query, passages)
        ]


def features(query: str, passages: Sequence[Passage]) -> list[list[float]]:
    """Return the features of each passage, in the order of FEATURES."""
    asked = words(query)
    of_parts = [found for part in parts(query) if (found := words(part))]
    best = max((abs(each.score) for each in passages), default=0.0) or 1.0
    return [_row(asked, of_parts, best, rank, each) for rank, each in enumerate(passages, start=1)]


def _row(
    asked: frozenset[str], of_parts: Sequence[frozenset[str]], best: float, rank: int, passage: Passage
) -> list[float]:
    title, text = words(passage.title), words(passage.text)
    ways = [found for way in passage.asked.split(";") if (found := words(way))]
    whole = title | text
    return [
        passage.score / best,
        1 / rank,
        _share(title, asked),
        _share(asked, title),
        _share(asked, text),
        max((len(way & asked) / len(way | asked) for way in ways), default=0.0),
        max((_share(asked, way) for way in ways), default=0.0),
        sum(_share(part, whole) for part in of_parts) / len(of_parts) if of_parts else 0.0,
    ]


def _share(some: frozenset[str], of: frozenset[str]) -> float:
    return len(some & of) / len(some) if some else 0.0


def words(text: str) -> frozenset[str]:
    """The words of a text that carry meaning, without common endings."""
    return frozenset(_stem(word) for word in re.findall(r"[a-z0-9]+", text.lower()) if word not in _STOP)


def _stem(word: str) -> str:
    ending = next((each for each in _ENDINGS if word.endswith(each) and len(word) - len(each) >= _STEM), "")
    return word.removesuffix(ending) if ending else word
