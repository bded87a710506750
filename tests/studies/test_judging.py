"""Drawn queries, passages judged by hand and by a model, figures and agreement."""

import io
import json
from pathlib import Path

import msgspec
import pytest
import yaml

from balrog_rag.cli.knowledge import main
from balrog_rag.knowledge.rewriting import meant, parts, subject
from balrog_rag.studies import judge_command as command
from balrog_rag.studies.agreement import agreement
from balrog_rag.studies.judgements import Judgement, read_judgements, score, wilson
from balrog_rag.studies.query_draws import Logged, draw, read_log
from balrog_rag.util.paths import data


def made(query: str, rank: int, grade: str, judge: str = "ann", how: str = "type") -> Judgement:
    return Judgement(query, how, rank, f"p{rank}", f"{query}{rank}", grade, judge)  # type: ignore[arg-type]


def test_half_is_drawn_by_frequency_and_nothing_twice() -> None:
    logged = [Logged(1000, "often"), *(Logged(1, f"rare {n}") for n in range(200))]
    seen = [draw(logged, 20, seed) for seed in range(30)]
    assert all(len({one.query for one in drawn}) == 20 for drawn in seen)
    assert all([one.how for one in drawn] == ["frequency", "type"] * 10 for drawn in seen)
    assert sum(drawn[0].query == "often" for drawn in seen) > 15
    assert draw(logged, 20, 3) == draw(logged, 20, 3) != draw(logged, 20, 4)
    assert "often" not in {one.query for one in draw(logged, 400, 0, known=["often"])}
    assert len(draw(logged, 400, 0)) == 201


def test_a_log_is_counts_and_queries(tmp_path: Path) -> None:
    (tmp_path / "log.tsv").write_text("12\tfind stairs\n\nno count\n")
    assert read_log(tmp_path / "log.tsv") == [Logged(12, "find stairs"), Logged(1, "no count")]


def test_scores_count_queries_and_useless_passages() -> None:
    judged = [
        *(made("a", rank, grade) for rank, grade in enumerate(("no", "useful", "answers"), start=1)),
        *(made("b", rank, grade) for rank, grade in enumerate(("no", "useful", "no"), start=1)),
        made("c", 1, "no"),
        made("c", 4, "answers"),
    ]
    found = score(judged[:-1])
    assert (found.queries, found.answer, found.useful, found.useless) == (3, 1 / 3, 2 / 3, 4 / 7)
    assert score(judged).answer == 1 / 3  # what stands fourth is not shown
    assert wilson(85, 100) == pytest.approx((0.7672, 0.9069), abs=1e-4)


def test_agreement_is_over_what_both_judged() -> None:
    ours = [made("a", 1, "answers"), made("a", 2, "no"), made("b", 1, "useful"), made("c", 1, "no")]
    same = agreement(ours, [made(each.query, each.rank, each.grade, "bob") for each in ours[:3]])
    assert (same.passages, same.same, same.kappa.value, same.queries, same.alike) == (3, 1, 1, 2, 1)
    assert same.answered == (0.5, 0.5)
    turned = {"answers": "no", "useful": "useful", "no": "answers"}
    other = agreement(ours, [made(each.query, each.rank, turned[each.grade], "bob") for each in ours])
    assert other.weighted.value < other.kappa.value < 0
    assert other.judges == ("ann", "bob")
    with pytest.raises(Exception, match="no passage in common"):
        agreement(ours, [made("z", 1, "no")])


def test_kappa_is_cohens() -> None:
    """A table of a textbook: 20, 5, 10, 15 of 50 is 0.70 agreed, 0.50 by chance, so 0.40."""
    said = (
        [("answers", "answers")] * 20
        + [("answers", "no")] * 5
        + [("no", "answers")] * 10
        + [("no", "no")] * 15
    )
    ours = [made(f"q{place}", 1, one) for place, (one, _) in enumerate(said)]
    theirs = [made(f"q{place}", 1, two, "bob") for place, (_, two) in enumerate(said)]
    found = agreement(ours, theirs)
    for kappa in (found.kappa, found.weighted, found.verdicts):
        assert kappa.value == pytest.approx(0.4)
        assert (kappa.low, kappa.high) == pytest.approx((0.4 - 0.25, 0.4 + 0.25), abs=0.04)
    assert (found.same, found.alike, found.answered) == (0.7, 0.7, (0.5, 0.6))


def test_a_grade_is_read_from_an_answer() -> None:
    assert command.grade_in("It bears on this, but is no answer.\nGrade: **useful**.") == "useful"
    assert command.grade_in("I cannot say") is None


def test_judged_by_hand_and_gone_on_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    for name in ("newts", "doors", "stairs", "rocks"):
        (notes / f"{name}.md").write_text(f"# {name}\nAbout {name}: what to do with {name}.\n")
    (tmp_path / "log.tsv").write_text("5\tdoors\n1\trocks and stairs\n")
    out = tmp_path / "judged.jsonl"
    words = ["judge", str(tmp_path / "log.tsv"), "--out", str(out), "--judge", "ann"]
    settings = [f"knowledge.corpus={notes}", "knowledge.index=bm25"]
    monkeypatch.setattr("sys.stdin", io.StringIO("what\na\nq\n"))
    assert main([*words, *settings]) == 0
    assert [(each.rank, each.grade, each.judge) for each in read_judgements(out)] == [(1, "answers", "ann")]
    monkeypatch.setattr("sys.stdin", io.StringIO("u\nn\n" * 9))
    assert main([*words, *settings]) == 0
    assert "answer@3 0.500" in capsys.readouterr().out
    assert main(["judge", "--score", str(out), str(out), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["agreement"][0]["kappa"]["value"] == 1
    assert told["scores"][str(out)]["all"]["queries"] == 2
    assert "together" not in told["scores"]
    sheet = tmp_path / "sheet.jsonl"
    assert main(["judge", str(tmp_path / "log.tsv"), "--sheet", str(sheet), *settings]) == 0
    lines = [json.loads(line) for line in sheet.read_bytes().splitlines()]
    (about,) = [line for line in lines if line["query"] == "doors"]
    judged = {each.said: msgspec.to_builtins(each) for each in read_judgements(out)}
    assert {*judged[about["said"]]} - {*about} == {"grade", "judge"}
    assert {**judged[about["said"]], **about} == {**about, "grade": "no", "judge": "ann"}
    assert about["text"].startswith("About doors")


def test_files_without_a_query_in_common_are_scored_together(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, grade in (("a", "answers"), ("b", "no")):
        (tmp_path / name).write_bytes(msgspec.json.encode(made(name, 1, grade)))
    assert main(["judge", "--score", str(tmp_path / "a"), str(tmp_path / "b")]) == 0
    told = capsys.readouterr().out
    assert "together\n  all: 2 queries, answer@3 0.500" in told
    assert "kappa" not in told


@pytest.mark.parametrize(
    ("query", "searched"),
    [
        ("Drop rocks, early game", "Drop rocks"),
        ("Early game: corpse or rocks?", "corpse or rocks"),
        ("Early game strategy", "Early game strategy"),
        ("Explore, early game, low AC", "Explore, low AC"),
        ("strategycraft", "strategycraft"),
    ],
)
def test_phrases_that_name_no_subject_are_left_out(query: str, searched: str) -> None:
    assert subject(query, ["early game", "strategy"]) == searched
    assert subject(query, []) == query


@pytest.mark.parametrize(
    ("query", "searched"),
    [
        ("Trapped,  low HP", "no way out, low HP"),
        ("Low HP, trapped?", "Low HP, no way out"),
        ("Trapped", "no way out"),
        ("Open a trapped door,key", "Open a trapped door,key"),
    ],
)
def test_a_part_that_means_something_else_is_searched_as_that(query: str, searched: str) -> None:
    assert meant(query, {"trapped": "no way out"}) == searched
    assert meant(query, {}) == query


def test_the_parts_of_a_query_stand_between_its_commas() -> None:
    assert parts("Find food, use key,, trapped?") == ["Find food", "use key", "trapped"]
    assert parts("What to do with a key?") == ["What to do with a key"]
    assert parts(" , ?") == []


def test_two_searches_in_one_file_are_scored_apart(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [
        msgspec.structs.replace(made("doors", 1, grade), search=search)
        for search, grade in (("before", "no"), ("after", "answers"))
    ]
    file = tmp_path / "both"
    file.write_bytes(b"\n".join(map(msgspec.json.encode, rows)))
    assert main(["judge", "--score", str(file)]) == 0
    printed = capsys.readouterr().out
    assert f"{file} (before)\n  all: 1 queries, answer@3 0.000" in printed
    assert f"{file} (after)\n  all: 1 queries, answer@3 1.000" in printed
    assert "kappa" not in printed


def test_the_manifest_describes_every_file_of_judgements() -> None:
    folder = data("eval") / "judgements"
    manifest = yaml.safe_load((folder / "manifest.yaml").read_text())
    assert sorted(each["file"] for each in manifest["files"]) == sorted(
        path.name for path in folder.glob("*.jsonl")
    )
    for each in manifest["files"]:
        judged = read_judgements(folder / each["file"])
        assert each["file"] == f"{each['date']}_{each['draw']}_{each['judge']}.jsonl"
        assert {row.judge for row in judged} == {each["judge"]} <= {*manifest["judges"]}
        assert (len({row.query for row in judged}), len(judged)) == (each["queries"], each["passages"])
        assert list(dict.fromkeys(row.search or "current" for row in judged)) == each["searches"]


def test_of_an_odd_number_of_queries_one_more_is_drawn_by_frequency() -> None:
    logged = [Logged(n + 1, f"query {n}") for n in range(50)]
    hows = [one.how for one in draw(logged, 5, 0)]
    assert (hows.count("frequency"), hows.count("type")) == (3, 2)
