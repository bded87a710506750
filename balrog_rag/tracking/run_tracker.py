"""The base of the built-in watchers: turns events into records, which subclasses send somewhere."""

import time
from collections.abc import Sequence

from balrog_rag.contracts.errors import BalrogError
from balrog_rag.contracts.events import (
    AlreadyEnded,
    Answered,
    Ended,
    Event,
    Started,
    Stepped,
    Troubled,
    WatchedRun,
)
from balrog_rag.results.episodes import Episode
from balrog_rag.results.run_folder import journal_path
from balrog_rag.results.tally import read_episode
from balrog_rag.tracking.run_records import (
    OpenEpisode,
    Record,
    RunProgress,
    episode_record,
    run_record,
    verdict_table,
)

INTERVAL = 5.0
"""Seconds between two records of progress, while episodes are in play."""


class RunTracker:
    """Counts what happens in one attempt at a run.

    An ended episode's results are read from its journal, so they are the same as in the run folder, also if
    events were dropped.
    """

    def __init__(self) -> None:
        self._run: WatchedRun | None = None
        self._progress = RunProgress(0)
        self._episodes: list[Episode] = []
        self._rows: list[Record] = []
        self._last = 0.0

    def started(self, run: Record) -> None:
        """Send the configuration."""

    def progressed(self, progress: Record) -> None:
        """Send the progress."""

    def episode_ended(self, episode: Record, progress: Record) -> None:
        """Send an episode's results."""

    def troubled(self, event: Troubled) -> None:
        """Send an error that interrupted an episode."""

    def finished(self, table: Sequence[Record], episodes: Sequence[Record]) -> None:
        """Send the final table, and close."""

    def watch_run(self, run: WatchedRun) -> None:
        """Begin with a run."""
        self._run, self._progress = run, RunProgress(len(run.planned))
        self.started(run_record(run))

    def see(self, event: Event) -> None:
        """Count an event, and send what follows from it."""
        if self._run is None:  # tried out without a run
            return
        match event:
            case Started():
                self._progress.in_play[event.episode] = OpenEpisode()
            case Answered():
                self._answered(event)
            case Stepped():
                self._open(event.episode).steps += event.after.count
            case Ended() | AlreadyEnded():
                self._ended(self._run, event)
            case Troubled():
                self._progress.troubles += 1
                if not event.again:
                    self._progress.in_play.pop(event.episode, None)
                self.troubled(event)
        self._send_progress()

    def close(self) -> None:
        """Send the progress and the table at the end."""
        if self._run is None:
            return
        self.progressed(self._progress.record())
        self.finished(verdict_table(self._episodes, self._progress.planned), self._rows)

    def _send_progress(self) -> None:
        now = time.monotonic()
        if now - self._last >= INTERVAL:
            self._last = now
            self.progressed(self._progress.record())

    def _open(self, episode: str) -> OpenEpisode:
        return self._progress.in_play.setdefault(episode, OpenEpisode())

    def _answered(self, event: Answered) -> None:
        usage, calls = event.reply.usage, self._open(event.episode).calls
        calls.count += 1
        calls.input += usage.input
        calls.output += usage.output
        calls.uncounted += not usage.known
        calls.dollars += event.reply.cost or 0.0
        calls.unpriced += event.reply.cost is None

    def _ended(self, run: WatchedRun, event: Ended | AlreadyEnded) -> None:
        self._progress.in_play.pop(event.episode, None)
        try:
            episode = read_episode(journal_path(run.folder, event.episode))
        except BalrogError:  # the run itself reports it
            episode = None
        if episode is None:
            return
        self._episodes.append(episode)
        self._progress.ended += 1
        self._progress.steps += episode.steps
        self._progress.used.add(episode.total)
        self._progress.progressions.append(episode.percent)
        self._rows.append(episode_record(episode, isinstance(event, AlreadyEnded)))
        self.episode_ended(self._rows[-1], self._progress.record())
