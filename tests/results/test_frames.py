"""Runs as data frames hold what the journals hold."""

from pathlib import Path

import pytest

from balrog_rag.contracts.errors import RunFolderError
from balrog_rag.episode import journal
from balrog_rag.results.frames import episodes, steps
from balrog_rag.results.run_folder import journals
from tests.support import evaluate


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("frames")
    words = ("agent=robust_star_rag", "env.episodes=2", "limits.steps=6", "run.name=r", "model.price.input=1")
    done = evaluate(*words, cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder / "results" / "r"


def test_a_row_for_every_episode(run: Path) -> None:
    frame = episodes(run, run)
    assert list(frame.run) == ["r"] * 4
    assert list(frame.steps) == [6] * 4
    assert list(frame.calls) == [18] * 4
    assert set(frame.outcome) == {"steps"}


def test_a_sweep_is_all_of_its_runs(run: Path) -> None:
    assert list(episodes(run.parent).episode) == list(episodes(run).episode)
    with pytest.raises(RunFolderError, match="neither a run folder nor a folder of run folders"):
        episodes(run / "nle")


def test_a_row_for_every_step_with_the_numbers_of_that_moment(run: Path) -> None:
    path = journals(run)[0]
    frame = steps(path)
    recorded = journal.read(path).steps
    assert list(frame.n) == list(range(6))
    assert list(frame.taken) == [step.taken for step in recorded]
    assert list(frame.calls) == [3, 6, 9, 12, 15, 18]
    assert frame.tokens.is_monotonic_increasing
    assert frame.dollars.iloc[-1] > 0
    assert (frame.max_hp > 0).all()
