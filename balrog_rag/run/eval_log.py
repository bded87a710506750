"""eval.log in the run folder: when each episode began and ended, and what went wrong."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from balrog_rag.contracts.errors import RunFolderError
from balrog_rag.contracts.events import Answered, Ended, Event, Started, Troubled
from balrog_rag.util.background import in_background
from balrog_rag.util.files import text_file
from balrog_rag.util.secrets import redact
from balrog_rag.util.terminal_safe import one_line, terminal_safe

LONGEST_TRACE = 20_000
"""Characters of a traceback that the log keeps, from its end."""


class EvalLog:
    """Plain lines with timestamps, appended by every attempt at the run."""

    def __init__(self, run: Path) -> None:
        path = run / "eval.log"
        try:
            self._file = text_file(path, "a")
        except OSError as error:
            raise RunFolderError(f"{path}: cannot be written ({error.strerror})") from error

    def see(self, event: Event) -> None:
        """Log starts, ends and errors, and answers that took more than one attempt."""
        match event:
            case Started():
                self._write("INFO", f"{event.episode}: started")
            case Answered(live=True) if event.reply.attempts > 1:
                what = f"{event.purpose} answered at attempt {event.reply.attempts}"
                self._write("WARNING", f"{event.episode}: step {event.step}: {what}")
            case Ended():
                self._write("INFO", f"{event.episode}: ended after {event.steps} steps: {event.words}")
            case Troubled():
                what = "is replayed" if event.again else "left incomplete (journal kept)"
                self._write("WARNING" if event.again else "ERROR", f"{event.episode}: {what}: {event.text}")
                self._write_trace(event.trace)

    def model_silent(self, why: str) -> None:
        """Log why the model does not answer."""
        self._write("WARNING", why)

    def terminal_closed(self) -> None:
        """Log a SIGHUP."""
        self._write("WARNING", "the terminal was closed (SIGHUP); the run continues without the display")

    def watcher_off(self, why: str, trace: str) -> None:
        """Log that a user's watcher was switched off or missed events."""
        self._write("ERROR", why)
        self._write_trace(trace)

    def model_back(self) -> None:
        """Log that the model answers again."""
        self._write("INFO", "the model answers again")

    def _write(self, level: str, text: str) -> None:
        stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        # Errors can quote request headers and answers: secrets are redacted, and control characters of a
        # model's answer must not reach the terminal of somebody who prints the log.
        self._append(f"{stamp} {level} {one_line(redact(text))}\n")

    def _write_trace(self, trace: str) -> None:
        lines = terminal_safe(redact(trace[-LONGEST_TRACE:])).splitlines()
        self._append("".join(f"    {line}\n" for line in lines))

    def _append(self, text: str) -> None:
        try:
            self._file.write(text)
        except OSError as error:
            raise RunFolderError(f"{self._file.name}: cannot be written ({error.strerror})") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the file; on a full disk its last lines are lost, but the journals are safe."""
        try:
            self._file.close()
        except OSError:
            pass


LOOK, AGAIN, CALM = 1.0, 60.0, 5.0
"""Seconds between checks of a model, between log lines while it is silent, and of calm after it."""


@asynccontextmanager
async def silences(log: EvalLog, trouble: Callable[[], str]) -> AsyncIterator[None]:
    """Log when and why the model does not answer, while the body runs."""
    # A full disk stops the run with its own error; a second one from here would hide it.
    async with in_background(_keep_silences(log, trouble), RunFolderError):
        yield


async def _keep_silences(log: EvalLog, trouble: Callable[[], str]) -> None:
    logged, seen = None, 0.0
    while True:
        await asyncio.sleep(LOOK)
        now = time.monotonic()
        if why := trouble():
            seen = now
            if logged is None or now - logged >= AGAIN:
                log.model_silent(why)
                logged = now
        # Trouble can vanish between two attempts of a retry; only a longer calm means that it is over.
        elif logged is not None and now - seen >= CALM:
            log.model_back()
            logged = None
