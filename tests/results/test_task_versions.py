"""A task whose meaning has changed has another version, whose results and journals are kept apart."""

from pathlib import Path

import msgspec
import pytest

import balrog_rag
from balrog_rag.cli import verbs
from balrog_rag.contracts.kinds import Sampling
from balrog_rag.episode import journal
from balrog_rag.results.runs import load
from tests.api.faulty_game import made

WORDS = (
    "env.tasks=[versioned/sound]", "env.episodes=2", "agent=naive", "model=scripted",
    "model.options.answers=[east]", "runner.log=none", "runner.workers=1",
)  # fmt: skip


def register(**versions: int) -> None:
    balrog_rag.register.environment(made("versioned", sampling=Sampling(versions=versions)))


@pytest.fixture
def runs(tmp_path: Path) -> tuple[Path, Path]:
    """The same run before and after its task has changed."""
    register()
    before = balrog_rag.evaluate(*WORDS, folder=tmp_path / "before").folder
    register(sound=2)
    return before, balrog_rag.evaluate(*WORDS, folder=tmp_path / "after").folder


def test_results_of_two_versions_are_those_of_two_tasks(
    runs: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    before, after = map(load, runs)
    assert {episode.task for episode in before.episodes} == {"sound"}
    assert {episode.task for episode in after.episodes} == {"sound@2"}
    assert before.episodes[0].spec_digest != after.episodes[0].spec_digest
    assert verbs.main(["compare", *map(str, runs)]) != 0
    assert "share no task" in capsys.readouterr().err
    assert verbs.main(["report", str(runs[1]), "--formats", "csv", "--out", str(runs[1] / "report")]) == 0
    assert "sound@2" in (runs[1] / "report/episodes.csv").read_text()


def test_the_first_version_leaves_specs_as_they_were(runs: tuple[Path, Path]) -> None:
    headers = [journal.read(next(run.rglob("*.journal.jsonl"))).header for run in runs]
    games = [msgspec.to_builtins(header.spec.game) for header in headers if header]
    assert ["version" in game for game in games] == [False, True]


def test_journals_of_another_version_are_refused_by_name(
    runs: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    before, after = runs
    assert verbs.main(["verify", str(after)]) == 0
    capsys.readouterr()
    said = "recorded with version 1 of versioned/sound, which is version 2 here"
    assert verbs.main(["verify", str(before)]) != 0
    assert said in capsys.readouterr().out
    (before / "versioned/sound/sound_run_01.journal.jsonl").unlink()
    with pytest.warns(UserWarning, match=said):
        balrog_rag.Run(before).resume()
