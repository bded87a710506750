"""Every index finds passages, and the same ones alone or in a batch."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from balrog_rag.config.schema import KnowledgeConfig
from balrog_rag.knowledge.covering import covering
from balrog_rag.knowledge.index import best
from balrog_rag.knowledge.index.index_by_size import EXACT, GRAPH, BySize
from balrog_rag.knowledge.opening import open_searcher
from balrog_rag.knowledge.passages import wording
from balrog_rag.knowledge.search import LONGEST_SEARCHED, searched_words

Settings = Callable[..., KnowledgeConfig]
INDEXES = ["bm25", "by_size", "flat_ip", "flat_l2", "hnsw", "hybrid", "ivf_pq"]
QUERIES = ["how do I open a locked door", "excalibur", "floating eye paralyses", "kitten", "slow ghost"]


@pytest.mark.parametrize("index", INDEXES)
def test_each_index_finds_the_page_that_answers(index: str, notes: Path, settings: Settings) -> None:
    searcher = open_searcher(settings(corpus=str(notes), index=index))
    found = [passages[0].title for passages in searcher.search(QUERIES, 1)]
    assert found == ["Doors", "Fountains", "Floating eyes", "Pets", "Ghosts"]


@pytest.mark.parametrize("index", [each for each in INDEXES if each != "by_size"])  # one of the others
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
    assert len(searched_words("x" * 1_000_000)) == LONGEST_SEARCHED


@pytest.mark.parametrize("index", ["flat_ip", "flat_l2", "hnsw", "ivf_pq"])
def test_the_nearest_of_a_passages_own_words_is_itself(index: str, some: Path, settings: Settings) -> None:
    searcher = open_searcher(settings(corpus=str(some), index=index, prior={}))
    asked = searcher.passages[5:200:30]
    found = searcher.search([wording(passage) for passage in asked], 1)
    assert [hits[0].id for hits in found] == [passage.id for passage in asked]


def test_a_prior_moves_what_it_names_down(notes: Path, settings: Settings) -> None:
    plain = open_searcher(settings(corpus=str(notes), prior={}))
    moved = open_searcher(settings(corpus=str(notes), prior={"notes/doors": 0.01, "notes/doors#keys": 1.0}))
    assert plain.search(["locked door kicked"], 1)[0][0].id == "notes/doors"
    assert moved.search(["locked door kicked"], 1)[0][0].id == "notes/doors#keys"


def test_a_part_is_searched_as_what_it_means(notes: Path, settings: Settings) -> None:
    searcher = open_searcher(settings(corpus=str(notes), index="bm25", meaning={"cat": "kitten"}))
    assert [each.title for each in searcher.search(["Cat, follows"], 1)[0]] == ["Pets"]
    assert searcher.search(["cat"], 1)[0][0].title == "Pets"
    assert not open_searcher(settings(corpus=str(notes), index="bm25", meaning=None)).search(["cat"], 1)[0]


def test_fusion_by_ranks_is_a_switch(notes: Path, settings: Settings) -> None:
    options = dict(settings().options)
    options["hybrid"] = {**options["hybrid"], "fusion": "ranks"}
    searcher = open_searcher(settings(corpus=str(notes), options=options))
    assert searcher.search(["excalibur"], 1)[0][0].score == pytest.approx((1 + 0.6) / 61)


def test_minus_one_and_not_a_number_are_no_hits_and_ties_go_by_place() -> None:
    scores = np.array([0.5, np.nan, 0.5, -np.inf, 0.9], np.float32)
    places = np.array([7, 1, 3, 2, -1], np.int64)
    assert best(scores, places, 5) == [(3, 0.5), (7, 0.5)]


def test_each_part_of_a_query_has_a_passage_that_speaks_of_it(tmp_path: Path, settings: Settings) -> None:
    for number in range(4):
        (tmp_path / f"dark{number}.md").write_text(
            f"# Dark {number}\nExplore dark areas and dark rooms {number}.\n"
        )
    other = "What else stands here says little and goes on for a while, as the texts of guides do. "
    (tmp_path / "tools.md").write_text(f"# Tools\n{other} A key opens a locked box.\n")
    (tmp_path / "lizards.md").write_text(f"# Lizards\n{other} A newt is weak.\n")
    plain = settings(corpus=str(tmp_path), index="bm25")

    def titles(query: str, cover: float) -> list[str]:
        return [each.title for each in open_searcher(replace(plain, cover=cover)).search([query], 3)[0]]

    query = "Explore dark areas and rooms, key, newt"
    assert {title[:4] for title in titles(query, 0)} == {"Dark"}
    assert {title[:4] for title in titles(query, 0.8)} == {"Dark", "Tool", "Liza"}
    far = "Explore dark areas and dark rooms, key, newt"
    assert {title[:4] for title in titles(far, 0.8)} == {"Dark"}
    assert titles("Explore dark areas", 0.8) == titles("Explore dark areas", 0)


def test_a_part_that_was_spoken_of_is_left_at_that() -> None:
    order = [(1, 0.9), (2, 0.8), (3, 0.7)]
    assert covering(order, order, [[(1, 0.5), (3, 0.5)], []], 0.8) == order
    assert covering(order, order, [[(3, 0.5), (1, 0.3)]], 0.8) == [(1, 0.9), (3, 0.7), (2, 0.8)]
    assert covering(order, order, [[(9, 0.5), (3, 0.45)]], 0.8) == [(1, 0.9), (3, 0.7), (2, 0.8)]


def test_what_suits_a_part_and_hardly_the_query_is_not_moved_up() -> None:
    order = [(1, 1.0), (2, 0.9), (3, 0.6), (4, 0.59)]
    assert covering(order, order, [[(4, 0.5), (1, 0.3)]], 0.8) == order
    assert covering(order, order, [[(9, 0.5), (1, 0.3)]], 0.8) == order
    assert [place for place, _ in covering(order, order, [[(4, 0.5), (3, 0.4)]], 0.8)] == [1, 3, 2, 4]


def test_the_index_is_chosen_by_the_number_of_passages(
    tmp_path: Path, notes: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Small corpora are searched exactly; a graph and cells begin at the documented numbers."""
    assert (EXACT, GRAPH) == (30_000, 100_000)
    rows = np.random.default_rng(0).standard_normal((200, 48), dtype=np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    module = "balrog_rag.knowledge.index.index_by_size"
    for exact, graph, file in ((200, 300, False), (100, 300, True), (10, 100, True)):
        monkeypatch.setattr(f"{module}.EXACT", exact)
        monkeypatch.setattr(f"{module}.GRAPH", graph)
        folder = tmp_path / f"{exact}-{graph}"
        folder.mkdir()
        BySize.build(folder, None, rows, {}, 1)  # type: ignore[arg-type]
        assert (folder / "index.faiss").exists() == file
        found = BySize(folder, rows, {}, 1).search([""], rows[7:8], 1)
        assert found[0][0][0] == 7
    options = {**settings().options, "hybrid": {**settings().options["hybrid"], "dense": "by_size"}}
    searcher = open_searcher(settings(corpus=str(notes), index="hybrid", options=options))
    assert searcher.search(["kitten"], 1)[0][0].title == "Pets"
