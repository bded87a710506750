"""BALROG's CSV of each episode, written beside its journal and rewritten on every resume."""

import csv
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from balrog_rag.contracts.errors import RunFolderError
from balrog_rag.contracts.events import Ended, Event, Started, Stepped
from balrog_rag.results.run_folder import episode_stem
from balrog_rag.util.files import text_file
from balrog_rag.util.spreadsheet import harmless

COLUMNS = ("Step", "Action", "Reasoning", "Observation", "Reward", "Done")
ESCAPE = "˘"
"""BALROG's escape character, which appears on no game screen."""


class CsvLog:
    """Writes BALROG's columns: the model's complete answer and the resulting observation."""

    def __init__(self, run: Path) -> None:
        self._run = run
        self._open: dict[str, tuple[IO[str], Any]] = {}

    def see(self, event: Event) -> None:
        """Start a file, add a row, or close the file."""
        match event:
            case Started():
                self._begin(event.episode)
            case Stepped():
                self._add(event)
            case Ended():
                self._drop(event.episode)

    def _begin(self, episode: str) -> None:
        # An episode whose worker died starts again: its first file is closed and overwritten.
        self._drop(episode)
        path = episode_stem(self._run, episode).with_suffix(".csv")
        try:
            file = text_file(path, "w", buffering=-1, newline="")
        except OSError as error:
            raise RunFolderError(f"{path}: cannot be written ({error.strerror})") from error
        writer = csv.writer(file, escapechar=ESCAPE, quoting=csv.QUOTE_MINIMAL)
        writer.writerow(COLUMNS)
        self._open[episode] = (file, writer)

    def _add(self, event: Stepped) -> None:
        decision, after = event.decision, event.after
        texts = (decision.answer or decision.action, decision.reasoning, after.observation.long_term)
        self._row(event.episode, (event.step, *map(harmless, texts), after.reward, bool(after.ended)))

    def _row(self, episode: str, row: tuple[object, ...]) -> None:
        try:
            self._open[episode][1].writerow(row)
        except OSError as error:
            raise RunFolderError(f"{self._run}: a CSV cannot be written ({error.strerror})") from error

    def _drop(self, episode: str) -> None:
        if episode in self._open:
            try:
                self._open.pop(episode)[0].close()
            except OSError as error:
                raise RunFolderError(f"{self._run}: a CSV cannot be written ({error.strerror})") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close all open files; on a full disk their last rows are lost, but the journals are safe."""
        for episode in list(self._open):
            with suppress(RunFolderError):
                self._drop(episode)
