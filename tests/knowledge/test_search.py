"""Every index finds, and finds the same in any company."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from balrog_rag.config.schema import KnowledgeConfig
from balrog_rag.knowledge.index import best
from balrog_rag.knowledge.opening import open_searcher
from balrog_rag.knowledge.search import LONGEST_SEARCHED, tidy

Settings = Callable[..., KnowledgeConfig]
INDEXES = ["bm25", "flat_ip", "flat_l2", "hnsw", "hybrid", "ivf_pq"]
QUERIES = ["how do I open a locked door", "excalibur", "floating eye paralyses", "kitten", "slow ghost"]


@pytest.mark.parametrize("index", INDEXES)
def test_each_index_finds_the_page_that_answers(index: str, notes: Path, settings: Settings) -> None:
    searcher = open_searcher(settings(corpus=str(notes), index=index))
    found = [passages[0].title for passages in searcher.search(QUERIES, 1)]
    assert found == ["Doors", "Fountains", "Floating eyes", "Pets", "Ghosts"]


@pytest.mark.parametrize("index", INDEXES)
def test_a_query_finds_the_same_alone_and_among_64(index: str, some: Path, settings: Settings) -> None:
    searcher = open_searcher(settings(corpus=str(some), index=index))
    many = [f"{word} {number % 7}" for number in range(16) for word in ("ring", "dark area", "newt", "pray")]
    together = searcher.search(many, 10)
    for number in (0, 1, 2, 3, 31, 63):
        assert together[number] == searcher.search([many[number]], 10)[0]


@pytest.mark.parametrize("index", INDEXES)
@pytest.mark.parametrize(
    ("query", "k", "most"), [("", 5, 0), ("  \n", 5, 0), ("door", 0, 0), ("door", 999, 6)]
)
def test_edges(index: str, query: str, k: int, most: int, notes: Path, settings: Settings) -> None:
    searcher = open_searcher(settings(corpus=str(notes), index=index))
    found = searcher.search([query], k)[0]
    assert len(found) <= most
    assert len({passage.id for passage in found}) == len(found)
    assert bool(found) == bool(most)


@pytest.mark.parametrize("index", INDEXES)
def test_a_query_of_a_megabyte_is_cut_and_answered(index: str, notes: Path, settings: Settings) -> None:
    searcher = open_searcher(settings(corpus=str(notes), index=index))
    assert searcher.search(["locked door \x1b[31m" * 60_000], 3)[0]
    assert len(tidy("x" * 1_000_000)) == LONGEST_SEARCHED


@pytest.mark.parametrize("index", ["flat_ip", "flat_l2", "hnsw", "ivf_pq"])
def test_the_nearest_of_a_passages_own_words_is_itself(index: str, some: Path, settings: Settings) -> None:
    searcher = open_searcher(settings(corpus=str(some), index=index, prior={}))
    asked = searcher.passages[5:200:30]
    found = searcher.search([f"{passage.title} {passage.text}" for passage in asked], 1)
    assert [hits[0].id for hits in found] == [passage.id for passage in asked]


def test_a_prior_moves_what_it_names_down(notes: Path, settings: Settings) -> None:
    plain = open_searcher(settings(corpus=str(notes), prior={}))
    moved = open_searcher(settings(corpus=str(notes), prior={"notes/doors": 0.01, "notes/doors#keys": 1.0}))
    assert plain.search(["locked door kicked"], 1)[0][0].id == "notes/doors"
    assert moved.search(["locked door kicked"], 1)[0][0].id == "notes/doors#keys"


def test_fusion_by_ranks_is_a_switch(notes: Path, settings: Settings) -> None:
    options = dict(settings().options)
    options["hybrid"] = {**options["hybrid"], "fusion": "ranks"}
    searcher = open_searcher(settings(corpus=str(notes), options=options))
    assert searcher.search(["excalibur"], 1)[0][0].score == pytest.approx((1 + 0.6) / 61)


def test_minus_one_and_not_a_number_are_no_hits_and_ties_go_by_place() -> None:
    scores = np.array([0.5, np.nan, 0.5, -np.inf, 0.9], np.float32)
    places = np.array([7, 1, 3, 2, -1], np.int64)
    assert best(scores, places, 5) == [(3, 0.5), (7, 0.5)]
