"""`balrog-rag watch`: a run seen from another terminal, by its folder alone."""

import os
import pty
import subprocess
import sys
import time
from pathlib import Path

import pytest

from balrog_rag.cli import verbs
from balrog_rag.display.run_files import EpisodeProgress, RunFiles, episode_rows, task_rows
from tests.support import CLEAN, evaluate

SHORT = ("agent=cot", "env=corridor", "env.episodes=2", "limits.steps=3", "runner.workers=1", "run.name=r")


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that has ended."""
    top = tmp_path_factory.mktemp("finished")
    done = evaluate(*SHORT, cwd=top)
    assert done.returncode == 0, done.stderr
    return top / "results/r"


def state(folder: Path) -> dict[str, tuple[int, int]]:
    return {str(path): (path.stat().st_size, path.stat().st_mtime_ns) for path in folder.rglob("*")}


def test_a_finished_run_is_printed_once_and_not_touched(
    finished: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (finished / ".episodes").unlink(missing_ok=True)
    before = state(finished)
    assert verbs.main(["watch", str(finished)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert next(line for line in lines if line.startswith("minihack/")).split()[1:3] == ["2/2", "0"]
    assert sum("step limit (0.00 %)" in line for line in lines) == 2
    assert lines[-1] == "every episode has ended"
    assert state(finished) == before


def begun(finished: Path, folder: Path) -> tuple[Path, bytes]:
    """A run of which one journal is still empty: its path, and what it will contain."""
    (folder / "config.json").write_bytes((finished / "config.json").read_bytes())
    (journal,) = finished.rglob("*_run_00.journal.jsonl")
    path = folder / journal.relative_to(finished)
    path.parent.mkdir(parents=True)
    return path, journal.read_bytes()


def test_an_episode_in_play_shows_its_last_action_and_answer(finished: Path, tmp_path: Path) -> None:
    """Its journal breaks off within a line, and the other episode has not begun."""
    path, whole = begun(finished, tmp_path)
    lines = whole.splitlines(keepends=True)
    last = max(place for place, line in enumerate(lines) if line.startswith(b'{"t":"step"'))
    path.write_bytes(b"".join(lines[:last]) + lines[last][:40])
    files = RunFiles(tmp_path)
    (one,) = files.look()
    assert (one.steps, one.ended) == (2, None)
    assert "ACTION: " in one.answer
    assert "answer: I have looked" in episode_rows([one], 9)[0][-1]
    assert task_rows(files, [one])[0][1:4] == ["0/2", "1", "–"]
    path.write_bytes(whole)
    (one,) = files.look()
    assert (one.steps, one.doing) == (3, "step limit")


def test_what_a_journal_should_not_contain_is_passed_over(finished: Path, tmp_path: Path) -> None:
    path, _ = begun(finished, tmp_path)
    path.write_bytes(b'{"t":"step","n":"many"}\n\xff\n[1]\n{"t":"end","outcome":"died","steps":1}\n')
    (one,) = RunFiles(tmp_path).look()
    assert one.ended is None
    assert one.doing.startswith("journal cannot be read: ")


def test_episodes_in_play_come_first() -> None:
    old, new = (EpisodeProgress(f"a/b/{number}", "", changed=float(number)) for number in (1, 2))
    assert [row[0] for row in episode_rows([old, new], 2)] == ["a/b/2", "a/b/1"]
    assert [row[0] for row in episode_rows([old, new], 1)] == ["a/b/2"]


@pytest.mark.slow
def test_a_running_run_is_followed_to_its_end(tmp_path: Path) -> None:
    """Watched on a real terminal from its first step on."""
    words = (*SHORT, "model=scripted", "model.options.latency=1", "runner.log=none")
    played = subprocess.Popen([sys.executable, "-m", "balrog_rag.eval", *words], cwd=tmp_path, env=CLEAN)
    while not list(tmp_path.rglob("*.journal.jsonl")):
        assert played.poll() is None
        time.sleep(0.1)
    master, slave = pty.openpty()
    watching = subprocess.Popen(
        [sys.executable, "-m", "balrog_rag", "watch", "results/r", "--every", "0.2"],
        cwd=tmp_path,
        env={**CLEAN, "TERM": "xterm"},
        stdin=slave,
        stdout=slave,
        stderr=slave,
    )
    os.close(slave)
    drawn = b""
    while chunk := _read(master):
        drawn += chunk
    assert watching.wait() == 0
    assert drawn.rstrip().endswith(b"every episode has ended")
    assert b"2 episodes planned" in drawn
    assert played.wait() == 0


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65536)
    except OSError:  # Linux reports the end of a terminal as an error
        return b""
