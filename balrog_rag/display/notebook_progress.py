"""Progress in a Jupyter notebook: one bar that is updated in place, without any package besides IPython."""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from html import escape
from importlib import import_module
from typing import Any

from balrog_rag.display.scoreboard import Scoreboard
from balrog_rag.display.short_numbers import clock, progression, spending
from balrog_rag.util.background import in_background
from balrog_rag.util.terminal_safe import one_line
from balrog_rag.util.wording import many

EVERY = 0.5
"""Seconds between two updates."""
SHOWN_NOTES = 5


def in_notebook() -> bool:
    """Whether this process is the kernel of a notebook, which can show HTML."""
    ipython = sys.modules.get("IPython")  # a kernel has imported it; nothing else needs to
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and hasattr(shell, "kernel")


def progress_html(board: Scoreboard) -> str:
    """Return the bar, one line of figures, and what needs attention; all text is escaped."""
    rate, left = board.rate(), board.seconds_left()
    figures = [
        f"{board.done}/{board.total} episodes ended",
        f"{len(board.rows)} in play",
        f"progression {progression(board)}",
        f"{rate:.1f} steps/s",
        *([f"{clock(left)} left"] if left else []),
        spending(board),
        *([many(board.retries, "retries")] if board.retries else []),
        *([many(board.errors, "errors")] if board.errors else []),
    ]
    notes = [*board.notes, *board.model_troubles(), *(trouble.text for trouble in board.troubles)]
    listed = "".join(f"<li>{escape(one_line(note))}</li>" for note in notes[-SHOWN_NOTES:])
    return (
        f"<div><b>{escape(one_line(board.title))}</b> "
        f'<progress value="{board.done}" max="{board.total}" style="width:20em"></progress><br>'
        f"{escape(', '.join(figures))}{f'<ul>{listed}</ul>' if listed else ''}</div>"
    )


@asynccontextmanager
async def notebook_progress(board: Scoreboard) -> AsyncIterator[None]:
    """Show the bar below the cell while the body runs."""
    show = _shown(progress_html(board))

    async def now_and_then() -> None:
        while True:
            await asyncio.sleep(EVERY)
            show(progress_html(board))

    try:
        async with in_background(now_and_then()):
            yield
    finally:
        show(progress_html(board))


def _shown(html: str) -> Callable[[str], None]:
    """Show HTML, and return the function that replaces it."""
    ipython: Any = import_module("IPython.display")
    handle = ipython.display(ipython.HTML(html), display_id=True)
    return lambda newer: handle.update(ipython.HTML(newer))
