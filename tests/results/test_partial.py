"""A run that was stopped, compared with its complete twin: no output draws conclusions from the part."""

import csv
import json
import os
import signal
from pathlib import Path

import pytest

from balrog_rag.cli.compare import main as compare
from balrog_rag.cli.leaderboard import main as leaderboard
from balrog_rag.cli.report import main as report
from balrog_rag.results.runs import load
from balrog_rag.results.sweep_table import cells, rows
from tests.run.support import running
from tests.support import PATIENCE, command, until

WORDS = (
    "agent=naive", "model=scripted", "env=minihack_six", "env.episodes=2", "limits.steps=60",
    "runner.concurrency=2",
)  # fmt: skip
SLOW = ("model.options.latency=0.02",)


@pytest.fixture(scope="module")
def twins(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`full`, and `part`: the same games, stopped by a signal once three episodes have ended."""
    at = tmp_path_factory.mktemp("twins")
    done = command("balrog_rag.eval", *WORDS, "run.name=full", cwd=at)
    assert done.returncode == 0, done.stderr
    log = at / "results/part/eval.log"
    with running(at, *WORDS, *SLOW, "run.name=part") as process:
        until(lambda: log.exists() and log.read_text().count(" ended ") >= 3, "three ends")
        os.kill(process.pid, signal.SIGINT)
        said, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    (at / "said").write_text(said)
    return at


@pytest.fixture
def words(twins: Path) -> str:
    """'partial: 3 of 12', or as many as had ended when the signal arrived."""
    found = load(twins / "results/part")
    assert found.unfinished
    assert 3 <= len(found.episodes) < 12
    assert found.partial == f"partial: {len(found.episodes)} of 12"
    return found.partial


def test_the_run_itself_says_so_and_gives_no_interval(twins: Path, words: str) -> None:
    said = (twins / "said").read_text()
    assert f"part ({words})" in said
    assert f"{words}: " in said
    assert "±" not in said.split("progress %")[1].split("SE", 1)[1]
    summary = json.loads((twins / "results/part/summary.json").read_text())
    assert f"partial: {summary['partial']}" == words
    assert "partial" not in json.loads((twins / "results/full/summary.json").read_text())
    of_kind = json.loads((twins / "results/part/minihack/minihack_summary.json").read_text())
    assert f"partial: {of_kind['partial']}" == words


def test_a_sweep_s_table(twins: Path, words: str) -> None:
    part, full = rows([(name, twins / "results" / name, 12) for name in ("part", "full")])
    assert cells(part)[0] == f"part ({words})"
    assert cells(part)[3] == "–"
    assert part.low is None
    assert part.standard_error is None
    assert full.partial == ""
    assert full.low is not None


def test_compare(twins: Path, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    runs = [str(twins / "results" / name) for name in ("part", "full")]
    assert compare(runs) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert f"part ({words}) against full: no verdict: the ended episodes are not a random" in said
    assert "p = " not in said
    assert compare([*runs, "--partial"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert f"part ({words}) against full: undecided: +0.00 points" in said


@pytest.mark.slow
def test_report(twins: Path, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs = [str(twins / "results" / name) for name in ("part", "full")]
    shared = ["--formats", "html,md,csv", "--baseline", "full"]
    assert report([*runs, *shared, "--out", str(tmp_path / "plain")]) == 0
    assert "no verdict" in capsys.readouterr().out
    for name in ("report.html", "report.md"):
        page = (tmp_path / "plain" / name).read_text()
        assert words in page
        assert "no interval" in page
        assert "undecided:" not in page
    (row,) = csv.DictReader((tmp_path / "plain/verdicts.csv").open())
    assert row["arm"] == f"part ({words})"
    assert row["verdict"] == "no verdict"
    assert row["low"] == "nan"
    assert report([*runs, *shared, "--partial", "--out", str(tmp_path / "asked")]) == 0
    (row,) = csv.DictReader((tmp_path / "asked/verdicts.csv").open())
    assert row["arm"] == f"part ({words})"
    assert float(row["difference"]) == 0.0


def test_leaderboard(twins: Path, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs = [str(twins / "results" / name) for name in ("part", "full")]

    def own(out: str, *more: str) -> dict[str, str]:
        assert leaderboard(["build", *runs, "--by", "minihack", "--out", str(tmp_path / out), *more]) == 0
        found = json.loads((tmp_path / out / "leaderboard.json").read_text())
        return {row["name"]: row["rank"] for row in found if row["own"]}

    assert own("plain") == {"full": "1"}
    assert f"part ({words}): not ranked" in capsys.readouterr().out
    assert f"part ({words}): not ranked" in (tmp_path / "plain/leaderboard.html").read_text()
    assert own("asked", "--partial") == {"full": "1 to 2", f"part ({words})": "1 to 2"}
    assert words in (tmp_path / "asked/leaderboard.html").read_text()


@pytest.mark.slow
def test_a_cap_of_the_run_leaves_it_partial_and_a_higher_one_completes_it(tmp_path: Path) -> None:
    """Else games that were cut off, or never begun, would count as games in which nothing was reached."""
    price = ("model.price.input=1", "model.price.output=1", "limits.steps=10", "runner.concurrency=2")
    words = ("agent=naive", "model=scripted", "env.episodes=4", *price, "run.name=r")
    done = command("balrog_rag.eval", *words, "limits.run.dollars=0.02", cwd=tmp_path)
    assert "(partial: 0 of 4)" in done.stdout
    assert "4 episodes cut off by a cap of the run; raise limits.run" in done.stdout
    assert load(tmp_path / "results/r").partial == "partial: 0 of 4"
    done = command("balrog_rag.eval", "resume=results/r", "limits.run.dollars=100", cwd=tmp_path)
    assert "partial" not in done.stdout
    assert load(tmp_path / "results/r").partial == ""
