"""Ctrl-C and SIGTERM: once, the run winds up; twice, or before it plays, it stops where it stands."""

import asyncio
import signal
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Self

from balrog_rag.run.scheduler import Gate


class Interrupts:
    """Once: finish the calls in flight and close the journals; twice: cut them off."""

    def __init__(self, gate: Gate) -> None:
        """For the task that makes this; `told` is called at the first."""
        self._gate = gate
        self._task = asyncio.current_task()
        self.signal: int | None = None
        self.playing = False
        """Whether anything has begun that is worth waiting for."""
        in_main = threading.current_thread() is threading.main_thread()  # no other one hears of signals
        self._numbers = (signal.SIGINT, signal.SIGTERM) if in_main else ()
        self.told: Callable[[], None] = lambda: None

    def __enter__(self) -> Self:
        loop = asyncio.get_running_loop()
        for number in self._numbers:
            loop.add_signal_handler(number, self.hear, number)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        loop = asyncio.get_running_loop()
        for number in self._numbers:
            loop.remove_signal_handler(number)

    def hear(self, number: int) -> None:
        """A signal, or the key that stands for it."""
        if self.signal is None:
            self.signal = number
            self._gate.change(stopping=True)
            self.told()
            if self.playing:
                return
        if self._task is not None:
            self._task.cancel()
