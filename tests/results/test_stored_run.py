"""A run folder is read once: what is checked of it is what a resume uses."""

import json
from pathlib import Path

import pytest

from balrog_rag.config.compose import compose
from balrog_rag.config.frozen import plain
from balrog_rag.contracts.errors import RunFolderError
from balrog_rag.results.run_folder import FORKED, SWEEP
from balrog_rag.results.run_seal import MARK
from balrog_rag.results.stored_run import read_run, read_sealed
from balrog_rag.run.new_folder import create_run

WORDS = ["agent=random", "env=corridor", "env.episodes=2"]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    create_run(tmp_path / "run", compose(WORDS))
    return tmp_path / "run"


def test_a_folder_made_here_is_the_users_own(run: Path) -> None:
    stored = read_run(run)
    assert (stored.own, stored.forked) == (True, ())
    assert stored.config == json.loads(json.dumps(plain(compose(WORDS))))


def test_a_change_after_reading_is_not_used(run: Path) -> None:
    stored = read_run(run)
    (run / FORKED).write_text("[]")
    assert stored.own
    assert not read_run(run).own


@pytest.mark.parametrize("name", [FORKED, SWEEP])
def test_a_file_added_by_somebody_else_breaks_the_seal(run: Path, name: str) -> None:
    (run / name).write_text("[]")
    assert not read_run(run).own


def test_a_mark_that_cannot_be_read_makes_the_folder_a_strangers(run: Path) -> None:
    (run / MARK).unlink()
    (run / MARK).mkdir()
    assert not read_run(run).own


def test_other_files_that_cannot_be_read_are_errors(run: Path) -> None:
    (run / FORKED).mkdir()
    with pytest.raises(RunFolderError, match=r"forked\.json: cannot be read \(Is a directory\)"):
        read_run(run)


def test_a_folder_that_is_not_a_run_or_a_sweep_is_named(tmp_path: Path) -> None:
    with pytest.raises(RunFolderError, match=r"not a run folder \(config\.json: No such file"):
        read_run(tmp_path)
    with pytest.raises(RunFolderError, match=r"not a sweep \(sweep\.json: No such file"):
        read_sealed(tmp_path, SWEEP)
