"""One episode from its journal to its end: opened, continued, replayed if its worker dies."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from balrog_rag.contracts.behaviour import RunningGame, Watcher
from balrog_rag.contracts.data import GameSpec
from balrog_rag.contracts.errors import JournalError, WorkerLost, WorkerLostElsewhere
from balrog_rag.contracts.events import AlreadyEnded, Troubled
from balrog_rag.contracts.kinds import refuse_other_version
from balrog_rag.contracts.outcome import RESUMABLE
from balrog_rag.episode import journal
from balrog_rag.episode.effects import JournalCursor
from balrog_rag.episode.journal import Completion, End, Header, Recording
from balrog_rag.episode.journal_writer import Writer
from balrog_rag.episode.packs import packs_in
from balrog_rag.episode.play import EpisodeContext, Services, play
from balrog_rag.episode.spec import EpisodeSpec
from balrog_rag.models.budget import RunBudget, Spending
from balrog_rag.results import run_folder
from balrog_rag.results.episodes import Calls
from balrog_rag.results.run_folder import journal_path, recording_path
from balrog_rag.results.runs import load
from balrog_rag.results.stored_episodes import StoredRows
from balrog_rag.results.stored_sequence import rows_by_part
from balrog_rag.results.tally import read_episode
from balrog_rag.run.journal_packer import JournalPacker
from balrog_rag.run.object_store import StoreUploads
from balrog_rag.run.shared_prefix import SharedPrefixes

LOSSES = 5
"""Workers that may die under one episode before the episode is blamed."""
AT_ONCE = 1_000
"""Ended episodes that are reported before other work has its turn."""


class GameSource(Protocol):
    """Where games run: in a pool of worker processes, or in this process."""

    async def open(self, spec: GameSpec, ttyrec: str | None = None) -> RunningGame:
        """Start a game."""
        ...


class JournaledPlayer:
    """Keeps the journals of one run's episodes; subclasses decide where they are played."""

    def __init__(
        self,
        run: Path,
        config_digest: str,
        versions: dict[str, str],
        budget: RunBudget,
        watcher: Watcher,
        stopping: Callable[[], bool],
    ) -> None:
        self.run, self._config_digest, self._versions = run, config_digest, versions
        self.budget, self.watcher, self.stopping = budget, watcher, stopping
        self._packer: JournalPacker | None = None
        self._uploads: StoreUploads | None = None

    def keep(self, pack: int | None, uploads: StoreUploads | None = None) -> None:
        """Say where journals of ended episodes go; `pack`: most journals in a file, if they are packed."""
        self._packer = JournalPacker(self.run, pack) if pack else None
        self._uploads = uploads

    async def report_ended(self, specs: Sequence[EpisodeSpec], ended: dict[str, End]) -> None:
        """Report the episodes that the index knows to have ended, and add them to `ended`.

        Their journals are not read again: of a million episodes that would take hours.
        """
        if not run_folder.journal_files(self.run) and not packs_in(self.run):
            return
        loaded = await asyncio.to_thread(load, self.run)
        planned = {spec.episode: spec for spec in specs}
        for rows, places in rows_by_part(loaded.episodes):
            # In the order of their columns, which are compressed in blocks.
            for first in range(0, len(places), AT_ONCE):
                self._report_rows(rows, places[first : first + AT_ONCE], planned, ended)
                await asyncio.sleep(0)

    def _report_rows(
        self,
        rows: StoredRows,
        places: Sequence[int],
        planned: Mapping[str, EpisodeSpec],
        ended: dict[str, End],
    ) -> None:
        names, digests, outcomes = (rows.column(name) for name in ("name", "spec_digest", "outcome"))
        steps, progressions, facts = (rows.column(name) for name in ("steps", "progression", "facts"))
        reported = []
        for row in places:
            spec, outcome = planned.get(names[row]), outcomes[row]
            if spec is None or outcome in RESUMABLE or digests[row] != spec.digest:
                continue
            # The price of an answer may be known by now; that takes the answers themselves.
            if self.budget.prices.known and rows[row].total.unpriced:
                continue
            reported.append(row)
            ended[spec.episode] = End(outcome, steps[row], facts[row])
            self.watcher.see(AlreadyEnded(spec.episode, outcome, steps[row], progressions[row]))
        calls = rows.calls_of(reported)
        self.budget.finished(
            [names[row] for row in reported], {purpose: spending_of(each) for purpose, each in calls.items()}
        )

    async def __call__(self, spec: EpisodeSpec) -> End:
        """Play or continue an episode until it ends; a lost worker only costs a replay."""
        losses = 0
        while True:
            try:
                end = await self._attempt(spec)
                await self._put_away(journal_path(self.run, spec.episode), end)
                return end
            except WorkerLost as error:
                # Another game of the same worker may have killed it; only losses of its own count against it.
                losses += not isinstance(error, WorkerLostElsewhere)
                if losses == LOSSES:
                    raise
                self.watcher.see(Troubled(spec.episode, type(error).__name__, str(error), again=True))

    async def _put_away(self, path: Path, end: End) -> None:
        """Upload and pack the journal of an episode that has ended, if the run does so."""
        if self._uploads is not None:
            self._uploads.ended(path)
        if self._packer is not None and end.outcome not in RESUMABLE:
            await asyncio.to_thread(self._packer.add, path)

    def _found(self, episode: str, recording: Recording, end: End) -> End:
        """Report an episode that already ended in an earlier attempt, with its costs."""
        meter = self.budget.episode(episode)
        for entry in recording.entries:
            if isinstance(entry, Completion):
                meter.charge(entry.reply, entry.purpose)
        played = read_episode(journal_path(self.run, episode))
        self.watcher.see(AlreadyEnded(episode, end.outcome, end.steps, played.progression if played else 0.0))
        return end

    def recording(self, spec: EpisodeSpec) -> Recording:
        """Read what is journaled of this episode so far; refuse a journal of another spec."""
        path = journal_path(self.run, spec.episode)
        if not journal.exists(path):
            return Recording(None)
        recording = journal.read(path)
        if recording.header is not None and recording.header.spec_digest != spec.digest:
            refuse_other_version(recording.header.spec.game, str(path))
            raise JournalError(
                f"{path}: belongs to another configuration of {spec.episode}; "
                "resume with the one that wrote it, or choose another run.name"
            )
        # A cap may have been raised since; without its end, the episode continues after the last step.
        if recording.end is not None and recording.end.outcome in RESUMABLE:
            return recording.before_end()
        return recording

    async def _attempt(self, spec: EpisodeSpec) -> End:
        recording = self.recording(spec)
        if recording.end is not None:
            return self._found(spec.episode, recording, recording.end)
        path = journal_path(self.run, spec.episode)
        keep = recording.ends[-1] if recording.ends else 0
        with Writer(path, keep, recording.size, recording) as writer:
            if recording.header is None:
                writer.append(self._header(spec))
            # The cursor frees a long recording once it is replayed; a second reference would keep it.
            cursor = JournalCursor(recording, writer)
            del recording
            end = await self.perform(cursor, spec)
            await writer.sync()
            # Checked last: an ending must not be reported for a file that somebody else changed meanwhile.
            writer.check()
            return end

    async def perform(self, cursor: JournalCursor, spec: EpisodeSpec) -> End:
        """Replay the journal, then play on from its end."""
        raise NotImplementedError

    def _header(self, spec: EpisodeSpec) -> Header:
        return Header(journal.VERSION, spec, spec.digest, self._config_digest, self._versions)


def spending_of(calls: Calls) -> Spending:
    """Return the cost of calls of one purpose."""
    attempts = calls.count + calls.repeats
    return Spending(
        calls.count, calls.input, calls.output, calls.cached, calls.dollars, calls.unpriced, attempts
    )


class EpisodePlayer(JournaledPlayer):
    """Plays episodes in this process's event loop."""

    def __init__(
        self,
        run: Path,
        config_digest: str,
        versions: dict[str, str],
        games: GameSource,
        services: Services,
        budget: RunBudget,
        watcher: Watcher,
        stopping: Callable[[], bool],
        ttyrec: bool = False,
        shared: SharedPrefixes | None = None,
    ) -> None:
        """`shared` opens the games of forked episodes."""
        super().__init__(run, config_digest, versions, budget, watcher, stopping)
        self._games, self._services, self._ttyrec, self._shared = games, services, ttyrec, shared

    async def perform(self, cursor: JournalCursor, spec: EpisodeSpec) -> End:
        """Replay the journal, then play on from its end."""
        game = await self._opened(spec)
        meter = self.budget.episode(spec.episode)
        try:
            context = EpisodeContext(spec, game, cursor, self._services, meter, self.watcher, self.stopping)
            return await play(context)
        finally:
            meter.release()
            await game.close()

    async def _opened(self, spec: EpisodeSpec) -> RunningGame:
        if self._shared is not None and spec.forks:
            return await self._shared.open(spec)
        return await self._games.open(spec.game, self._ttyrec_path(spec))

    def _ttyrec_path(self, spec: EpisodeSpec) -> str | None:
        path = recording_path(self.run, spec.episode) if self._ttyrec else None
        return None if path is None else str(path)
