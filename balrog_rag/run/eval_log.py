"""eval.log in the run folder: when each episode began and ended, and what went wrong meanwhile."""

import time
from pathlib import Path
from types import TracebackType
from typing import Self

from balrog_rag.contracts.errors import RunFolderError
from balrog_rag.contracts.events import Answered, Ended, Event, Started, Troubled
from balrog_rag.util.terminal_safe import one_line


class EvalLog:
    """Plain lines with their time, added to by every attempt at the run."""

    def __init__(self, run: Path) -> None:
        path = run / "eval.log"
        try:
            self._file = path.open("a", encoding="utf-8", buffering=1)
        except OSError as error:
            raise RunFolderError(f"{path}: cannot be written ({error.strerror})") from error

    def see(self, event: Event) -> None:
        """What begins, ends or goes wrong; of answers those alone that took more than one attempt."""
        match event:
            case Started():
                self._write("INFO", f"{event.episode}: started")
            case Answered(live=True) if event.reply.attempts > 1:
                what = f"{event.purpose} answered at attempt {event.reply.attempts}"
                self._write("WARNING", f"{event.episode}: step {event.step}: {what}")
            case Ended():
                self._write("INFO", f"{event.episode}: ended after {event.steps} steps: {event.outcome}")
            case Troubled():
                what = "is replayed" if event.again else "stays as journaled"
                self._write("WARNING" if event.again else "ERROR", f"{event.episode}: {what}: {event.text}")

    def _write(self, level: str, text: str) -> None:
        stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        try:
            self._file.write(f"{stamp} {level} {one_line(text)}\n")
        except OSError as error:
            raise RunFolderError(f"{self._file.name}: cannot be written ({error.strerror})") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the file; on a full disk its last lines are lost, the journals are not."""
        try:
            self._file.close()
        except OSError:
            pass
