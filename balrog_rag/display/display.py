"""What a person or a program sees of runs in play: a dashboard, plain lines, JSON lines, or nothing."""

import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TextIO

from balrog_rag.contracts.behaviour import Watcher
from balrog_rag.display.scoreboard import Scoreboard
from balrog_rag.run.interrupts import Interrupts
from balrog_rag.run.scheduler import Gate
from balrog_rag.run.watchers import Unwatched


@asynccontextmanager
async def display(
    log: str, board: Scoreboard, gate: Gate, interrupts: Interrupts, out: TextIO
) -> AsyncIterator[Watcher]:
    """Show runs by runner.log while the body plays them; the watcher hears of events after the board.

    `out` is the true stdout: prints may be sent elsewhere meanwhile.
    """
    kind = chosen(log, out)
    if kind == "none":
        yield Unwatched()
    elif kind == "dashboard":
        from balrog_rag.display.dashboard import dashboard

        async with dashboard(board, gate, interrupts, out):
            yield Unwatched()
    else:
        from balrog_rag.display.progress_log import progress_log

        async with progress_log(kind, board, gate, interrupts, out) as watcher:
            yield watcher


def chosen(log: str, out: TextIO) -> str:
    """What `auto` means here: the dashboard in a terminal that can show it, else plain lines."""
    if log != "auto":
        return log
    terminal = sys.stdin.isatty() and out.isatty() and os.environ.get("TERM", "dumb") != "dumb"
    return "dashboard" if terminal else "plain"
