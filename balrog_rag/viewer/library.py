"""The episodes that a server shows: listed, rebuilt when looked at, followed while they are played."""

import threading
import time
from collections.abc import Sequence
from pathlib import Path

from balrog_rag.contracts.errors import BalrogError, ConfigError
from balrog_rag.viewer.following import waiting
from balrog_rag.viewer.listing import Listed, free, listed, under
from balrog_rag.viewer.overview import overview, rows
from balrog_rag.viewer.packing import packed

MOST_REBUILT = 6
"""Episodes kept in memory; the one looked at longest ago is rebuilt when it is wanted again."""
UNWATCHED_AFTER = 30.0
"""Seconds without a request after which an episode in play is no longer followed."""
FIRST_MOMENT = 20.0
"""Seconds in which a game begins."""
YIELDING = 10
"""How nice a server is: a run that is being played comes first."""


class Watched:
    """One episode being rebuilt in a thread of its own."""

    def __init__(self, episode: Listed) -> None:
        """Begin at once; the thread ends with the episode, or when nobody looks any more."""
        self.rebuilt = episode.source()
        self._asked = time.monotonic()
        self._stopped = False
        self._thread = threading.Thread(target=self._work, name="rebuild", daemon=True)
        self._thread.start()

    @property
    def given_up(self) -> bool:
        """Whether it was stopped although more may have come since."""
        return self.rebuilt.done and self._stopped

    def asked(self) -> None:
        """Somebody looks."""
        self._asked = time.monotonic()

    def stop(self) -> None:
        """Follow no further."""
        self._stopped = True

    def ready(self) -> None:
        """Wait for the first moment."""
        end = time.monotonic() + FIRST_MOMENT
        while not (self.rebuilt.done or self.rebuilt.collector.begun) and time.monotonic() < end:
            time.sleep(0.02)

    def _work(self) -> None:
        self.rebuilt.run(waiting(self._unwatched))

    def _unwatched(self) -> bool:
        self._stopped = self._stopped or time.monotonic() - self._asked > UNWATCHED_AFTER
        return self._stopped


class Library:
    """What is served, by place: a place once given stays that episode's."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self._paths = tuple(paths)
        self._lock = threading.Lock()
        self.episodes: list[Listed] = listed(self._paths)
        self._watched: dict[int, Watched] = {}

    def overview(self) -> bytes:
        """The document `run`, with what has changed on disk."""
        with self._lock:
            self._look_again()
            return packed(overview(self.episodes), 1)

    def rows(self) -> bytes:
        """The document `rows`: the list alone, with what has begun and ended since."""
        with self._lock:
            self._look_again()
            return packed(rows(self.episodes), 1)

    def _look_again(self) -> None:
        """New episodes go to the end; one that is known keeps place and name, whatever came beside it."""
        places = {episode.path: place for place, episode in enumerate(self.episodes)}
        taken = {episode.key for episode in self.episodes}
        for episode in listed(self._paths):
            place = places.get(episode.path)
            known = None if place is None else self.episodes[place]
            if known is None or known.row.get("state") == "damaged":
                taken -= {known.key} if known else set()
                episode = under(free(episode.key, taken), episode)
            else:
                episode = under(known.key, episode)
            taken.add(episode.key)
            if place is None:
                self.episodes.append(episode)
            else:
                self.episodes[place] = episode

    def head(self, place: int) -> bytes:
        """An episode's head."""
        watched = self._open(place)
        watched.ready()
        if not watched.rebuilt.collector.begun:
            raise ConfigError(watched.rebuilt.failure or "the episode has not begun")
        return packed(watched.rebuilt.head(), 1)

    def chunk(self, place: int, number: int) -> bytes | None:
        """A chunk of it; None where there is none."""
        return self._open(place).rebuilt.collector.chunk(number)

    def episode(self, key: str) -> Listed | None:
        """The episode of that name."""
        return next((episode for episode in self.episodes if episode.key == key), None)

    def close(self) -> None:
        """Follow nothing any more."""
        for watched in self._watched.values():
            watched.stop()

    def _open(self, place: int) -> Watched:
        with self._lock:
            if not 0 <= place < len(self.episodes):
                raise ConfigError(f"there is no episode {place}")
            watched = self._watched.pop(place, None)
            if watched is None or watched.given_up:
                watched = self._begin(self.episodes[place])
            self._watched[place] = watched  # put in again at the end: the first is the one to go
            while len(self._watched) > MOST_REBUILT:
                self._watched.pop(next(iter(self._watched))).stop()
            watched.asked()
            return watched

    def _begin(self, episode: Listed) -> Watched:
        if episode.row.get("state") == "damaged":
            raise ConfigError(str(episode.row.get("how")))
        try:
            return Watched(episode)
        except BalrogError as error:
            raise ConfigError(str(error)) from error
