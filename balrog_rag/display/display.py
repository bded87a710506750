"""Displays of running episodes: a dashboard, a bar in a notebook, plain lines, JSON lines, or none."""

import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TextIO

from balrog_rag.contracts.behaviour import Watcher
from balrog_rag.display.notebook_progress import in_notebook
from balrog_rag.display.scoreboard import Scoreboard
from balrog_rag.run.run import InPlay
from balrog_rag.run.watchers import CompositeWatcher


@asynccontextmanager
async def display(playing: InPlay) -> AsyncIterator[Watcher]:
    """Show progress according to runner.log while the body runs."""
    board, gate, interrupts, out = Scoreboard(playing), playing.gate, playing.interrupts, playing.out
    kind = chosen(playing.runs[0].config.runner.log, out)
    if kind == "none":
        yield board
    elif kind == "dashboard":
        from balrog_rag.display.dashboard import dashboard

        async with dashboard(board, gate, interrupts, out):
            yield board
    elif kind == "notebook":
        from balrog_rag.display.notebook_progress import notebook_progress

        async with notebook_progress(board):
            yield board
    else:
        from balrog_rag.display.progress_log import progress_log

        async with progress_log(kind, board, gate, interrupts, out) as watcher:
            yield CompositeWatcher(
                [board, watcher]
            )  # in this order: the log prints counters that the board has updated


def chosen(log: str, out: TextIO) -> str:
    """Resolve `auto`: the dashboard in a capable terminal, a bar in a notebook, otherwise plain lines."""
    if log != "auto":
        return log
    if in_notebook():
        return "notebook"
    terminal = sys.stdin.isatty() and out.isatty() and os.environ.get("TERM", "dumb") != "dumb"
    return "dashboard" if terminal else "plain"
