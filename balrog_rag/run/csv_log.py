"""BALROG's CSV of each episode, written beside its journal and rewritten on every resume."""

import re
from collections import deque
from collections.abc import Iterable
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
QUOTED = re.compile('[,"\r\n]')
"""Characters because of which a cell is quoted."""


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


def cell(text: str) -> str:
    """Return a text as `csv.writer` writes it with that escape character.

    That one looks at each character by itself, which takes four times as long for a screen.
    """
    text = text.replace(ESCAPE, ESCAPE + ESCAPE)
    if QUOTED.search(text) is None:
        return text
    doubled = text.replace('"', '""')
    return f'"{doubled}"'


class _Table:
    """The rows of one episode that are not yet in its file."""

    def __init__(self, run: Path, episode: str) -> None:
        self._path = episode_stem(run, episode).with_suffix(".csv")
        self._begun = False
        self._rows: list[str] = []
        self.size = 0
        """Characters that are not yet written."""
        self._append(COLUMNS)

    def _append(self, cells: Iterable[str]) -> None:
        row = f"{','.join(cells)}\r\n"
        self._rows.append(row)
        self.size += len(row)

    def add(self, event: Stepped) -> None:
        """Add a step."""
        decision, after = event.decision, event.after
        texts = (decision.answer or decision.action, decision.reasoning, after.observation.long_term)
        cells = [cell(harmless(text)) for text in texts]
        self._append((str(event.step), *cells, str(after.reward), str(bool(after.ended))))

    def taken(self) -> str:
        """Return the collected rows and start again."""
        text = "".join(self._rows)
        self._rows, self.size = [], 0
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
