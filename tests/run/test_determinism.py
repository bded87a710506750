"""Any number of episodes in play, in any order of turns, gives the same journals."""

from pathlib import Path

import pytest

from tests.run.support import same_journals
from tests.support import evaluate


def play(folder: Path, episodes: int, steps: int, *widths: int) -> None:
    names = [f"at-once-{width}" for width in widths]
    for name, width in zip(names, widths, strict=True):
        words = ["agent=robust_cot", f"env.episodes={episodes}", f"limits.steps={steps}", f"run.name={name}"]
        words += [f"runner.concurrency={width}", f"runner.workers={1 + width % 3}", "runner.log=none"]
        done = evaluate(*words, cwd=folder)
        assert done.returncode == 0, done.stderr


def test_one_or_many_at_once(tmp_path: Path) -> None:
    play(tmp_path, 10, 25, 1, 8)
    same_journals(tmp_path / "results/at-once-1", tmp_path / "results/at-once-8")


@pytest.mark.slow
def test_one_eight_and_sixty_four_at_once(tmp_path: Path) -> None:
    play(tmp_path, 64, 100, 1, 8, 64)
    same_journals(tmp_path / "results/at-once-1", tmp_path / "results/at-once-8")
    same_journals(tmp_path / "results/at-once-1", tmp_path / "results/at-once-64")
