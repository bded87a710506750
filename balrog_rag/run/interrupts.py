"""Signals during a run: SIGINT and SIGTERM stop it, SIGHUP (the terminal was closed) does not."""

import asyncio
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self

from balrog_rag.run.scheduler import EpisodeSlots


class Interrupts:
    """Handles stop requests: the first lets calls in flight finish, the second cancels them."""

    def __init__(self, gate: EpisodeSlots) -> None:
        """Create it in the task that is to be cancelled; `on_stop` is called at the first stop."""
        self._gate = gate
        self._task = asyncio.current_task()
        self.signal: int | None = None
        self.stopped_by = ""
        """What stopped the run (a signal or a key); empty while it plays."""
        self.playing = False
        """Whether calls or games may be in flight; before that a stop takes effect at once."""
        # Python allows signal handlers in the main thread only; a notebook may run this in another one.
        in_main = threading.current_thread() is threading.main_thread()
        self._stops = (signal.SIGINT, signal.SIGTERM) if in_main else ()
        # Under nohup SIGHUP is ignored and must stay ignored.
        self._hang_up = in_main and signal.getsignal(signal.SIGHUP) != signal.SIG_IGN
        self._before: Any = None
        self.on_stop: Callable[[], None] = lambda: None
        self.hung_up = False
        """Whether the terminal was closed."""
        self._on_hang_up: list[Callable[[], None]] = []

    def __enter__(self) -> Self:
        loop = asyncio.get_running_loop()
        # The loop's handlers run between callbacks, not inside one, so they may change the gate and tasks.
        for number in self._stops:
            loop.add_signal_handler(number, self.stop, number)
        if self._hang_up:
            self._before = signal.getsignal(signal.SIGHUP)
            loop.add_signal_handler(signal.SIGHUP, self.handle_terminal_closed)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        loop = asyncio.get_running_loop()
        for number in self._stops:
            loop.remove_signal_handler(number)
        if self._hang_up:
            loop.remove_signal_handler(signal.SIGHUP)
            # The loop's own removal would restore the default action, by which SIGHUP ends the process.
            signal.signal(signal.SIGHUP, self._before)

    def stop(self, number: int, by: str = "") -> None:
        """Handle a stop request, by a signal or by the key `by` that means the same."""
        if self.signal is None:
            self.signal = number
            self.stopped_by = by or NAMES.get(number, signal.Signals(number).name)
            self._gate.change(stopping=True)
            self.on_stop()
            if self.playing:
                return
        if self._task is not None:
            self._task.cancel()

    def over(self) -> None:
        """Mark the end of play: later stop requests find nothing to cancel."""
        self._task = None

    def on_terminal_closed(self, do: Callable[[], None]) -> None:
        """Call `do` once when the terminal is closed, or now if it already is."""
        if self.hung_up:
            do()
        else:
            self._on_hang_up.append(do)

    def handle_terminal_closed(self) -> None:
        """Handle SIGHUP: the run continues without a display."""
        self.hung_up = True
        waiting, self._on_hang_up = self._on_hang_up, []
        for do in waiting:
            do()


NAMES: dict[int, str] = {signal.SIGINT: "Ctrl-C (SIGINT)"}
"""Names of signals as users know them."""


@contextmanager
def ignoring_hangup() -> Iterator[None]:
    """Survive SIGHUP also before the first episode and while results are written."""
    before = signal.getsignal(signal.SIGHUP)
    if threading.current_thread() is not threading.main_thread() or before == signal.SIG_IGN:
        yield
        return
    # Not SIG_IGN: programs started meanwhile would inherit it, and could not be ended by SIGHUP.
    signal.signal(signal.SIGHUP, lambda *_: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGHUP, before)
