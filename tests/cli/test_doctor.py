"""`balrog-rag doctor`: everything that a run lacks, named at once."""

import tomllib
from pathlib import Path

import pytest

from balrog_rag.cli import verbs
from balrog_rag.cli.doctor import EXTRAS

PYPROJECT = Path(__file__).parents[2] / "pyproject.toml"


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A home where neither the user's key nor their .env is found."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("BALROG_RAG_CACHE", str(tmp_path / "cache"))


def test_a_run_that_can_be_played(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert verbs.main(["doctor", "agent=random", "env=corridor"]) == 0
    printed = capsys.readouterr().out
    assert "agent=random env=corridor:\n  ok       everything it needs is here\n" in printed
    assert "nle 1." in printed
    assert list(tmp_path.iterdir()) == []  # nothing fetched, indexed or written


def test_a_run_with_retrieval_is_checked_without_reading_its_corpus(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert verbs.main(["doctor", "model=scripted"]) == 0
    assert list(tmp_path.iterdir()) == []


def test_a_run_that_lacks_levels_is_refused_before_anything_is_fetched(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The knowledge base's tokenizer would be fetched first, if the corpus were read before the levels."""
    assert verbs.main(["run", "model=openai", "env=balrog_nethack"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "API key missing" in line
    assert "MiniHack-Boxoban-Hard-v0: its levels are not on this machine" in line
    assert list(tmp_path.iterdir()) == []


def test_everything_missing_is_named_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    """A key, an extra and the levels of two tasks, in one call."""
    words = ["env=minihack", "model=openai", "agent=naive_rag", "knowledge.embedder=litellm"]
    assert verbs.main(["doctor", *words]) == 1
    missing = [line for line in capsys.readouterr().out.splitlines() if line.startswith("  missing")]
    assert [line for line in missing if "OPENAI_API_KEY" in line]
    assert len([line for line in missing if "levels are not on this machine" in line]) == 2


def test_a_wrong_override_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert verbs.main(["doctor", "env=nosuch"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: env=nosuch: ")


def test_every_extra_is_listed() -> None:
    declared = tomllib.loads(PYPROJECT.read_text())["project"]["optional-dependencies"]
    assert {*EXTRAS} == {*declared} - {"dev"}


def test_a_run_names_everything_missing_at_once_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["agent=random", "env=minihack", "run.name=r"]
    assert verbs.main(["run", *words]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "MiniHack-Boxoban-Hard-v0: " in line
    assert "MiniHack-Boxoban-Medium-v0: " in line
    assert not (tmp_path / "results").exists()
