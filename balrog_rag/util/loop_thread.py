"""An event loop in a thread, for functions that are not coroutines and may be called within another loop."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class LoopThread:
    """Runs coroutines in an event loop of its own; the caller may be inside another, as in a notebook."""

    def __init__(self, name: str) -> None:
        """Start the thread, which does not keep the process alive."""
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name=name, daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine to its end and return its result; if the caller is interrupted, it is cancelled."""
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def call(self, function: Callable[[], None]) -> None:
        """Call a function in the loop's thread, without waiting for it."""
        self._loop.call_soon_threadsafe(function)

    def close(self) -> None:
        """End the loop and its thread, after everything that was called before."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        if threading.current_thread() is not self._thread:  # as it may be when garbage is collected
            self._thread.join()
            self._loop.close()
