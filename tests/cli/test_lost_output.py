"""If a command's output is not read, the command ends as usual, without a traceback."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import CLEAN, PATIENCE

RUN = ("model=scripted", "agent=naive", "env=corridor", "runner.workers=1", "runner.log=none", "run.name=r")
SHORT = ("env.episodes=1", "limits.steps=3")


@pytest.fixture
def unread() -> Iterator[int]:
    """A pipe whose reader has gone."""
    end, pipe = os.pipe()
    os.close(end)
    yield pipe
    os.close(pipe)


def started(folder: Path, stdout: int, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "balrog_rag.eval", *words],
        cwd=folder,
        env=CLEAN,
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_a_complete_run_is_complete_although_nobody_reads_it(tmp_path: Path, unread: int) -> None:
    process = started(tmp_path, unread, *RUN, *SHORT)
    assert process.communicate(timeout=PATIENCE)[1] == ""
    assert process.returncode == 0


def test_a_stopped_run_says_how_to_go_on_although_nobody_reads_its_results(
    tmp_path: Path, unread: int
) -> None:
    process = started(tmp_path, unread, *RUN, "model.options.latency=0.05")
    while process.poll() is None and not (tmp_path / "results/r/eval.log").exists():
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert "resume with: balrog-rag resume results/r" in err


def test_a_sweep_on_a_full_disk_ends_as_it_would_have(tmp_path: Path) -> None:
    with open("/dev/full", "w") as full:
        process = started(tmp_path, full.fileno(), "-m", *RUN, *SHORT, "run.seed=1,2")
        assert process.communicate(timeout=PATIENCE)[1] == ""
    assert process.returncode == 0


def test_a_command_whose_output_is_lost_says_so_in_one_line(tmp_path: Path) -> None:
    with open("/dev/full", "w") as full:
        process = started(tmp_path, full.fileno(), "--help")
        _, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, err) == (1, "error: stdout: cannot be written (No space left on device)\n")


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run `r` that is long enough for `show` to print more than a pipe holds."""
    top = tmp_path_factory.mktemp("played")
    process = started(top, subprocess.DEVNULL, *RUN, "env.episodes=1", "limits.steps=60", "run.folder=.")
    assert process.communicate(timeout=PATIENCE)[1] == ""
    return top


def under(shell: str, top: Path) -> subprocess.CompletedProcess[str]:
    """Run a shell line in a folder; `$b` is balrog-rag, `$j` a journal."""
    journal = next(top.rglob("*.journal.jsonl"))
    words = {**CLEAN, "b": f"{sys.executable} -m balrog_rag", "j": str(journal)}
    return subprocess.run(["bash", "-c", shell], cwd=top, env=words, capture_output=True, text=True)


@pytest.mark.parametrize(
    "shell", ["$b show $j --brief | head -1", pytest.param("$b show $j | head -1", marks=pytest.mark.slow)]
)
def test_a_reader_that_has_seen_enough_is_not_an_error_of_the_agent(played: Path, shell: str) -> None:
    done = under(f"set -o pipefail; {shell}", played)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("episode minihack/")


@pytest.mark.parametrize("words", ["report r --formats csv", "show $j", "show $j --brief"])
def test_what_goes_to_a_closed_stdout_goes_nowhere(played: Path, words: str) -> None:
    done = under(f"$b {words} >&-", played)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_run_whose_streams_are_closed_is_played(played: Path) -> None:
    """And no file gets the number of one of them, which something that prints would then write into."""
    words = " ".join((*RUN[:-1], *SHORT, "run.folder=.", "run.name=closed"))
    done = under(f"$b run {words} <&- >&- 2>&-", played)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (played / "closed" / "summary.json").exists()


def test_a_page_for_which_there_is_no_room_is_named_and_leaves_nothing(played: Path) -> None:
    before = sorted(played.iterdir())
    # Python would cache the beginning of a module that it compiles now as the whole.
    done = under("export PYTHONDONTWRITEBYTECODE=1; ulimit -f 20; $b view $j --out page.html", played)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "error: page.html: cannot be written (File too large)\n"
    assert sorted(played.iterdir()) == before


def test_signs_that_a_terminal_lacks_end_no_command(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "balrog_rag.eval", *RUN, *SHORT],
        cwd=tmp_path,
        env={**CLEAN, "PYTHONIOENCODING": "ascii"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "? SE" in done.stdout
