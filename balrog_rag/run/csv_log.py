"""BALROG's CSV of each episode, written beside its journal and rewritten on every resume."""

import csv
import io
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Self

from balrog_rag.contracts.errors import RunFolderError
from balrog_rag.contracts.events import Ended, Event, Started, Stepped
from balrog_rag.results.run_folder import episode_stem
from balrog_rag.util.files import text_file
from balrog_rag.util.spreadsheet import harmless

COLUMNS = ("Step", "Action", "Reasoning", "Observation", "Reward", "Done")
ESCAPE = "˘"
"""BALROG's escape character, which appears on no game screen."""


AT_ONCE = 1 << 16
"""Characters of an episode's rows that are collected before they are written."""


class CsvLog:
    """Writes BALROG's columns: the model's complete answer and the resulting observation.

    A thread opens, writes and closes the files: with a thousand games at once, the system calls alone would
    take a tenth of the event loop's time.
    """

    def __init__(self, run: Path) -> None:
        self._run = run
        self._tables: dict[str, _Table] = {}
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="csv")
        self._writes: deque[Future[None]] = deque()

    def see(self, event: Event) -> None:
        """Start a table, add a row, or complete the table."""
        while self._writes and self._writes[0].done():
            self._writes.popleft().result()
        match event:
            case Started():
                # An episode whose worker died starts again, and its rows replace the first ones.
                self._tables[event.episode] = _Table(self._run, event.episode)
            case Stepped():
                table = self._tables[event.episode]
                table.add(event)
                if table.size >= AT_ONCE:
                    self._write(table)
            case Ended():
                if (ended := self._tables.pop(event.episode, None)) is not None:
                    self._write(ended)

    def _write(self, table: "_Table") -> None:
        self._writes.append(self._thread.submit(table.write, table.taken(), table.begins()))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Write what is left; on a full disk the last rows are lost, but the journals are safe."""
        for table in self._tables.values():
            self._write(table)
        self._thread.shutdown()
        if error is None:
            for write in self._writes:
                write.result()


class _Table:
    """The rows of one episode that are not yet in its file."""

    def __init__(self, run: Path, episode: str) -> None:
        self._path = episode_stem(run, episode).with_suffix(".csv")
        self._begun = False
        self._start()
        self._writer.writerow(COLUMNS)

    def _start(self) -> None:
        self._text = io.StringIO(newline="")
        self._writer = csv.writer(self._text, escapechar=ESCAPE, quoting=csv.QUOTE_MINIMAL)

    @property
    def size(self) -> int:
        """Characters that are not yet written."""
        return self._text.tell()

    def add(self, event: Stepped) -> None:
        """Add a step."""
        decision, after = event.decision, event.after
        texts = (decision.answer or decision.action, decision.reasoning, after.observation.long_term)
        self._writer.writerow((event.step, *map(harmless, texts), after.reward, bool(after.ended)))

    def taken(self) -> str:
        """Return the collected rows and start again."""
        text = self._text.getvalue()
        self._start()
        return text

    def begins(self) -> bool:
        """Whether these are the first rows, which replace the file; later ones are appended."""
        first, self._begun = not self._begun, True
        return first

    def write(self, text: str, first: bool) -> None:
        """Write rows to the file; raises RunFolderError."""
        try:
            with text_file(self._path, "w" if first else "a", buffering=-1, newline="") as file:
                file.write(text)
        except OSError as error:
            raise RunFolderError(f"{self._path}: cannot be written ({error.strerror})") from error
