"""The learned reranker: its features by example, and what it changes in a search."""

from collections.abc import Callable
from pathlib import Path

import pytest

from balrog_rag.config.schema import KnowledgeConfig
from balrog_rag.contracts.data import Passage
from balrog_rag.knowledge.opening import open_searcher
from balrog_rag.knowledge.rerank.feature_reranker import FEATURES, FeatureReranker, features

Settings = Callable[..., KnowledgeConfig]


def test_features_by_example() -> None:
    one = Passage("a", "Gnome corpse", "Safe to eat.", 2.0, asked="eat a gnome corpse; safe food")
    two = Passage("b", "Mummies", "A gnome mummy leaves a corpse.", 1.0)
    first, second = (dict(zip(FEATURES, row, strict=True)) for row in features("gnome corpse", [one, two]))
    assert first == {
        "score": 1, "rank": 1, "title_asked": 1, "query_in_title": 1, "query_in_text": 0,
        "alike": pytest.approx(2 / 3), "covered": 1, "parts": 1,
    }  # fmt: skip
    assert (second["score"], second["rank"], second["title_asked"], second["query_in_text"]) == (
        0.5,
        0.5,
        0,
        1,
    )
    assert features("", [one])[0][2:] == [0.0] * 6
    assert features("newt", []) == []


def test_scores_are_the_weighted_features_and_reorder_a_search(some: Path, settings: Settings) -> None:
    plain = open_searcher(settings(corpus=str(some), index="bm25", prior={}))
    reranking = open_searcher(settings(corpus=str(some), index="bm25", prior={}, reranker="features"))
    query = "how to fight a gnome lord"
    before = plain.search([query], 20)[0]
    after = reranking.search([query], 20)[0]
    assert sorted(each.id for each in before) == sorted(each.id for each in after)
    scores = FeatureReranker({}, 1).passage_scores(query, before)
    best = max(range(len(scores)), key=lambda place: scores[place])
    assert after[0].id == before[best].id
    assert after[0].score == pytest.approx(scores[best])
    assert reranking.search([query], 20, rerank=False)[0] == before
