"""Watchers that a user passes to a run: each works in a thread of its own and cannot disturb the run.

A watcher that raises or hangs is reported once and switched off. One that is slower than play misses events,
which are counted. The thread is what makes this possible: a function that never returns cannot be
interrupted, but it can be left behind.
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
from balrog_rag.contracts.events import Answered, Asked, Event, Searched, Stepped, WatchedRun
from balrog_rag.util import extras
from balrog_rag.util.wording import many

WatcherLike: TypeAlias = Callable[[Event], Any] | Watcher | type | str
"""A function of one argument, an object with `see(event)`, a class of either, or a registered name."""
Report: TypeAlias = Callable[[str, str], None]
"""Takes one line, and the traceback if there is one."""


class Patience(msgspec.Struct, frozen=True):
    """How slow a watcher may be."""

    waiting: int = 10_000
    """Events in its queue; further ones are dropped, but for beginnings and ends twice as many."""
    start: float = 120.0
    """Seconds to import its library and to connect to its service."""
    one_event: float = 10.0
    """Seconds over a single event."""
    at_end: float = 30.0
    """Seconds to work off its queue once the run is over, and seconds to close."""


OF_STEPS = (Asked, Answered, Searched, Stepped)
"""Events that a long run has by the million; the others are few, and needed to count episodes."""
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
    watcher = registry.watchers.get(name)
    extras.require_of(watcher, f"{key}={name}")
    return _checked(f"{key}={name}", watcher)


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


class _Busy(msgspec.Struct, frozen=True):
    """What a watcher is doing, since when, and how many seconds it may take."""

    since: float
    what: str
    most: float


class IsolatedWatcher:
    """Passes events on to a user's watcher through a queue, and never raises or waits itself."""

    def __init__(
        self, watcher: Any, report: Report, patience: Patience, run: WatchedRun | None = None
    ) -> None:
        self._watcher, self._report, self._patience, self._run = watcher, report, patience, run
        self._name = name_of(watcher)
        self._queue: SimpleQueue[Event | None] = SimpleQueue()
        self._off = False
        self._started = False
        self._dropped = 0
        self._failure: BaseException | None = None
        self._busy: _Busy | None = _Busy(time.monotonic(), "starting", patience.start)
        # A daemon: a watcher that never returns must not keep the process from ending.
        self._thread = threading.Thread(target=self._work, name=f"watcher {self._name}", daemon=True)
        self._thread.start()

    def see(self, event: Event) -> None:
        """Queue an event, or drop it; a watcher found to have failed is switched off here."""
        if self._off or self._found_failed():
            return
        most = self._patience.waiting * (1 if isinstance(event, OF_STEPS) else 2)
        if self._queue.qsize() < most:
            self._queue.put(event)
            return
        self._dropped += 1
        if self._dropped == 1:
            self._say(f"is slower than play: {most:,} events are waiting for it, further ones are dropped")

    async def finish(self) -> None:
        """Wait, within bounds, until every event has been delivered."""
        self._queue.put(None)
        until: float | None = None
        while self._thread.is_alive() and not self._off and not self._found_failed():
            if self._started and until is None:
                until = time.monotonic() + self._patience.at_end
            if until is not None and time.monotonic() > until and self._queue.qsize():
                left = max(self._queue.qsize() - 1, 0)
                self._switch_off(f"is too slow: {left:,} events were not delivered when the run ended")
            await asyncio.sleep(0.005)  # polled, since a thread that hangs would never wake us
        if not self._off and not self._found_failed() and self._dropped:
            self._say(f"missed {many(self._dropped, 'events')}, which it was too slow for")

    def _found_failed(self) -> bool:
        busy = self._busy
        if self._failure is not None:
            self._switch_off("", self._failure)
        elif busy is not None and (over := time.monotonic() - busy.since) > busy.most:
            self._switch_off(f"hangs: it has spent {over:.0f} seconds on {busy.what}")
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
        missed = f" after {many(self._dropped, 'dropped events')}" if self._dropped else ""
        self._say(f"{why}; it is switched off{missed}, the run continues", trace)

    def _say(self, what: str, trace: str = "") -> None:
        self._report(f"watcher {self._name} {what}", trace)

    def _work(self) -> None:
        """Run the thread: start, handle events in order, close."""
        try:
            ours = isinstance(self._watcher, type)
            watcher = self._watcher() if ours else self._watcher
            see, begin = getattr(watcher, "see", watcher), getattr(watcher, "watch_run", None)
            if begin is not None and self._run is not None:
                begin(self._run)
            self._busy, self._started = None, True
            while (event := self._queue.get()) is not None and not self._off:
                self._take(f"one {type(event).__name__} event", self._patience.one_event)
                see(event)
                self._busy = None
            close = getattr(watcher, "close", None)
            if (
                ours and close is not None and not self._off
            ):  # an object passed by the user is closed by the user
                self._take("close()", self._patience.at_end)
                close()
        except BaseException as error:  # noqa: BLE001 - the code is the user's; SystemExit must not pass either
            self._failure = error
        self._busy = None

    def _take(self, what: str, most: float) -> None:
        self._busy = _Busy(time.monotonic(), what, most)


@asynccontextmanager
async def isolated(
    watchers: Sequence[Any], report: Report, run: WatchedRun | None = None
) -> AsyncIterator[list[Watcher]]:
    """Run each watcher in its own thread while the body plays; deliver all events before returning."""
    made = [IsolatedWatcher(watcher, report, PATIENCE, run) for watcher in watchers]
    try:
        yield list(made)
    finally:
        await asyncio.gather(*(each.finish() for each in made))
