"""Names of models and folders with control characters: no table, report or board contains one."""

import shutil
from pathlib import Path
from unicodedata import category

import pytest

from balrog_rag.cli.leaderboard import main as leaderboard
from balrog_rag.cli.report import main as report
from balrog_rag.cli.results import main as results
from tests.support import edit_journal, evaluate

EVIL = "\x1b]0;owned\x07\u202egnp.exe"


@pytest.fixture(scope="module")
def evil_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    top = tmp_path_factory.mktemp("evil")
    words = ("agent=naive", "env=corridor", "env.episodes=2", "limits.steps=2", f"model.name='m{EVIL}'")
    done = evaluate(*words, "run.name=r", cwd=top)
    assert done.returncode == 0, done.stderr
    run = Path(shutil.move(top / "results/r", top / f"r{EVIL}"))
    for path in run.rglob("*.journal.jsonl"):
        edit_journal(path, "llm", lambda entry: entry["reply"].update(model=f"=a{EVIL}"))
    return run


def acted_on(path: Path) -> set[str]:
    """The characters in a file that a terminal would act on."""
    text = path.read_text("utf-8")
    return {sign for sign in text if category(sign) in ("Cc", "Cf") and sign not in "\n\r\t"}


def test_nothing_that_is_written_of_a_run_holds_them(evil_run: Path, tmp_path: Path) -> None:
    assert results(["rebuild", str(evil_run)]) == 0
    assert report([str(evil_run), "--out", str(tmp_path / "report")]) == 0
    assert leaderboard(["build", str(evil_run), "--out", str(tmp_path / "board")]) == 0
    made = [path for kind in ("csv", "md", "html", "svg") for path in tmp_path.rglob(f"*.{kind}")]
    made += [evil_run / "episodes.csv", *evil_run.glob("*.md")]
    assert {path.suffix for path in made} >= {".csv", ".md", ".html"}
    assert {path.name: acted_on(path) for path in made if acted_on(path)} == {}
    assert "'=a·]0;owned" in (evil_run / "episodes.csv").read_text()
