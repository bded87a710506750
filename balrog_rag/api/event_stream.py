"""The events of a recorded episode, produced by replaying its journal."""

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path
from queue import Full, Queue
from threading import Event as Flag
from threading import Thread

from balrog_rag.contracts.events import Event
from balrog_rag.results.run_folder import one_journal
from balrog_rag.run.replay import replay

AHEAD = 64
"""How many events the replay may produce ahead of the reader."""


def events(journal: str | os.PathLike[str]) -> Iterator[Event]:
    """Yield every event of a recorded episode, with exact prompts and screens; no model or search is called.

    `journal` may also be a run folder that contains exactly one journal. Raises ReplayError if it does not
    match the replayed game.
    """
    return _walk(one_journal(Path(journal)))


def _walk(journal: Path) -> Iterator[Event]:
    """Replay in a thread with its own event loop, so that this also works inside a running loop."""
    replaying = _Replaying(journal)
    thread = Thread(target=replaying.work, name="replay", daemon=True)
    thread.start()
    try:
        while (event := replaying.queue.get()) is not None:
            if isinstance(event, BaseException):
                raise event
            yield event
    finally:
        replaying.left.set()
        thread.join()


class _Left(BaseException):
    """Ends the replay because the reader has stopped reading."""


class _Replaying:
    """A replay that puts its events into a queue."""

    def __init__(self, journal: Path) -> None:
        self._journal = journal
        self.queue: Queue[Event | BaseException | None] = Queue(AHEAD)
        self.left = Flag()

    def work(self) -> None:
        """Replay to the end, or until the reader stops."""
        end: BaseException | None = None
        try:
            asyncio.run(replay(self._journal, self))
        except _Left:
            return
        except BaseException as error:  # noqa: BLE001 - re-raised in the reader
            end = error
        try:
            self._hand_over(end)
        except _Left:
            return

    def see(self, event: Event) -> None:
        """Queue an event."""
        self._hand_over(event)

    def _hand_over(self, what: Event | BaseException | None) -> None:
        while not self.left.is_set():
            try:
                return self.queue.put(what, timeout=0.1)
            except Full:
                continue
        raise _Left
