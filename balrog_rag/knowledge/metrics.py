"""Retrieval scores of one query, from the positions of its answers in the results."""

from collections.abc import Collection, Mapping, Sequence
from math import log2

import msgspec

SCORES = ("recall@1", "recall@5", "recall@10", "share@5", "mrr", "ndcg@10")
DEPTH = 10


class QuestionOutcome(msgspec.Struct, frozen=True):
    """The results of one index."""

    index: str
    embedder: str
    corpus: str
    queries: int
    scores: dict[str, float]
    by_style: dict[str, float]
    """recall@5 by style of query."""
    p50_ms: float
    p95_ms: float
    missed: list[str]


def scores(found: Sequence[str], answers: Collection[str]) -> dict[str, float]:
    """Compute recall@k: whether any answer is among the first k, since one answering passage is enough.

    share@5 is stricter: the share of the answers among the first five, out of at most five.
    """
    ranks = [rank for rank, name in enumerate(found[:DEPTH], start=1) if name in answers]
    best = sum(1 / log2(1 + rank) for rank in range(1, min(DEPTH, len(answers)) + 1))
    first = ranks[0] if ranks else 0
    recall = {f"recall@{k}": float(0 < first <= k) for k in (1, 5, 10)}
    return {
        **recall,
        "share@5": sum(rank <= 5 for rank in ranks) / min(5, len(answers)),
        "mrr": 1 / first if first else 0.0,
        "ndcg@10": sum(1 / log2(1 + rank) for rank in ranks) / best if best else 0.0,
    }


def mean(rows: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The mean of each score."""
    return {name: sum(row[name] for row in rows) / len(rows) for name in SCORES}
