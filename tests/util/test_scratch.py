"""Temporary folders of killed processes: the next process removes them, but none of a living process."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from balrog_rag.util import scratch
from tests.run.support import game_workers, running, scripted
from tests.support import CLEAN, command

HOLDS = (
    "import sys; from balrog_rag.util import scratch; print(scratch.folder(), flush=True); sys.stdin.read()"
)


@contextmanager
def holder(top: Path) -> Iterator[tuple["subprocess.Popen[str]", Path]]:
    """A process with a file in its folder, and that folder."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLDS],
        env={**CLEAN, "TMPDIR": str(top)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        folder = Path(process.stdout.readline().strip())
        (folder / "file").touch()
        yield process, folder
        process.kill()


def test_only_what_nobody_holds_and_is_ones_own_is_removed(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "file").touch()
    (tmp_path / f"{scratch.PREFIX}link").symlink_to(elsewhere)
    (tmp_path / f"{scratch.PREFIX}file").touch()
    with holder(tmp_path) as (killed, abandoned), holder(tmp_path) as (_, held):
        killed.kill()
        killed.wait()
        assert (abandoned / "file").exists()
        scratch.remove_abandoned(str(tmp_path))
        assert not abandoned.exists()
        assert (held / "file").exists()
    assert (elsewhere / "file").exists()
    assert (tmp_path / f"{scratch.PREFIX}file").exists()


def test_it_goes_with_its_process(tmp_path: Path) -> None:
    with holder(tmp_path) as (process, folder):
        assert folder.parent == tmp_path
        process.communicate("")
        assert os.listdir(tmp_path) == []


def test_games_keep_their_files_in_memory_where_there_is_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory, usual = str(tmp_path), tempfile.gettempdir()
    assert scratch.quick_top(memory, 0) == usual  # the tests choose a place
    monkeypatch.delenv("TMPDIR")
    assert scratch.quick_top(memory, 0) == memory
    assert scratch.quick_top(memory, 1 << 60) == usual
    assert scratch.quick_top(str(tmp_path / "missing"), 0) == usual
    mounted = os.statvfs(tmp_path)
    noexec = os.statvfs_result((*mounted[:8], mounted.f_flag | os.ST_NOEXEC, mounted.f_namemax))
    with monkeypatch.context() as patch:
        patch.setattr(os, "statvfs", lambda path: noexec)
        assert scratch.quick_top(memory, 0) == usual
    assert Path(scratch.folder(memory)).parent == tmp_path


FORKS = """
import os
from balrog_rag.util import scratch

mine = scratch.folder()
if (child := os.fork()) == 0:
    raise SystemExit(scratch.folder() == mine)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
assert os.path.isdir(mine)
assert scratch.folder() == mine
assert len(os.listdir(os.environ["TMPDIR"])) == 1

os.rename(mine, mine + "-moved")
assert os.path.isdir(scratch.folder())
os.rmdir(mine + "-moved")
"""


def test_a_fork_has_one_of_its_own_and_one_that_was_removed_is_made_anew(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", FORKS], env={**CLEAN, "TMPDIR": str(tmp_path)}, check=True)
    assert os.listdir(tmp_path) == []


def test_a_killed_run_is_tidied_up_by_the_next(tmp_path: Path) -> None:
    """`kill -9` of a run, whose workers die with it and cannot tidy up either."""
    top = tmp_path / "top"
    top.mkdir()
    words = ("agent=naive", *scripted(0.05), "runner.workers=1", "env.episodes=1", "runner.log=none")
    with running(tmp_path, *words, "run.name=killed", TMPDIR=str(top)) as process:
        while process.poll() is None and not list(top.glob("*/worker-*/nle*")):
            time.sleep(0.02)
        (worker,) = game_workers(process.pid)
        os.kill(process.pid, signal.SIGKILL)
        worker.wait()
    assert list(top.glob("*/worker-*"))
    done = command(
        "balrog_rag.eval", *words, "limits.steps=3", "run.name=next", cwd=tmp_path, TMPDIR=str(top)
    )
    assert done.returncode == 0, done.stderr
    assert os.listdir(top) == []
