"""Test collections in BEIR's layout and runs in TREC's."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from balrog_rag.cli.knowledge import main
from balrog_rag.config.schema import KnowledgeConfig
from balrog_rag.contracts.errors import KnowledgeError
from balrog_rag.knowledge import beir
from balrog_rag.knowledge.evaluation import read_queries
from balrog_rag.knowledge.index_folder import IndexFolder
from balrog_rag.knowledge.opening import index_folder, manifest, open_searcher

Settings = Callable[..., KnowledgeConfig]
TEXT = "A newt is harmless."


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    notes = tmp_path / "notes"
    notes.mkdir()
    for name, text in (("newts", TEXT), ("lizards", TEXT), ("dragons", "A dragon breathes on newts.")):
        (notes / f"{name}.md").write_text(f"# {name}\n{text}\n")
    return notes


QUERY = {
    **{"query": "what is a newt", "style": "question", "origin": "ours", "split": "test"},
    "answers": ["notes/newts"],
}


def test_an_exported_collection_is_read_back_and_measured_alike(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "queries.jsonl").write_text(json.dumps(QUERY))
    words = [f"knowledge.corpus={corpus}", "knowledge.index=bm25", "--index", "bm25", "--json"]
    out = tmp_path / "beir"
    assert main(["eval", "--queries", str(tmp_path / "queries.jsonl"), "--export", str(out), *words]) == 0
    before = json.loads(capsys.readouterr().out)
    assert main(["eval", "--queries", str(out), *words]) == 0
    after = json.loads(capsys.readouterr().out)
    assert [each["scores"] for each in before] == [each["scores"] for each in after]
    assert (out / "qrels" / "test.tsv").read_text() == "query-id\tcorpus-id\tscore\nq1\tnotes/newts\t1\n"
    first = (out / "runs" / "bm25.trec").read_text().splitlines()[0].split()
    assert first[:2] == ["q1", "Q0"]
    assert first[3] == "1"
    assert {path.name for path in (out / "runs").iterdir()} == {"bm25.trec", "configured.trec"}


@pytest.mark.parametrize(
    ("qrels", "said"),
    [
        ("q1\tnotes/newts\n", "line 1: expected query, passage and a whole number"),
        ("q1\tnotes/newts\tyes\n", "line 1: expected query"),
        ("q2\tnotes/newts\t1\n", "query 'q2' is not in queries.jsonl"),
    ],
)
def test_a_damaged_collection_is_one_line(qrels: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels" / "test.tsv").write_text(qrels)
    (tmp_path / "queries.jsonl").write_text('{"_id": "q1", "text": "newt"}\n')
    with pytest.raises(KnowledgeError, match=said):
        beir.read(tmp_path, "test")


def test_a_grade_of_zero_does_not_answer(tmp_path: Path) -> None:
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\ta\t0\nq1\tb\t2\nq2\ta\t0\n")
    (tmp_path / "queries.jsonl").write_text('{"_id": "q1", "text": "newt"}\n{"_id": "q2", "text": "x"}\n')
    assert [(each.query, each.answers) for each in read_queries(tmp_path, "test")] == [("newt", ("b",))]


def test_passages_of_one_text_are_shown_once(corpus: Path, settings: Settings) -> None:
    found = open_searcher(settings(corpus=str(corpus), index="bm25")).search(["newt"], 3)[0]
    assert [each.text for each in found].count(TEXT) == 1
    assert len(found) == 2


def test_the_command_that_builds_an_index_again_names_its_corpus(
    corpus: Path, tmp_path: Path, settings: Settings
) -> None:
    from balrog_rag.knowledge.corpus import load
    from balrog_rag.knowledge.passages import Cut

    config = replace(settings(corpus=str(corpus), index="bm25"), folder=str(tmp_path / "none"))
    place = index_folder(config, manifest(config, load(config.corpus, Cut(240)), None))
    assert isinstance(place, IndexFolder)
    with pytest.raises(KnowledgeError, match=rf"knowledge.corpus={corpus} knowledge.index=bm25 .*folder="):
        place.manifest()
