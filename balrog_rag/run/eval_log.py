"""eval.log in the run folder: when each episode began and ended, and what went wrong meanwhile."""

import time
from pathlib import Path
from types import TracebackType
from typing import Self

from balrog_rag.contracts.data import Observation, Purpose, Reply
from balrog_rag.contracts.errors import BalrogError, RunFolderError
from balrog_rag.run.watchers import Unwatched
from balrog_rag.util.terminal_safe import one_line


class EvalLog(Unwatched):
    """Plain lines with their time, added to by every attempt at the run."""

    def __init__(self, run: Path) -> None:
        path = run / "eval.log"
        try:
            self._file = path.open("a", encoding="utf-8", buffering=1)
        except OSError as error:
            raise RunFolderError(f"{path}: cannot be written ({error.strerror})") from error

    def started(self, episode: str, observation: Observation) -> None:
        """Begun, or begun again."""
        self._write("INFO", f"{episode}: started")

    def answered(self, episode: str, step: int, purpose: Purpose, reply: Reply, live: bool) -> None:
        """Answers that took more than one attempt alone."""
        if live and reply.attempts > 1:
            self._write("WARNING", f"{episode}: step {step}: {purpose} answered at attempt {reply.attempts}")

    def ended(self, episode: str, outcome: str, steps: int) -> None:
        """Over."""
        self._write("INFO", f"{episode}: ended after {steps} steps: {outcome}")

    def troubled(self, episode: str, error: BalrogError, again: bool) -> None:
        """Replayed on another worker, or given up for now."""
        what = "is replayed" if again else "stays as journaled"
        self._write("WARNING" if again else "ERROR", f"{episode}: {what}: {error}")

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
