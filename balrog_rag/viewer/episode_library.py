"""The episodes that a server shows: listed, rebuilt when looked at, followed while they are played."""

import asyncio
import threading
from collections.abc import Sequence
from pathlib import Path

from balrog_rag.contracts.errors import BalrogError, ConfigError
from balrog_rag.viewer.listing import ListedEpisode, free, listed, under
from balrog_rag.viewer.overview import overview, rows
from balrog_rag.viewer.packing import packed
from balrog_rag.viewer.watching import WatchedEpisode

MEMORY = 256_000_000
"""Bytes of rebuilt episodes kept; what was looked at longest ago is dropped, and rebuilt when wanted."""
MOST_AT_ONCE = 6
"""Episodes rebuilt or followed at the same time."""
TURN = 0.05
"""Seconds between two looks whether another episode may be rebuilt."""
YIELDING = 10
"""How nice a server is: a run that is being played comes first."""


class Library:
    """What is served, by place: a place once given stays that episode's."""

    def __init__(self, paths: Sequence[Path], memory: int = MEMORY) -> None:
        self._paths, self._memory = tuple(paths), memory
        self._lock = threading.Lock()
        self.episodes: list[ListedEpisode] = listed(self._paths)
        self._watched: dict[int, WatchedEpisode] = {}

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

    async def head(self, place: int, steps: int | None = None) -> bytes:
        """An episode's head, once it has that many steps; None: all that is recorded."""
        watched = await self._opened(place, again=True)
        return packed(await watched.head(steps), 1)

    async def chunk(self, place: int, number: int) -> bytes | None:
        """A chunk of it; None where there is none."""
        watched = await self._opened(place)
        return await watched.chunk(number)

    def episode(self, key: str) -> ListedEpisode | None:
        """The episode of that name."""
        return next((episode for episode in self.episodes if episode.key == key), None)

    def close(self) -> None:
        """Follow nothing any more."""
        for watched in self._watched.values():
            watched.stop()

    async def _opened(self, place: int, again: bool = False) -> WatchedEpisode:
        """The episode, being rebuilt; where too many are, when one of them is done."""
        while (watched := await asyncio.to_thread(self._open, place, again)) is None:
            await asyncio.sleep(TURN)
        return watched

    def _open(self, place: int, again: bool) -> WatchedEpisode | None:
        with self._lock:
            if not 0 <= place < len(self.episodes):
                raise ConfigError(f"there is no episode {place}")
            watched = self._watched.pop(place, None)
            if watched is None or watched.outdated or (again and watched.failed):
                if not self._has_room():
                    return None
                watched = self._begin(self.episodes[place])
            self._watched[place] = watched  # put in again at the end: the first is the one to go
            self._forget()
            watched.asked()
            return watched

    def _has_room(self) -> bool:
        """Whether one more may be rebuilt now; one that only waits for its journal to grow makes room."""
        running = {place: each for place, each in self._watched.items() if not each.rebuilt.done}
        if len(running) < MOST_AT_ONCE:
            return True
        idle = next((place for place, each in running.items() if each.waits), None)
        if idle is None:
            return False
        self._watched.pop(idle).stop()
        return True

    def _forget(self) -> None:
        """Drop what was looked at longest ago until the rest fits; never what is still being rebuilt."""
        *others, _ = self._watched.items()
        size = sum(each.size for each in self._watched.values())
        for place, each in others:
            if size <= self._memory:
                return
            if each.rebuilt.done:
                size -= self._watched.pop(place).size

    def _begin(self, episode: ListedEpisode) -> WatchedEpisode:
        if episode.row.get("state") == "damaged":
            raise ConfigError(str(episode.row.get("how")))
        try:
            return WatchedEpisode(episode)
        except BalrogError as error:
            raise ConfigError(str(error)) from error
