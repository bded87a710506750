"""Rebuild one episode, or follow it while it is played, in its own thread."""

import asyncio
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from balrog_rag.contracts.errors import ConfigError
from balrog_rag.episode.packs import find
from balrog_rag.viewer.first_look import FAR, first_look
from balrog_rag.viewer.following import waiting
from balrog_rag.viewer.listing import ListedEpisode
from balrog_rag.viewer.rebuilding import RebuiltEpisode
from balrog_rag.viewer.slow_work import in_slow_thread, yield_thread

UNWATCHED_AFTER = 30.0
"""Seconds without a request after which an episode in play is no longer followed."""
FIRST_MOMENT = 20.0
"""Seconds for a game to start."""
PATIENCE = 1.0
"""Seconds that a request for a head waits for the requested steps before it reports how many there are."""
RETRIED_AFTER = 10.0
"""Seconds after which a failed rebuild is retried when the page is opened."""
PAUSE = 0.02
"""Seconds between checks of a rebuild's progress."""


class WatchedEpisode:
    """One episode being rebuilt; the thread ends with the episode, or when it is no longer requested."""

    def __init__(self, episode: ListedEpisode, tiles: bool = False, first: int = 0) -> None:
        """Start immediately; `first` is the step that a page wants to show."""
        self.rebuilt = episode.source(tiles)
        # Pressing keys only is much faster than rebuilding; for a near step it would delay the rebuild.
        self._first = first if first >= FAR and isinstance(self.rebuilt, RebuiltEpisode) else 0
        self._look: dict[str, Any] | None = None
        self._news = False
        """Whether the first look has been made and not been sent yet."""
        self._path = episode.path
        self._read: tuple[int, int] | None = None
        self._asked = time.monotonic()
        self._ended: float | None = None
        self._stopped = self._gave_up = False
        threading.Thread(target=self._work, name="rebuild", daemon=True).start()

    @property
    def outdated(self) -> bool:
        """Whether its file has more steps by now: following had stopped, or an ended episode was resumed."""
        if self._ended is None:
            return False
        now = _stamp(self._path)
        return self._gave_up or (now is not None and now != self._read)

    @property
    def failed(self) -> bool:
        """Whether a rebuild failed a while ago: the cause may be gone, e.g. too many open files."""
        failed = self._ended is not None and bool(self.rebuilt.failure)
        return failed and time.monotonic() - (self._ended or 0.0) > RETRIED_AFTER

    @property
    def whole(self) -> bool:
        """Whether it is rebuilt to its end without a failure, and its file has not grown since."""
        return self._ended is not None and not self.rebuilt.failure and not self.outdated

    @property
    def waits(self) -> bool:
        """Whether all recorded steps are rebuilt and more may follow."""
        return self.rebuilt.settled and not self.rebuilt.done

    @property
    def size(self) -> int:
        """Approximate memory used, in bytes."""
        return self.rebuilt.collector.size

    def asked(self) -> None:
        """Record a request."""
        self._asked = time.monotonic()

    def stop(self) -> None:
        """Stop following."""
        self._stopped = True

    async def head(self, steps: int | None) -> dict[str, Any]:
        """The document that a page reads first, once that many steps are rebuilt; None: all recorded steps.

        After PATIENCE seconds only the number of steps so far, and the first look at the wanted one: a page
        that waits shows nothing else, and writing the lists of a long episode takes time from its rebuild.
        """
        rebuilt = self.rebuilt

        def enough() -> bool:
            return rebuilt.settled or (steps is not None and self._count >= steps)

        collector = rebuilt.collector
        await self._until(lambda: self._first > 0 or rebuilt.done or collector.begun, FIRST_MOMENT)
        await self._until(lambda: enough() or self._news, PATIENCE)
        if not collector.begun and (rebuilt.done or not self._first):
            raise ConfigError(rebuilt.failure or "the episode has not started")
        if not enough():
            self._news = False
            waits = {"steps": self._count, "settled": False, "done": False, "waiting": True}
            return waits | ({"look": self._look} if self._look else {})
        head = await in_slow_thread(rebuilt.head)
        return head | {"done": head["done"] and not self._gave_up}

    async def chunk(self, number: int) -> bytes | None:
        """A chunk once it is complete, or as far as recorded; None if the episode has no such chunk."""
        rebuilt = self.rebuilt
        await self._until(lambda: rebuilt.settled or number < rebuilt.collector.chunks - 1)
        closed = rebuilt.collector.closed(number)
        return closed or await in_slow_thread(lambda: rebuilt.collector.chunk(number))

    @property
    def _count(self) -> int:
        return self.rebuilt.collector.count

    async def _until(self, holds: Callable[[], bool], seconds: float = float("inf")) -> None:
        end = time.monotonic() + seconds
        while not holds() and not self._stopped and time.monotonic() < end:
            self.asked()
            await asyncio.sleep(PAUSE)

    def _work(self) -> None:
        yield_thread()
        if self._first:
            self._look = first_look(self._path, self._first, lambda: self._stopped)
            self._news = self._look is not None
        self.rebuilt.run(waiting(self._unwatched))
        self._read = _stamp(self._path)
        self._ended = time.monotonic()

    def _unwatched(self) -> bool:
        self._gave_up = self._stopped or time.monotonic() - self._asked > UNWATCHED_AFTER
        return self._gave_up


def _stamp(path: Path) -> tuple[int, int] | None:
    """Size and modification time of a file; None if it cannot be accessed."""
    try:
        found = path.stat()
    except FileNotFoundError:
        place = find(path)  # in a pack it never changes
        return None if place is None else (place.size, 0)
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns
