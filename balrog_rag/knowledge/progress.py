"""Progress of long steps: what is done, how far, how long still."""

import sys
import time
from collections.abc import Callable
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
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
    """Progress of a long step on standard error: a bar in a terminal, otherwise a line now and then."""

    def __init__(self, what: str, total: int | None) -> None:
        """`total` is None if it is unknown."""
        self._what, self._total = what, total
        self._bar: Bar | None = None

    def __enter__(self) -> "Progress":
        from rich.console import Console

        console = Console(stderr=True)
        if not console.is_terminal:
            return _CountLines(self._what, self._total).add
        return self._drawn_on(console)

    def _drawn_on(self, console: "Console") -> "Progress":
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        bar = self._bar = Bar(*columns, console=console, transient=True)
        _bars.begin(bar)
        task = bar.add_task(self._what, total=self._total)
        return lambda count: bar.advance(task, count)

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            _bars.end(self._bar)


EVERY = 10.0
"""Seconds between two lines, and before the first: a short step prints none."""


class _CountLines:
    """Lines with counts, for logs."""

    def __init__(self, what: str, total: int | None, clock: Callable[[], float] = time.monotonic) -> None:
        self._what, self._total, self._clock = what, total, clock
        self._done, self._printed = 0, clock()

    def add(self, count: int) -> None:
        """Count what is done, and print it from time to time."""
        self._done += count
        if self._clock() - self._printed < EVERY:
            return
        self._printed = self._clock()
        of = f" of {self._total:,}" if self._total is not None else ""
        print(f"{self._what}: {self._done:,}{of}", file=sys.stderr, flush=True)


def end_bars() -> None:
    """Restore the terminal, including the cursor, and draw no more bars: the command is about to end."""
    _bars.end_all()
