"""The dashboard: episodes in play, the whole run, and keys; drawn without blocking the event loop."""

import asyncio
import contextlib
import io
import os
import signal
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import IO, TextIO, cast

from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.segment import Segment

from balrog_rag.display.dashboard_view import DashboardView, lines
from balrog_rag.display.keyboard import keys
from balrog_rag.display.scoreboard import Scoreboard
from balrog_rag.run.interrupts import Interrupts
from balrog_rag.run.scheduler import MOST_SEATS, EpisodeSlots
from balrog_rag.util.background import in_background

SECONDS = 1 / 8
"""Shortest time between two redraws."""
SHARE = 0.03
"""Largest share of the loop's time that drawing may take."""


class BufferedTerminal(io.TextIOBase):
    """Buffers output until it is shown: a blocked terminal must not block the event loop."""

    def __init__(self, terminal: TextIO) -> None:
        self._terminal = terminal
        self._drawn: list[str] = []

    def write(self, text: str) -> int:
        """Draw."""
        self._drawn.append(text)
        return len(text)

    def show(self) -> None:
        """Send the buffered output to the terminal; blocks while the terminal does not accept it."""
        drawn, self._drawn = "".join(self._drawn), []
        left = memoryview(drawn.encode(self.encoding, "replace"))
        while left:
            left = left[os.write(self.fileno(), left) :]

    def isatty(self) -> bool:
        """Whether the underlying terminal is a TTY."""
        return self._terminal.isatty()

    def fileno(self) -> int:
        """The file descriptor of the underlying terminal."""
        return self._terminal.fileno()

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """The encoding of the underlying terminal."""
        return self._terminal.encoding or "utf-8"


class Dashboard:
    """The dashboard's state, and its reactions to keys."""

    def __init__(self, board: Scoreboard, gate: EpisodeSlots, interrupts: Interrupts) -> None:
        self._gate, self._interrupts = gate, interrupts
        self._view = DashboardView(board, gate)
        self._touched = asyncio.Event()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """The current state as lines that fill the terminal exactly."""
        yield from self._segments(options.max_width, options.height or options.size.height)

    def _segments(self, width: int, height: int) -> Iterator[Segment]:
        for number, line in enumerate(lines(self._view, width, height)):
            if number:
                yield Segment.line()
            yield from line

    def pressed(self, key: str) -> None:
        """Handle a key immediately; the result is drawn soon after."""
        view, gate = self._view, self._gate
        if key == "pause":
            gate.change(paused=not gate.paused)
            view.board.paused(gate.paused)
        elif key in ("more", "fewer"):
            by = max(1, gate.width // 10)
            gate.change(width=min(gate.width + (by if key == "more" else -by), MOST_SEATS))
        elif key in ("up", "down"):
            view.move(1 if key == "down" else -1)
        elif key in ("ended", "tasks", "help"):
            view.turn_to(key)
        elif key == "sort":
            view.sort()
        elif key in ("open", "back"):
            view.opened, view.page = view.selected if key == "open" else None, ""
        elif key == "stop" and self._interrupts.signal is None:
            self._interrupts.stop(signal.SIGINT, "the key q")
        self._touched.set()

    async def draw(self, live: Live, paper: BufferedTerminal) -> None:
        """Redraw periodically, less often the longer a redraw takes."""
        while not self._interrupts.hung_up:
            begun = time.perf_counter()
            live.refresh()
            took = time.perf_counter() - begun
            try:
                await asyncio.to_thread(paper.show)
            except OSError:
                return
            self._touched.clear()
            await asyncio.sleep(max(SECONDS, took / SHARE) if not self._touched.is_set() else SECONDS)


@asynccontextmanager
async def dashboard(
    board: Scoreboard, gate: EpisodeSlots, interrupts: Interrupts, out: TextIO
) -> AsyncIterator[None]:
    """Show the dashboard while the body runs; restore the terminal afterwards."""
    shown = Dashboard(board, gate, interrupts)
    paper = BufferedTerminal(out)
    console = Console(file=cast(IO[str], paper))
    live = Live(
        shown, console=console, screen=True, auto_refresh=False, redirect_stdout=False, redirect_stderr=False
    )
    async with keys(shown.pressed):
        with live:
            async with in_background(shown.draw(live, paper)):
                yield
    with contextlib.suppress(OSError):
        paper.show()  # the escape codes that restore the terminal
