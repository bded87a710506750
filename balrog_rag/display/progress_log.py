"""Progress without a dashboard: one line per finished episode and a periodic status, plain or JSON.

Plain lines go to stderr, so that stdout contains only results; JSON lines go to stdout for other programs,
each with an `event`: note, started, ended, found, trouble, progress, stopping, finished.
"""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, TextIO

import msgspec

from balrog_rag.contracts.events import AlreadyEnded, Ended, Event, Started, Troubled
from balrog_rag.contracts.outcome import in_words
from balrog_rag.display.scoreboard import Scoreboard
from balrog_rag.display.short_numbers import clock, progression, spending
from balrog_rag.run.interrupts import Interrupts
from balrog_rag.run.scheduler import EpisodeSlots
from balrog_rag.util.background import in_background
from balrog_rag.util.terminal_safe import one_line
from balrog_rag.util.wording import many, money

EVERY = 10.0
"""Seconds between two status lines."""
QUIET = 6
"""Factor by which plain status lines are less frequent while nothing changes."""


class Lines:
    """Output stream for lines; if its reader goes away, output is discarded and the run continues."""

    def __init__(self, out: TextIO) -> None:
        self._out: TextIO | None = out

    def write(self, line: str) -> None:
        """Write one line and flush."""
        if self._out is None:
            return
        try:
            print(line, file=self._out, flush=True)
        except (OSError, ValueError):  # the pipe or terminal was closed, or the disk is full
            self._out = None

    def terminal_closed(self) -> None:
        """Stop writing if the output is a terminal; files and pipes are unaffected."""
        if self._out is not None and self._out.isatty():
            self._out = None


class PlainLog:
    """Progress lines for people."""

    def __init__(self, board: Scoreboard, gate: EpisodeSlots, out: Lines) -> None:
        self._board, self._gate, self._out = board, gate, out
        self._noted = 0
        self._printed: tuple[object, ...] = ()
        self._quiet = 0

    def see(self, event: Event) -> None:
        """Print a line for an episode that ended or was interrupted."""
        match event:
            case Ended():
                over = self._board.recent[-1]
                how = f" ({event.how})" if event.how else ""
                score = f"progression {100 * over.progression:.2f} %"
                self._say(
                    f"{event.episode}: {in_words(event.outcome)} after {many(event.steps, 'steps')}{how}, "
                    f"{score}, {money(over.dollars)}, {clock(over.seconds)}"
                )
            case Troubled():
                what = "restarting" if event.again else "left incomplete (journal kept)"
                self._say(f"{event.episode}: {what}: {event.text}")

    def begin(self) -> None:
        """Print notes before the first episode."""
        for note in self._board.notes[self._noted :]:
            self._say(f"note: {note}")
        self._noted = len(self._board.notes)

    def progress(self) -> None:
        """Print one status line, with the reason if the run is stalled."""
        board = self._board
        self.begin()
        troubles = board.model_troubles()
        state = (board.done, len(board.rows), board.steps, spending(board), board.retries, board.errors)
        self._quiet = self._quiet + 1 if state == self._printed and not troubles else 0
        self._printed = state
        if self._quiet % QUIET:
            return
        self._say(
            f"{board.done}/{board.total} ended, {len(board.rows)} in play, "
            f"progression {progression(board)}, {board.rate():.1f} steps/s, "
            + (f"{clock(left)} left, " if (left := board.seconds_left()) is not None else "")
            + spending(board)
            + (f", {many(board.retries, 'retries')}" if board.retries else "")
            + (f", {many(board.errors, 'errors')}" if board.errors else "")
            + (f", limited by {limit}" if (limit := board.limited_by()) else "")
        )
        for trouble in troubles:
            self._say(trouble)

    def stopping(self) -> None:
        """Print that the run is stopping."""
        playing = many(self._gate.inside, "episodes")
        self._say(f"stopping: {playing} in play, waiting for calls in flight; press again to stop now")

    def _say(self, text: str) -> None:
        self._out.write(one_line(text))


class JsonLog:
    """Progress as one JSON object per line, for programs."""

    def __init__(self, board: Scoreboard, gate: EpisodeSlots, out: Lines) -> None:
        self._board, self._gate, self._out = board, gate, out

    def begin(self) -> None:
        """Print notes before the first episode."""
        for note in self._board.notes:
            self._say("note", text=note)

    def see(self, event: Event) -> None:
        """Print an episode that started, ended (with score and costs) or failed (with the kind of error)."""
        match event:
            case Started():
                self._say("started", episode=event.episode)
            case Ended() | AlreadyEnded():
                over = msgspec.structs.asdict(self._board.recent[-1])
                self._say("ended" if isinstance(event, Ended) else "found", **over)
            case Troubled():
                self._say(
                    "trouble", episode=event.episode, kind=event.kind, text=event.text, again=event.again
                )

    def progress(self) -> None:
        """Print the overall status."""
        board = self._board
        done = board.progressions
        self._say(
            "progress",
            done=board.done,
            total=board.total,
            in_play=len(board.rows),
            progression=sum(done) / len(done) if done else None,
            steps=board.steps,
            steps_per_second=board.rate(),
            seconds_left=board.seconds_left(),
            spent=msgspec.to_builtins(board.spent()),
            dollar_cap=board.dollar_cap,
            retries=board.retries,
            replays=board.replays,
            errors=board.errors,
            model_troubles=board.model_troubles(),
            limited_by=board.limited_by(),
        )

    def stopping(self) -> None:
        """Print that the user asked to stop."""
        self._say("stopping", in_play=self._gate.inside)

    def _say(self, event: str, **facts: Any) -> None:
        self._out.write(msgspec.json.encode({"event": event, **facts}).decode())


@asynccontextmanager
async def progress_log(
    kind: str, board: Scoreboard, gate: EpisodeSlots, interrupts: Interrupts, out: TextIO
) -> AsyncIterator[PlainLog | JsonLog]:
    """Print progress lines while the body runs."""
    lines = Lines(out if kind == "json" else sys.stderr)
    log = JsonLog(board, gate, lines) if kind == "json" else PlainLog(board, gate, lines)
    interrupts.on_stop = log.stopping
    interrupts.on_terminal_closed(lines.terminal_closed)

    async def now_and_then() -> None:
        while True:
            await asyncio.sleep(EVERY)
            log.progress()

    log.begin()
    try:
        async with in_background(now_and_then()):
            yield log
    finally:
        log.progress()
