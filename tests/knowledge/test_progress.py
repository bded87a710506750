"""Progress of long steps where no terminal shows a bar."""

import pytest

from balrog_rag.knowledge import progress
from balrog_rag.knowledge.progress import shown_progress


def test_a_log_gets_counts(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(progress, "EVERY", 0.0)
    with shown_progress("indexing notes", 3000) as done:
        done(1000)
        done(500)
    with shown_progress("reading notes", None) as done:
        done(7)
    assert capsys.readouterr().err.splitlines() == [
        "indexing notes: 1,000 of 3,000",
        "indexing notes: 1,500 of 3,000",
        "reading notes: 7",
    ]


def test_a_short_step_prints_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with shown_progress("indexing notes", 2) as done:
        done(1)
        done(1)
    assert capsys.readouterr().err == ""
