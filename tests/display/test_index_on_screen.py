"""An index built at the start of a run, on a real terminal: its bar never disturbs the dashboard."""

import os
import pty
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support import CLEAN, PATIENCE, own_cache

ENTERED, LEFT = "\x1b[?1049h", "\x1b[?1049l"
HIDDEN, SHOWN = "\x1b[?25l", "\x1b[?25h"


class Screen:
    """Everything a run draws on its terminal."""

    def __init__(self, process: subprocess.Popen[bytes], master: int) -> None:
        self.process, self._master = process, master
        self.drawn = ""

    def until(self, text: str | None, seconds: float = PATIENCE) -> None:
        """Read until a text is drawn; None: to the end of the run."""
        while text is None or text not in self.drawn:
            ready = select.select([self._master], [], [], 0 if self.process.poll() is not None else 0.1)[0]
            if ready:
                self.drawn += os.read(self._master, 65536).decode(errors="replace")
            elif self.process.poll() is not None:
                return
            seconds -= 0 if ready else 0.1
            assert seconds > 0, self.drawn[-2000:]


@contextmanager
def screen(folder: Path, pages: int, *words: str) -> Iterator[Screen]:
    corpus, cache = folder / "pages", own_cache(folder / "cache")
    corpus.mkdir()
    for number in range(pages):
        (corpus / f"{number}.md").write_text(f"# Page {number}\n\n" + f"A newt of kind {number} bites. " * 40)
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "balrog_rag.eval", "model=scripted", "agent=robust_star_rag"),
            *(f"knowledge.corpus={corpus}", "runner.workers=1", "env.episodes=1", "run.name=r", *words),
        ],
        cwd=folder,
        env={**CLEAN, "TERM": "xterm-256color", "BALROG_RAG_CACHE": str(cache)},
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
    )
    try:
        yield Screen(process, master)
    finally:
        process.kill()
        process.wait(PATIENCE)
        os.close(master)
        os.close(slave)


def test_the_dashboard_has_the_screen_for_itself(tmp_path: Path) -> None:
    with screen(tmp_path, 20, "limits.steps=2") as run:
        run.until(None)
    assert run.process.returncode == 0
    before, _, after = run.drawn.partition(ENTERED)
    assert " passages of pages (" in before
    assert LEFT in after
    assert "index" not in after.partition(LEFT)[0]


def test_ctrl_c_gives_the_cursor_back(tmp_path: Path) -> None:
    with screen(tmp_path, 600) as run:
        run.until("indexing pages")
        os.kill(run.process.pid, signal.SIGINT)
        run.until(None)
    assert run.process.returncode == 130
    assert "resume with: " in run.drawn
    assert run.drawn.rindex(SHOWN) > run.drawn.rindex(HIDDEN)
    assert "indexing" not in run.drawn[run.drawn.rindex(SHOWN) :]
