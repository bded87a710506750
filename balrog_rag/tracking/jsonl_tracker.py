"""`run.watch=[jsonl]`: progress and results as JSON lines in the run folder, for scripts and `tail -f`."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, TextIO

import msgspec

from balrog_rag.contracts.events import Troubled
from balrog_rag.tracking.run_records import Record
from balrog_rag.tracking.run_tracker import RunTracker
from balrog_rag.util.files import text_file
from balrog_rag.util.secrets import redact

FILE = "progress.jsonl"
"""The file in the run folder; every attempt at the run appends to it."""


class JsonlTracker(RunTracker):
    """Appends a line per record; `record` names its type."""

    def __init__(self) -> None:
        super().__init__()
        self._file: TextIO | None = None

    def started(self, run: Record) -> None:
        """Open the file and describe the run."""
        assert self._run is not None  # the base has set it
        self._file = text_file(self._run.folder / FILE, "a")
        self._write("run", run)

    def progressed(self, progress: Record) -> None:
        """Append the progress."""
        self._write("progress", progress)

    def episode_ended(self, episode: Record, progress: Record) -> None:
        """Append an episode."""
        self._write("episode", episode)

    def troubled(self, event: Troubled) -> None:
        """Append an error."""
        self._write("trouble", {"episode": event.episode, "text": redact(event.text), "again": event.again})

    def finished(self, table: Sequence[Record], episodes: Sequence[Record]) -> None:
        """Append the table and close the file."""
        self._write("results", {"table": table})
        if self._file is not None:
            self._file.close()

    def _write(self, kind: str, record: dict[str, Any]) -> None:
        if self._file is not None:
            line = {"record": kind, "time": datetime.now(UTC).isoformat(timespec="milliseconds"), **record}
            self._file.write(msgspec.json.encode(line).decode() + "\n")
