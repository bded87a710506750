"""Rebuild an episode for a page by replaying its journal."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

from balrog_rag.contracts.errors import BalrogError
from balrog_rag.contracts.kinds import kind_of
from balrog_rag.episode import journal
from balrog_rag.episode.effects import JournalCursor
from balrog_rag.episode.journal import Header, Recording
from balrog_rag.results.run_folder import home_of
from balrog_rag.run.replay import OwnPlayers, replay
from balrog_rag.viewer.collector import Collector
from balrog_rag.viewer.following import FollowedJournal
from balrog_rag.viewer.painted_games import PaintedGames
from balrog_rag.viewer.traces import EpisodeTrace

BROKE_OFF = "the replay failed; see the error on the server's terminal"


class RebuiltEpisode:
    """The episode of one journal, complete or rebuilt so far."""

    def __init__(self, path: Path, tiles: bool = False, own: OwnPlayers | None = None) -> None:
        """Read the journal's header; the replay starts later.

        `tiles`: draw them as well. `own` is shared by episodes that are rebuilt one after another.
        """
        self._path = path
        self.header = header_of(path)
        self._games, self._own = PaintedGames(tiles), own
        self._cursor: FollowedJournal | None = None
        game = self.header.spec.game
        kind = kind_of(game.env)
        self.collector = Collector(kind, kind.progress(game), self._games.next_moments, self._search_seconds)
        self.done = False
        """Whether no more steps will follow."""
        self.failure = ""
        """Why later steps are missing, if they are."""

    def run(self, waits: Callable[[float], bool] | None = None) -> None:
        """Replay to the end of the journal; with `waits`, follow it until the episode ends."""

        def cursor(recording: Recording) -> JournalCursor:
            self._cursor = FollowedJournal(recording, self._path, waits)
            return self._cursor

        try:
            asyncio.run(
                replay(self._path, self.collector, games=self._games, cursor=cursor, trusted=self._own)
            )
        except (BalrogError, OSError) as error:
            self.failure = str(error)
        except BaseException:
            self.failure = BROKE_OFF  # an incomplete page says so, whatever the reason
            raise
        finally:
            self.done = True
            self._cursor, self._games.game = None, None  # release the journal and the game

    @property
    def settled(self) -> bool:
        """Whether all recorded steps are rebuilt; more may follow while the episode is played."""
        cursor = self._cursor
        return self.done or (cursor is not None and cursor.caught_up)

    def head(self) -> dict[str, Any]:
        """The document that a page reads first."""
        spec = self.header.spec
        document = {
            "name": spec.episode,
            "players": [
                {"from": at, "agent": each.agent, "model": each.model, "knowledge": each.knowledge}
                for at, each in [(0, spec.player), *((fork.at, fork.player) for fork in spec.forks)]
            ],
            "versions": self.header.versions,
            "seeds": [spec.game.seeds.core, spec.game.seeds.disp, spec.game.seeds.lgen],
            "settled": self.settled,
            "done": self.done,
            "failure": self.failure,
            "journal": self._place,
        }
        if (names := kind_of(spec.game.env).hints.renaming(spec.game)) is not None:
            document["names"] = names.originals
        return document | self.collector.head()

    @property
    def _place(self) -> str:
        """The journal's path from the folder that contains its run: enough for a command, and no more."""
        home = home_of(self._path)
        return self._path.name if home is None else str(self._path.resolve().relative_to(home.parent))

    def trace(self, names: dict[str, int]) -> EpisodeTrace:
        """How it went so far, for the page of its run."""
        return self.collector.trace(self.header.spec.game, names)

    def _search_seconds(self) -> float:
        return self._cursor.search_seconds if self._cursor is not None else 0.0


def header_of(path: Path) -> Header:
    """Read the first line of a journal."""
    header = next(iter(journal.entries_of(path)), None)
    if not isinstance(header, Header):
        raise journal.without_header(path)
    return header
