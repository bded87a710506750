"""Progress without a terminal: a line for each episode that ends and one now and then, plain or JSON.

Plain lines go to stderr, so that stdout holds results alone; JSON lines go to stdout, to be read by a
program, each with an `event`: note, started, ended, found, trouble, progress, stopping, finished.
"""

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, TextIO

import msgspec

from balrog_rag.contracts.events import AlreadyEnded, Ended, Event, Started, Troubled
from balrog_rag.display.scoreboard import Scoreboard
from balrog_rag.display.short_numbers import clock, progression, spending
from balrog_rag.episode.outcome import in_words
from balrog_rag.run.interrupts import Interrupts
from balrog_rag.run.scheduler import EpisodeSlots
from balrog_rag.util.terminal_safe import one_line
from balrog_rag.util.wording import many, money

EVERY = 10.0
"""Seconds between two lines on the whole."""
QUIET = 6
"""How many times as rare the plain ones are while nothing moves."""


class Lines:
    """Where lines go; once nobody reads them any more, nowhere: the run goes on."""

    def __init__(self, out: TextIO) -> None:
        self._out: TextIO | None = out

    def write(self, line: str) -> None:
        """Write one line at once."""
        if self._out is None:
            return
        try:
            print(line, file=self._out, flush=True)
        except (OSError, ValueError):  # a pipe, a terminal or a disk that is no more
            self._out = None

    def terminal_closed(self) -> None:
        """Write nothing more to a terminal; a file or a pipe goes on."""
        if self._out is not None and self._out.isatty():
            self._out = None


class PlainLog:
    """Lines for a person."""

    def __init__(self, board: Scoreboard, gate: EpisodeSlots, out: Lines) -> None:
        self._board, self._gate, self._out = board, gate, out
        self._noted = 0
        self._told: tuple[object, ...] = ()
        self._quiet = 0

    def see(self, event: Event) -> None:
        """A line for an episode that ended or was cut."""
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
                what = "played again" if event.again else "left as journaled"
                self._say(f"{event.episode}: {what}: {event.text}")

    def begin(self) -> None:
        """What a user should know before the first episode."""
        for note in self._board.notes[self._noted :]:
            self._say(f"note: {note}")
        self._noted = len(self._board.notes)

    def progress(self) -> None:
        """One line on the whole, and why it may stand still."""
        board = self._board
        self.begin()
        troubles = board.model_troubles()
        told = (board.done, len(board.rows), board.steps, spending(board), board.retries, board.errors)
        self._quiet = self._quiet + 1 if told == self._told and not troubles else 0
        self._told = told
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
        """One line."""
        playing = many(self._gate.inside, "episodes")
        self._say(f"stopping: {playing} in play, calls in flight are finished; once more stops at once")

    def _say(self, text: str) -> None:
        self._out.write(one_line(text))


class JsonLog:
    """One JSON object a line for a program."""

    def __init__(self, board: Scoreboard, gate: EpisodeSlots, out: Lines) -> None:
        self._board, self._gate, self._out = board, gate, out

    def begin(self) -> None:
        """What a user should know before the first episode."""
        for note in self._board.notes:
            self._say("note", text=note)

    def see(self, event: Event) -> None:
        """What began, ended (with its score and costs) or was cut (with the kind of error)."""
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
        """The whole."""
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
        """The user asked to stop."""
        self._say("stopping", in_play=self._gate.inside)

    def _say(self, event: str, **facts: Any) -> None:
        self._out.write(msgspec.json.encode({"event": event, **facts}).decode())


@asynccontextmanager
async def progress_log(
    kind: str, board: Scoreboard, gate: EpisodeSlots, interrupts: Interrupts, out: TextIO
) -> AsyncIterator[PlainLog | JsonLog]:
    """Write lines while the body plays."""
    lines = Lines(out if kind == "json" else sys.stderr)
    log = JsonLog(board, gate, lines) if kind == "json" else PlainLog(board, gate, lines)
    interrupts.told = log.stopping
    interrupts.when_hung_up(lines.terminal_closed)

    async def now_and_then() -> None:
        while True:
            await asyncio.sleep(EVERY)
            log.progress()

    log.begin()
    task = asyncio.create_task(now_and_then())
    try:
        yield log
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        log.progress()
