"""The example study goes from its arms to a table, a figure and a paper, and plays nothing twice."""

import re
import runpy
import shutil
import sys
from pathlib import Path

import pytest

TOP = Path(__file__).parents[2]


def study(*words: str) -> None:
    before, sys.argv = sys.argv, ["paper_study", *words]
    try:
        runpy.run_path(str(TOP / "examples/paper_study.py"), run_name="__main__")
    finally:
        sys.argv = before


@pytest.mark.slow
def test_a_study_ends_in_a_paper(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    study("env.episodes=4", "limits.steps=60", "runner.log=none")
    table = (tmp_path / "study/table.tex").read_text()
    assert re.search(r"^random actions & 4 & \d+\.\d\d &  &  \\\\$", table, re.MULTILINE)
    assert re.search(
        r"^digging bot & 4 & \d+\.\d\d & \$[+-]\d+\.\d\d\$ \[.*\] & [\d.]+ \\\\$", table, re.MULTILINE
    )
    assert (tmp_path / "study/figure.pdf").read_bytes().startswith(b"%PDF")
    assert "digging bot against random actions: " in (tmp_path / "study/paper.tex").read_text()
    assert (tmp_path / "study/report/report.html").is_file()
    assert (tmp_path / "study/paper.pdf").is_file() == (shutil.which("pdflatex") is not None)
    journals = {path: path.read_bytes() for path in (tmp_path / "study").rglob("*.journal.jsonl")}
    assert len(journals) == 8
    study()
    assert {path: path.read_bytes() for path in journals} == journals
    assert (tmp_path / "study/table.tex").read_text() == table
