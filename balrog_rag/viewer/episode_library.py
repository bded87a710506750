"""The episodes of a server: listed, rebuilt on request, followed while they are played."""

import asyncio
import threading
from collections.abc import Sequence
from operator import is_
from pathlib import Path

from balrog_rag.contracts.errors import BalrogError, ConfigError
from balrog_rag.viewer.listing import ListedEpisode, free, named, sources, under
from balrog_rag.viewer.overview import overview, rows
from balrog_rag.viewer.packing import packed
from balrog_rag.viewer.rebuilding import RebuiltEpisode
from balrog_rag.viewer.run_heads import RunHeads
from balrog_rag.viewer.run_traces import TraceLibrary
from balrog_rag.viewer.watching import WatchedEpisode

MEMORY = 256_000_000
"""Bytes of rebuilt episodes kept in memory; the least recently used is dropped and rebuilt on request."""
MOST_AT_ONCE = 6
"""Maximum number of episodes rebuilt or followed at the same time."""
TURN = 0.05
"""Seconds between checks whether another episode may be rebuilt."""


class Library:
    """The served episodes by index; an index is never reassigned."""

    def __init__(
        self, paths: Sequence[Path], memory: int = MEMORY, mark: str = "", tiles: bool = False
    ) -> None:
        self._paths, self._memory, self._mark, self._tiles = tuple(paths), memory, mark, tiles
        self._lock = threading.Lock()
        self._sources = sources(self._paths)
        self.episodes: list[ListedEpisode] = named(self._paths, self._sources)
        self._watched: dict[int, WatchedEpisode] = {}
        self._heads, self._traces = RunHeads(), TraceLibrary()

    def overview(self) -> bytes:
        """The document `run`, updated from disk."""
        with self._lock:
            self._look_again()
            return packed(overview(self.episodes, self._heads) | {"mark": self._mark}, 1)

    def rows(self) -> bytes:
        """The document `rows`: only the list, updated with episodes that started or ended."""
        with self._lock:
            self._look_again()
            return packed(rows(self.episodes, self._heads), 1)

    def traces(self) -> bytes:
        """The document `traces`, with the journals that could be read within a second."""
        with self._lock:
            for place, watched in self._watched.items():
                if watched.whole and isinstance(rebuilt := watched.rebuilt, RebuiltEpisode):
                    self._traces.put(self.episodes[place].path, rebuilt.trace)
            return packed(self._traces.document(self.episodes), 1)

    def _look_again(self) -> None:
        """Append new episodes; a known one keeps its index and name."""
        found = sources(self._paths)
        if len(found) == len(self._sources) and all(map(is_, found, self._sources)):
            return
        places = {episode.path: place for place, episode in enumerate(self.episodes)}
        taken = {episode.key for episode in self.episodes}
        for episode in named(self._paths, found):
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
        self._sources = found  # only now: after an error it is tried again

    async def head(self, place: int, steps: int | None = None) -> bytes:
        """An episode's head, once that many steps are available; None: all recorded steps."""
        watched = await self._opened(place, again=True, first=steps or 0)
        return packed(await watched.head(steps), 1)

    async def chunk(self, place: int, number: int) -> bytes | None:
        """A chunk of an episode; None if it does not exist."""
        watched = await self._opened(place)
        return await watched.chunk(number)

    def episode(self, key: str) -> ListedEpisode | None:
        """The episode of that name."""
        return next((episode for episode in self.episodes if episode.key == key), None)

    def close(self) -> None:
        """Stop following all episodes."""
        for watched in self._watched.values():
            watched.stop()

    async def _opened(self, place: int, again: bool = False, first: int = 0) -> WatchedEpisode:
        """The episode being rebuilt; waits for a free slot if too many are. `first`: the step to look at."""
        while (watched := await asyncio.to_thread(self._open, place, again, first)) is None:
            await asyncio.sleep(TURN)
        return watched

    def _open(self, place: int, again: bool, first: int) -> WatchedEpisode | None:
        with self._lock:
            if not 0 <= place < len(self.episodes):
                raise ConfigError(f"no episode with number {place}")
            watched = self._watched.pop(place, None)
            if watched is None or watched.outdated or (again and watched.failed):
                if not self._has_room():
                    return None
                watched = self._begin(self.episodes[place], first)
            self._watched[place] = watched  # re-inserted at the end: the first entry is evicted first
            self._forget()
            watched.asked()
            return watched

    def _has_room(self) -> bool:
        """Whether one more may be rebuilt now; one that only waits for its journal is stopped."""
        running = {place: each for place, each in self._watched.items() if not each.rebuilt.done}
        if len(running) < MOST_AT_ONCE:
            return True
        idle = next((place for place, each in running.items() if each.waits), None)
        if idle is None:
            return False
        self._watched.pop(idle).stop()
        return True

    def _forget(self) -> None:
        """Evict the least recently used episodes until the rest fits, except those still being rebuilt."""
        *others, _ = self._watched.items()
        size = sum(each.size for each in self._watched.values())
        for place, each in others:
            if size <= self._memory:
                return
            if each.rebuilt.done:
                size -= self._watched.pop(place).size

    def _begin(self, episode: ListedEpisode, first: int) -> WatchedEpisode:
        if episode.row.get("state") == "damaged":
            raise ConfigError(str(episode.row.get("how")))
        try:
            return WatchedEpisode(episode, self._tiles, first)
        except BalrogError as error:
            raise ConfigError(str(error)) from error
