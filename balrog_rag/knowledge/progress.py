"""Progress bars for long steps, with the remaining time."""

from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

    from balrog_rag.knowledge.embed import Progress


class _Bars:
    """The bars on the screen. They may be drawn by a thread that the program no longer waits for."""

    def __init__(self) -> None:
        self._shown: set[Bar] = set()
        self._lock, self._over = Lock(), False

    def begin(self, bar: "Bar") -> None:
        with self._lock:
            if not self._over:
                self._shown.add(bar)
                bar.start()

    def end(self, bar: "Bar") -> None:
        with self._lock:
            self._shown.discard(bar)
            bar.stop()

    def end_all(self) -> None:
        with self._lock:
            self._over = True
            for bar in self._shown:
                bar.stop()


_bars = _Bars()


class shown_progress:
    """A progress bar on standard error during a long step; silent if it is not a terminal."""

    def __init__(self, what: str, total: int | None) -> None:
        """`total` is None if it is unknown."""
        self._what, self._total = what, total

    def __enter__(self) -> "Progress":
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        console = Console(stderr=True)
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        self._bar = Bar(*columns, console=console, transient=True, disable=not console.is_terminal)
        _bars.begin(self._bar)
        task = self._bar.add_task(self._what, total=self._total)
        return lambda count: self._bar.advance(task, count)

    def __exit__(self, *error: object) -> None:
        _bars.end(self._bar)


def end_bars() -> None:
    """Restore the terminal, including the cursor, and draw no more bars: the command is about to end."""
    _bars.end_all()
