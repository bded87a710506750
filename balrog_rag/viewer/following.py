"""Read a journal while it is being written: the replay waits at its end for new entries."""

import time
from collections.abc import Callable
from pathlib import Path

from balrog_rag.contracts.errors import JournalError
from balrog_rag.episode import journal
from balrog_rag.episode.effects import E, JournalCursor
from balrog_rag.episode.journal import Lookup, Recording
from balrog_rag.util.files import MOST

PAUSE = 0.2
"""Seconds between checks of a journal that has not grown."""


class FollowedJournal(JournalCursor):
    """A cursor that continues when the file grows, and records how long searches took."""

    def __init__(self, recording: Recording, path: Path, waits: Callable[[float], bool] | None) -> None:
        """`waits` sleeps for the given seconds and says whether to check again; None: a complete file."""
        super().__init__(recording, None)
        self._path, self._waits = path, waits
        self._read = recording.ends[-1] if recording.ends else 0
        self.search_seconds = 0.0
        self.caught_up = False
        """Whether the end of the file was reached; later entries are read as they are written."""

    def take(self, kind: type[E], where: str) -> E | None:
        """Return the next entry as soon as it exists."""
        while not self.replaying and self._waits is not None and not self._grown():
            self.caught_up = True
            if not self._waits(PAUSE):
                break
        entry = super().take(kind, where)
        if isinstance(entry, Lookup):
            self.search_seconds = entry.latency
        return entry

    def _grown(self) -> bool:
        """Read complete lines that were appended."""
        try:
            with open(self._path, "rb") as file:
                file.seek(self._read)
                data = file.read(MOST)  # the rest is read by the next check
        except FileNotFoundError:  # the episode has ended, and its journal was packed
            data = journal.read_bytes(self._path)[self._read :]
        except OSError as error:
            raise JournalError(f"{self._path}: cannot be read ({error.strerror})") from error
        lines = data[: data.rfind(b"\n") + 1]
        if not lines:
            return False
        self._read += len(lines)
        self._entries, self._next = journal.parse_more(lines, self._path), 0
        return bool(self._entries)


def waiting(stopped: Callable[[], bool]) -> Callable[[float], bool]:
    """Return a function that sleeps and reports whether to continue, until `stopped` returns true."""

    def waits(seconds: float) -> bool:
        time.sleep(seconds)
        return not stopped()

    return waits
