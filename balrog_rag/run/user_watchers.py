"""Watchers that a user passes to a run: each works in a thread of its own and cannot disturb the run.

A watcher that raises, hangs or falls behind is reported once and switched off. The thread is what makes this
possible: a function that never returns cannot be interrupted, but it can be left behind.
"""

import asyncio
import contextlib
import inspect
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from queue import Empty, SimpleQueue
from typing import Any, TypeAlias

import msgspec

from balrog_rag.contracts import registry
from balrog_rag.contracts.behaviour import Watcher
from balrog_rag.contracts.blame import blame_of
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.contracts.events import Event

WatcherLike: TypeAlias = Callable[[Event], Any] | Watcher | type | str
"""A function of one argument, an object with `see(event)`, a class of either, or a registered name."""
Report: TypeAlias = Callable[[str, str], None]
"""Takes one line, and the traceback if there is one."""


class Patience(msgspec.Struct, frozen=True):
    """How far a watcher may fall behind before it is switched off."""

    waiting: int = 10_000
    """Events in its queue."""
    one_event: float = 10.0
    """Seconds over a single event."""
    at_end: float = 30.0
    """Seconds to work off its queue once the run is over."""


PATIENCE = Patience()


def chosen_watchers(names: Iterable[str], given: Sequence[WatcherLike] | WatcherLike = ()) -> list[Any]:
    """Return the watchers of these names, then the given ones; raise ConfigError for other objects."""
    every = given if isinstance(given, list | tuple) else [given]
    return [*(_registered("run.watch", name) for name in names), *map(_given, every)]


def _given(watcher: Any) -> Any:
    return _registered("watch", watcher) if isinstance(watcher, str) else _checked("watch", watcher)


def _registered(key: str, name: str) -> Any:
    if name not in (known := registry.watchers.names()):
        raise ConfigError(f"{key}: unknown watcher {name!r}{registry.nearest(name, known)}")
    return _checked(f"{key}={name}", registry.watchers.get(name))


def _checked(key: str, watcher: Any) -> Any:
    see = getattr(watcher, "see", watcher)
    if inspect.iscoroutinefunction(see):
        raise ConfigError(f"{key}: {name_of(watcher)} is asynchronous; use def instead of async def")
    called = any("__call__" in vars(base) for base in getattr(watcher, "__mro__", ()))
    if not callable(see) or (isinstance(watcher, type) and see is watcher and not called):
        raise ConfigError(
            f"{key}: {name_of(watcher)} cannot watch; pass a function of one argument, or an object or a "
            "class with see(event)"
        )
    return watcher


def name_of(watcher: Any) -> str:
    """Return a watcher's name for messages."""
    return str(getattr(watcher, "__name__", type(watcher).__name__))


class IsolatedWatcher:
    """Passes events on to a user's watcher through a queue, and never raises or waits itself."""

    def __init__(self, watcher: Any, report: Report, patience: Patience) -> None:
        self._watcher, self._report, self._patience = watcher, report, patience
        self._name = name_of(watcher)
        self._queue: SimpleQueue[Event | None] = SimpleQueue()
        self._off = False
        self._failure: BaseException | None = None
        self._busy: tuple[float, str] | None = (time.monotonic(), "beginning")
        # A daemon: a watcher that never returns must not keep the process from ending.
        self._thread = threading.Thread(target=self._work, name=f"watcher {self._name}", daemon=True)
        self._thread.start()

    def see(self, event: Event) -> None:
        """Queue an event; a watcher found to have failed is switched off here."""
        if self._off or self._found_failed():
            return
        if (waiting := self._queue.qsize()) >= self._patience.waiting:
            self._switch_off(f"is too slow: {waiting:,} events are waiting for it")
            return
        self._queue.put(event)

    async def finish(self) -> None:
        """Wait, within bounds, until every event has been delivered."""
        self._queue.put(None)
        until = time.monotonic() + self._patience.at_end
        while self._thread.is_alive() and not self._off and not self._found_failed():
            if time.monotonic() > until:
                left = max(self._queue.qsize() - 1, 0)
                self._switch_off(f"is too slow: {left:,} events were not delivered when the run ended")
            await asyncio.sleep(0.005)  # polled, since a thread that hangs would never wake us
        if not self._off:
            self._found_failed()

    def _found_failed(self) -> bool:
        busy = self._busy
        if self._failure is not None:
            self._switch_off("", self._failure)
        elif busy is not None and (over := time.monotonic() - busy[0]) > self._patience.one_event:
            self._switch_off(f"hangs: it has spent {over:.0f} seconds on {busy[1]}")
        return self._off

    def _switch_off(self, why: str, error: BaseException | None = None) -> None:
        self._off = True
        with contextlib.suppress(Empty):  # queued events will never be read, and may be large
            while True:
                self._queue.get_nowait()
        self._queue.put(None)
        trace = ""
        if error is not None:
            why, trace = blame_of(error, "raised")
            why = f"failed: {why}"
        self._report(f"watcher {self._name} {why}; it is switched off, the run continues", trace)

    def _work(self) -> None:
        """Run the thread: start, handle events in order, close."""
        try:
            ours = isinstance(self._watcher, type)
            watcher = self._watcher() if ours else self._watcher
            see = getattr(watcher, "see", watcher)
            self._busy = None
            while (event := self._queue.get()) is not None and not self._off:
                self._busy = (time.monotonic(), f"one {type(event).__name__} event")
                see(event)
                self._busy = None
            close = getattr(watcher, "close", None)
            if (
                ours and close is not None and not self._off
            ):  # an object passed by the user is closed by the user
                self._busy = (time.monotonic(), "close()")
                close()
        except BaseException as error:  # noqa: BLE001 - the code is the user's; SystemExit must not pass either
            self._failure = error
        self._busy = None


@asynccontextmanager
async def isolated(watchers: Sequence[Any], report: Report) -> AsyncIterator[list[Watcher]]:
    """Run each watcher in its own thread while the body plays; deliver all events before returning."""
    made = [IsolatedWatcher(watcher, report, PATIENCE) for watcher in watchers]
    try:
        yield list(made)
    finally:
        await asyncio.gather(*(each.finish() for each in made))
