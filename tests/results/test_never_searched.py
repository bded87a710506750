"""Runs with retrieval that never searched: a warning wherever their scores are shown."""

from pathlib import Path

import pytest

from tests.support import command, evaluate

ANSWER = "<|ACTION|>wait<|END|>"
WORDS = ("env.episodes=2", "limits.steps=5", "knowledge.index=bm25", "run.folder=.")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`silent` never writes a query, `searching` does, `without` has no retrieval."""
    folder = tmp_path_factory.mktemp("runs")
    answers = f"model.options.answers=['{ANSWER}']"
    arms = {
        "silent": ("agent=robust_star_rag", answers),
        "searching": ("agent=robust_star_rag", "agent.retrieval.query=short", answers),
        "without": ("agent=robust_star", answers),
    }
    for name, words in arms.items():
        ended = evaluate(*WORDS, f"run.name={name}", *words, cwd=folder)
        assert ended.returncode == 0, ended
        (folder / f"{name}.txt").write_text(ended.stdout + ended.stderr)
    return folder


NEVER = "retrieval never searched: 10 of 10 look-ups had no query to search for (no label 10)"


def test_a_run_says_so_at_its_end(runs: Path) -> None:
    said = {name: (runs / f"{name}.txt").read_text() for name in ("silent", "searching", "without")}
    assert f"warning: {NEVER}; these are scores without retrieval." in said["silent"]
    assert "retrieval: searched at" not in said["silent"]
    assert "retrieval: searched at 100% of steps" in said["searching"]
    assert not any("never searched" in said[name] for name in ("searching", "without"))


@pytest.mark.slow
def test_a_report_and_its_verdict_say_so(runs: Path) -> None:
    paths = [str(runs / name) for name in ("silent", "without")]
    ended = command("balrog_rag.report", *paths, "--out", str(runs / "report"), cwd=runs)
    assert ended.returncode == 0, ended
    text = next((runs / "report").glob("*.md")).read_text()
    verdicts, retrieval = (
        text.partition(f"## {name}")[2].partition("\n## ")[0] for name in ("Verdicts", "Retrieval")
    )
    assert NEVER in verdicts
    assert NEVER in retrieval


def test_a_comparison_says_so(runs: Path) -> None:
    silent = command("balrog_rag.compare", "silent", "without", cwd=runs)
    assert f"note: silent: {NEVER}" in silent.stdout, silent
    assert "never searched" not in command("balrog_rag.compare", "searching", "without", cwd=runs).stdout
