"""An episode's events, one after the other, by playing its journal again."""

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
"""Events that the replay may be ahead of whoever reads them."""


def events(journal: str | os.PathLike[str]) -> Iterator[Event]:
    """Every event of a journaled episode, exact prompts and screens included; nothing is asked or searched.

    A run folder stands for the only journal that it holds. Raises a ReplayError where the journal does not
    fit what is played.
    """
    return _walk(one_journal(Path(journal)))


def _walk(journal: Path) -> Iterator[Event]:
    """The replay runs in a thread with a loop of its own, so that this also works where a loop is running."""
    replaying = _Replaying(journal)
    thread = Thread(target=replaying.work, name="replay", daemon=True)
    thread.start()
    try:
        while (told := replaying.told.get()) is not None:
            if isinstance(told, BaseException):
                raise told
            yield told
    finally:
        replaying.left.set()
        thread.join()


class _Left(BaseException):
    """Nobody reads on."""


class _Replaying:
    """A replay that hands its events over."""

    def __init__(self, journal: Path) -> None:
        self._journal = journal
        self.told: Queue[Event | BaseException | None] = Queue(AHEAD)
        self.left = Flag()

    def work(self) -> None:
        """Replay to the end, or until nobody reads on."""
        end: BaseException | None = None
        try:
            asyncio.run(replay(self._journal, self))
        except _Left:
            return
        except BaseException as error:  # noqa: BLE001 - raised again where the events are read
            end = error
        try:
            self._hand_over(end)
        except _Left:
            return

    def see(self, event: Event) -> None:
        """Hand an event over."""
        self._hand_over(event)

    def _hand_over(self, what: Event | BaseException | None) -> None:
        while not self.left.is_set():
            try:
                return self.told.put(what, timeout=0.1)
            except Full:
                continue
        raise _Left
