"""More episodes at once than the limit of open files allows."""

import resource
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import CLEAN, PATIENCE


def played(folder: Path, episodes: int, soft: int, hard: int) -> subprocess.CompletedProcess[str]:
    """A run with this number of concurrent episodes, under these limits of open files."""
    words = [f"env.episodes={episodes}", f"runner.concurrency={episodes}", "limits.steps=1", "agent=naive"]
    command = [sys.executable, "-m", "balrog_rag.eval", "model=scripted", "run.name=r", "--log", "plain"]
    return subprocess.run(
        [*command, *words, "model.options.latency=1", "runner.workers=1"],
        cwd=folder,
        env=CLEAN,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard)),
    )


def test_a_low_soft_limit_is_raised(tmp_path: Path) -> None:
    done = played(tmp_path, 100, 200, 4096)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "at once, not" not in done.stdout + done.stderr


@pytest.mark.slow
def test_where_it_cannot_be_raised_fewer_play_at_once_and_it_is_said(tmp_path: Path) -> None:
    done = played(tmp_path, 60, 260, 260)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "20 episodes at once, not 60: " in done.stdout + done.stderr
    assert "(ulimit -Hn); 60 episodes need 380 files" in done.stdout + done.stderr
    assert len(list(tmp_path.glob("results/r/nle/*/*.journal.jsonl"))) == 60
