"""One episode being rebuilt, or followed while it is played, in a thread of its own."""

import asyncio
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from balrog_rag.contracts.errors import ConfigError
from balrog_rag.viewer.following import waiting
from balrog_rag.viewer.listing import ListedEpisode

UNWATCHED_AFTER = 30.0
"""Seconds without a request after which an episode in play is no longer followed."""
FIRST_MOMENT = 20.0
"""Seconds in which a game begins."""
PATIENCE = 1.0
"""Seconds for which a head waits for the steps asked for, so that a page can say how far the rebuild is."""
RETRIED_AFTER = 10.0
"""Seconds after which an episode that could not be rebuilt is tried again when its page is opened."""
PAUSE = 0.02
"""Seconds between two looks at how far a rebuild is."""


class WatchedEpisode:
    """One episode being rebuilt; the thread ends with the episode, or when nobody looks any more."""

    def __init__(self, episode: ListedEpisode) -> None:
        """Begin at once."""
        self.rebuilt = episode.source()
        self._path = episode.path
        self._read: tuple[int, int] | None = None
        self._asked = time.monotonic()
        self._ended: float | None = None
        self._stopped = self._gave_up = False
        threading.Thread(target=self._work, name="rebuild", daemon=True).start()

    @property
    def outdated(self) -> bool:
        """Whether its file holds more by now: it was given up, or an episode that had ended was resumed."""
        if self._ended is None:
            return False
        now = _stamp(self._path)
        return self._gave_up or (now is not None and now != self._read)

    @property
    def failed(self) -> bool:
        """Whether it could not be rebuilt a while ago: the reason may be gone, e.g. too many open files."""
        failed = self._ended is not None and bool(self.rebuilt.failure)
        return failed and time.monotonic() - (self._ended or 0.0) > RETRIED_AFTER

    @property
    def waits(self) -> bool:
        """Whether all that is recorded is rebuilt and more may come."""
        return self.rebuilt.settled and not self.rebuilt.done

    @property
    def size(self) -> int:
        """Bytes that it keeps in memory, roughly."""
        return self.rebuilt.collector.size

    def asked(self) -> None:
        """Somebody looks."""
        self._asked = time.monotonic()

    def stop(self) -> None:
        """Follow no further."""
        self._stopped = True

    async def head(self, steps: int | None) -> dict[str, Any]:
        """What a page reads first, once there are that many steps; None: all that is recorded.

        After PATIENCE seconds it is as far as the rebuild is, and `settled` is false.
        """
        rebuilt = self.rebuilt
        await self._until(lambda: rebuilt.done or rebuilt.collector.begun, FIRST_MOMENT)
        if not rebuilt.collector.begun:
            raise ConfigError(rebuilt.failure or "the episode has not begun")
        await self._until(lambda: rebuilt.settled or (steps is not None and self._count >= steps), PATIENCE)
        head = await asyncio.to_thread(rebuilt.head)
        return head | {"done": head["done"] and not self._gave_up}

    async def chunk(self, number: int) -> bytes | None:
        """A chunk once it is whole, or as far as it is recorded; None where the episode has none."""
        rebuilt = self.rebuilt
        await self._until(lambda: rebuilt.settled or number < rebuilt.collector.chunks - 1)
        return await asyncio.to_thread(rebuilt.collector.chunk, number)

    @property
    def _count(self) -> int:
        return self.rebuilt.collector.count

    async def _until(self, holds: Callable[[], bool], seconds: float = float("inf")) -> None:
        end = time.monotonic() + seconds
        while not holds() and not self._stopped and time.monotonic() < end:
            self.asked()
            await asyncio.sleep(PAUSE)

    def _work(self) -> None:
        self.rebuilt.run(waiting(self._unwatched))
        self._read = _stamp(self._path)
        self._ended = time.monotonic()

    def _unwatched(self) -> bool:
        self._gave_up = self._stopped or time.monotonic() - self._asked > UNWATCHED_AFTER
        return self._gave_up


def _stamp(path: Path) -> tuple[int, int] | None:
    """Size and time of a file; None where it cannot be seen."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns
