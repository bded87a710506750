"""The scores are correct by example, the queries are valid, and the default is as good as documented."""

from collections.abc import Callable
from pathlib import Path

import pytest

from balrog_rag.config.schema import KnowledgeConfig
from balrog_rag.contracts.errors import KnowledgeError
from balrog_rag.knowledge.corpus import load
from balrog_rag.knowledge.evaluation import check_answers, measure, read_queries
from balrog_rag.knowledge.metrics import QuestionOutcome, mean, scores
from balrog_rag.knowledge.passages import Cut
from balrog_rag.knowledge.plot import SHOWN, plot
from balrog_rag.util.paths import data

Settings = Callable[..., KnowledgeConfig]
QUERIES = data("wiki_index") / "queries.jsonl"


@pytest.mark.parametrize(
    ("found", "answers", "expected"),
    [
        ("abcde", "a", {"recall@1": 1, "recall@5": 1, "share@5": 1, "mrr": 1, "ndcg@10": 1}),
        ("abcde", "c", {"recall@1": 0, "recall@5": 1, "share@5": 1, "mrr": 1 / 3, "ndcg@10": 0.5}),
        ("abcdefg", "g", {"recall@5": 0, "recall@10": 1, "share@5": 0, "mrr": 1 / 7, "ndcg@10": 1 / 3}),
        ("abcde", "xyz", {"recall@10": 0, "share@5": 0, "mrr": 0, "ndcg@10": 0}),
        ("abcde", "axyz", {"recall@1": 1, "share@5": 0.25, "mrr": 1}),
        ("abcdefghij", "abcdefg", {"share@5": 1, "ndcg@10": 1}),
        ("", "a", {"recall@10": 0, "mrr": 0, "ndcg@10": 0}),
    ],
)
def test_scores_by_example(found: str, answers: str, expected: dict[str, float]) -> None:
    got = scores(list(found), list(answers))
    assert {name: got[name] for name in expected} == pytest.approx(expected)


def test_means() -> None:
    rows = [scores(["a"], ["a"]), scores(["b"], ["a"])]
    assert mean(rows)["recall@1"] == 0.5


def test_the_queries_are_many_split_and_half_a_models() -> None:
    queries = read_queries(QUERIES, "all")
    assert len(queries) >= 150
    assert len({query.query for query in queries}) == len(queries)
    models = sum(query.style == "model" for query in queries)
    assert 0.4 <= models / len(queries) <= 0.6
    dev = sum(query.split == "dev" for query in queries)
    assert abs(dev - len(queries) / 2) <= 1
    check_answers(queries, load("embedded", Cut(240)))


def test_answers_that_the_corpus_does_not_have_are_refused(notes: Path) -> None:
    with pytest.raises(KnowledgeError, match="use queries that are labelled for this corpus"):
        check_answers(read_queries(QUERIES, "dev"), load(str(notes), Cut(240)))


@pytest.mark.parametrize(
    ("content", "said"),
    [("{}", "not a file of test queries"), ("", "contains no query"), ("nonsense", "not a file of")],
)
def test_bad_files_of_queries_are_one_line(content: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "q.jsonl").write_text(content, encoding="utf-8")
    with pytest.raises(KnowledgeError, match=said):
        read_queries(tmp_path / "q.jsonl", "all")


@pytest.mark.slow
def test_the_default_reaches_its_recall(settings: Settings) -> None:
    corpus = load("embedded", Cut(240))
    queries = read_queries(QUERIES, "test")
    default = measure(settings(), "default", corpus, queries)
    flat = measure(settings(index="flat_l2", prior={}), "flat", corpus, queries)
    assert default.scores["recall@5"] >= 0.85
    assert default.scores["recall@1"] > flat.scores["recall@1"]


def test_the_picture_names_its_split_and_comes_out_the_same(tmp_path: Path) -> None:
    outcomes = [
        QuestionOutcome(index, "minilm", "notes", 7, dict.fromkeys(SHOWN, score), {}, time, time, [])
        for index, score, time in (("flat", 0.5, 1.0), ("hybrid", 0.9, 2.0))
    ]
    for name in ("a.svg", "b.svg", "c.png"):
        plot(outcomes, "dev", tmp_path / name)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    plot(outcomes, "test", tmp_path / "b.svg")
    assert (tmp_path / "a.svg").read_bytes() != (tmp_path / "b.svg").read_bytes()
    assert (tmp_path / "c.png").read_bytes().startswith(b"\x89PNG")
