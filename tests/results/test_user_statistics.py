"""User-defined statistics: where they appear, and that a failing one does no harm."""

import csv
import json
import math
from pathlib import Path
from typing import Any

import pytest

import balrog_rag
from balrog_rag.cli import compare as compare_command
from balrog_rag.cli import leaderboard
from balrog_rag.cli import report as report_command
from balrog_rag.cli import results as results_command
from balrog_rag.contracts import registry
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.contracts.statistics import EpisodeResult, Statistic
from balrog_rag.results.leaderboard.verified import wrong_files
from balrog_rag.results.runs import load

SHORT = ("env=corridor", "env.episodes=4", "limits.steps=6", "runner.log=none")


@pytest.fixture(scope="module")
def arms(tmp_path_factory: pytest.TempPathFactory) -> tuple[balrog_rag.Run, balrog_rag.Run]:
    """Two runs on disk that were played without any statistic."""
    top = tmp_path_factory.mktemp("arms")
    random = balrog_rag.evaluate(*SHORT, agent="random", folder=top / "random")
    return random, balrog_rag.evaluate(*SHORT, agent="dummy", folder=top / "dummy")


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry.statistics, "_added", {})


def kinds_of_action(episode: EpisodeResult) -> float:
    return len(episode.actions)


def best(episodes: Any) -> float:
    return max(len(episode.actions) for episode in episodes)


def register_both() -> None:
    balrog_rag.register.statistic(
        Statistic(name="action_kinds", title="kinds of action", unit="kinds", episode=kinds_of_action)
    )
    balrog_rag.register.statistic(Statistic(name="best_kinds", title="most kinds", episodes=best))


def test_without_statistics_nothing_changes(arms: tuple[balrog_rag.Run, ...]) -> None:
    summary = json.loads((arms[0].folder / "summary.json").read_text())
    assert "statistics" not in summary
    assert not {"action_kinds", "best_kinds"} & {*arms[0].episodes.columns}


def test_both_kinds_appear_in_summaries_and_tables(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    register_both()
    run = balrog_rag.evaluate(*SHORT, agent="random", folder=tmp_path / "run")
    records = sorted((run.folder / "minihack").rglob("*_run_*.json"))
    counts = [len(json.loads(record.read_text())["action_frequency"]) for record in records]
    expected = {
        "action_kinds": {"title": "kinds of action", "unit": "kinds", "mean": sum(counts) / 4, "episodes": 4},
        "best_kinds": {"title": "most kinds", "unit": "", "value": max(counts)},
    }
    assert json.loads((run.folder / "summary.json").read_text())["statistics"] == {"minihack": expected}
    of_kind = json.loads((run.folder / "minihack" / "minihack_summary.json").read_text())
    assert of_kind["statistics"] == expected
    with (run.folder / "episodes.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0])[-3:] == ["spec_digest", "segments", "action_kinds"]  # behind what was there
    assert [float(row["action_kinds"]) for row in rows] == counts
    assert results_command.main(["rebuild", str(run.folder)]) == 0
    said = capsys.readouterr().out
    assert f"kinds of action: {sum(counts) / 4:.2f}" in said
    assert f"most kinds: {max(counts):.2f}" in said


def test_both_kinds_appear_in_reports(arms: tuple[balrog_rag.Run, ...], tmp_path: Path) -> None:
    register_both()
    folders = [str(arm.folder) for arm in arms]
    assert report_command.main([*folders, "--out", str(tmp_path / "report"), "--formats", "md"]) == 0
    lines = (tmp_path / "report/report.md").read_text().splitlines()
    (at,) = [place for place, line in enumerate(lines) if "kinds of action" in line]
    assert [cell.strip() for cell in lines[at].split("|")[-3:-1]] == ["kinds of action", "most kinds"]
    assert all("unknown" not in row for row in lines[at : at + 4])


def test_both_kinds_appear_in_comparisons(
    arms: tuple[balrog_rag.Run, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    register_both()
    folders = [str(arm.folder) for arm in arms]
    assert compare_command.main(folders) == 0
    said = capsys.readouterr().out
    assert "statistics of your own" in said
    assert "kinds of action" in said
    assert "no test" in said
    assert balrog_rag.compare(*arms, measure="action_kinds").whole.our_mean > 1
    with pytest.raises(ConfigError, match="best_kinds: one figure of all episodes"):
        balrog_rag.compare(*arms, measure="best_kinds")


def test_a_submission_does_not_depend_on_what_is_installed(tmp_path: Path) -> None:
    register_both()
    run = balrog_rag.evaluate(*SHORT, agent="dummy", folder=tmp_path / "run")
    assert "statistics" in run.summary
    assert wrong_files(load(run.folder), {}) == []
    words = ["submit", str(run.folder), "--name", "x", "--out", str(tmp_path / "out")]
    assert leaderboard.main(words) == 0
    (target,) = (tmp_path / "out").iterdir()
    for file in ("summary.json", "minihack/minihack_summary.json"):
        assert "statistics" not in json.loads((target / file).read_text())
        assert "statistics" in json.loads((run.folder / file).read_text())
    assert "action_kinds" not in (target / "episodes.csv").read_text()
    assert leaderboard.main(["verify", str(target)]) == 0


def broken(episode: EpisodeResult) -> float:
    return episode.last["no such number"]


@pytest.mark.parametrize(
    ("of_one", "said"),
    [
        (broken, "test_user_statistics.py:"),
        (lambda episode: "many", "ValueError"),
        (lambda episode: math.inf, "returned inf; expected None or a number from 0 to 99"),
        (lambda episode: -1, "returned -1; expected"),
    ],
)
def test_a_statistic_that_fails_is_logged_once_and_left_out(
    of_one: Any, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    balrog_rag.register.statistic(Statistic(name="faulty", episode=of_one, high=99))
    balrog_rag.register.statistic(Statistic(name="best_kinds", episodes=best))
    run = balrog_rag.evaluate(*SHORT, agent="random", folder=tmp_path / "run")
    told = capsys.readouterr().err
    assert told.count("statistic faulty: ") == told.count("\n") == 1
    assert said in told
    assert (run.folder / "eval.log").read_text().count("ERROR statistic faulty: ") == 1
    assert list(run.summary["statistics"]["minihack"]) == ["best_kinds"]
    assert len(run.episodes) == 4
    assert capsys.readouterr().err == ""
    balrog_rag.register.statistic(Statistic(name="faulty", episode=lambda episode: 2.0))  # mended
    assert run.summary["statistics"]["minihack"]["faulty"]["mean"] == 2.0


def test_an_episode_without_a_figure_is_left_out_of_the_mean(
    arms: tuple[balrog_rag.Run, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    last_only = Statistic(name="some", episode=lambda episode: 5.0 if episode.name.endswith("/03") else None)
    balrog_rag.register.statistic(last_only)
    balrog_rag.register.statistic(Statistic(name="elsewhere", env="nle", episode=lambda episode: 1 / 0))
    assert arms[0].summary["statistics"]["minihack"] == {
        "some": {"title": "some", "unit": "", "mean": 5.0, "episodes": 1}
    }
    with pytest.raises(ConfigError, match="needs a figure for every episode"):
        balrog_rag.compare(*arms, measure="some")
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"name": "two words", "episode": broken}, "'two words': not an identifier"),
        ({"name": "neither"}, "give either episode=FUNCTION or episodes=FUNCTION"),
        ({"name": "both", "episode": broken, "episodes": best}, "give either"),
        ({"name": "none", "episode": broken, "low": 1, "high": 1}, "low=1 is not below high=1"),
    ],
)
def test_a_statistic_that_cannot_be_is_refused(fields: Any, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        Statistic(**fields)


def test_the_name_of_a_figure_that_exists_is_left_out(
    arms: tuple[balrog_rag.Run, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    balrog_rag.register.statistic(Statistic(name="steps", episode=lambda episode: 1.0))
    assert set(arms[0].episodes["steps"]) == {6}
    assert "statistic steps: has the name of a figure that exists already" in capsys.readouterr().err
