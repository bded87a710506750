"""`knowledge corpus check`: how entries were checked, and sentences that may contradict each other."""

from pathlib import Path

import pytest

from balrog_rag.cli.knowledge import main
from balrog_rag.knowledge.corpus.embedded import claims, guide

GUIDE = """# Small

## Newts
checked: source monst.c:mons
tags: early
A newt has speed 6 and bites for 1d3.

## More newts
checked: read
A newt has speed 9 and bites for 1d3. It is yellow.

## Water
checked: read
tags: early
You cannot walk over deep water. Ice will carry you.

## Colours
checked: read
Gold is yellow, silver is white.
"""


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "small.md").write_text(GUIDE, encoding="utf-8")
    monkeypatch.setattr(guide, "folder", lambda: tmp_path)


def test_every_entry_of_the_guide_is_counted(capsys: pytest.CaptureFixture[str]) -> None:
    entries = list(guide.entries())
    assert main(["corpus", "check", "embedded"]) == 0
    counted = ", ".join(f"{sum(entry.checked == way for entry in entries)} {way}" for way in guide.CHECKED)
    assert f"{len(entries)} entries: {counted}\n" in capsys.readouterr().out


@pytest.mark.usefixtures("small")
def test_claims_that_were_only_read_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["corpus", "check", "embedded", "--list"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "4 entries: 0 table, 1 source, 0 played, 3 read",
        "2 of those only read state numbers or absolutes (2 sentences)",
        "  1  small.md  More newts",
        "  1  small.md  Water",
    ]


@pytest.mark.usefixtures("small")
def test_a_tag_chooses_entries(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["corpus", "check", "embedded", "--tag", "early"]) == 0
    assert capsys.readouterr().out.startswith("2 entries: 0 table, 1 source, 0 played, 1 read\n")
    assert main(["corpus", "check", "embedded", "--tag", "late"]) != 0
    assert "--tag late: no entry has it; use one of early" in capsys.readouterr().err


@pytest.mark.usefixtures("small")
def test_alike_sentences_with_other_numbers_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["corpus", "check", "embedded", "--pairs", "0.7"]) == 0
    shown = capsys.readouterr().out
    assert "Newts: A newt has speed 6" in shown
    assert "More newts: A newt has speed 9" in shown
    assert shown.endswith("1 pair of sentences to look at\n")


@pytest.mark.usefixtures("small")
def test_a_likeness_out_of_range_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["corpus", "check", "embedded", "--pairs", "80"]) != 0
    assert "--pairs 80: expected a number above 0 and at most 1" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("sentence", "claimed"),
    [
        ("It bites for 2d4.", True),
        ("One in six is poisoned.", True),
        ("Never pray in Gehennom.", True),
        ("Go down the stairs.", False),
        ("It kills outright.", True),
    ],
)
def test_what_counts_as_a_claim(sentence: str, claimed: bool) -> None:
    entry = guide.GuideEntry("file", "title", sentence, checked="read")
    assert bool(claims.claims(entry)) is claimed
