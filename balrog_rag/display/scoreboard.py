"""Live state of runs in play: plain counters that events update and displays sample."""

import math
import time
from collections import Counter, deque
from collections.abc import Sequence

import msgspec

from balrog_rag.contracts.data import GameSpec, Observation, Passage, Reply
from balrog_rag.contracts.events import (
    AlreadyEnded,
    Answered,
    Asked,
    Ended,
    Event,
    Searched,
    Started,
    Stepped,
    Troubled,
)
from balrog_rag.contracts.kinds import Progress, follow, kind_of, value_of
from balrog_rag.display.bottleneck import Bottleneck
from balrog_rag.models.budget import Spending
from balrog_rag.run.plan import steps_of
from balrog_rag.run.run import InPlay

WINDOW = 60.0
"""Seconds over which the rate is averaged."""
REMEMBERED = 200
"""Maximum number of ended episodes and errors kept for display."""


class EpisodeRow:
    """One episode in play."""

    __slots__ = (
        "action", "answer", "begun", "calls", "dollars", "episode", "input", "kind", "live_from",
        "live_steps",
        "observation", "output", "passages", "progress", "query", "reasoning", "step", "unpriced", "waiting",
    )  # fmt: skip

    def __init__(self, episode: str, game: GameSpec, observation: Observation) -> None:
        self.episode, self.observation = episode, observation
        self.kind = kind_of(game.env)
        self.begun = self.live_from = time.monotonic()
        self.step = self.live_steps = self.calls = self.input = self.output = self.unpriced = 0
        self.dollars = 0.0
        self.action = self.answer = self.query = self.reasoning = self.waiting = ""
        self.passages: Sequence[Passage] = ()
        self.progress: Progress = self.kind.progress(game)
        self.progress.see(observation.numbers, 0.0, "")

    @property
    def seconds_per_step(self) -> float | None:
        """Seconds per step of this attempt; None before the first step."""
        if not self.live_steps:
            return None
        return (time.monotonic() - self.live_from) / self.live_steps


class EndedEpisode(msgspec.Struct, frozen=True):
    """One finished episode."""

    episode: str
    outcome: str
    steps: int
    progression: float
    seconds: float = 0.0
    dollars: float = 0.0
    tokens: int = 0
    how: str = ""
    """How it ended, in the game's own words."""


class Scoreboard:
    """All episodes of a process's runs. Events cost a few assignments; sums are computed when sampled."""

    def __init__(self, playing: InPlay) -> None:
        runs = playing.runs
        specs = [spec for run in runs for spec in run.specs]
        self.total = len(specs)
        self.title = runs[0].folder.name if len(runs) == 1 else runs[0].folder.parent.name
        self.sweep = len(runs) > 1
        self.holds_calls = runs[0].config.runner.backend == "local"
        """Whether a pause blocks model calls; on a cluster it only blocks new episodes."""
        self.dollar_cap = _cap([run.config.limits.run.dollars for run in runs])
        named = {f"{run.label}:{spec.episode}" if run.label else spec.episode: spec
                 for run in runs for spec in run.specs}  # fmt: skip
        self._games = {name: spec.game for name, spec in named.items()}
        self._limits = {name: steps_of(spec) for name, spec in named.items()}
        self.notes, self.budgets = playing.notes, playing.budgets
        self.model_troubles, self.live_retries = playing.model_troubles, playing.live_retries
        self.begun = time.monotonic()
        self._paces = playing.paces
        self.planned_by_task = Counter(name.rpartition("/")[0] for name in named)
        self.ended_by_task: dict[str, list[float]] = {}
        self.rows: dict[str, EpisodeRow] = {}
        self.recent: deque[EndedEpisode] = deque(maxlen=REMEMBERED)
        self.troubles: deque[Troubled] = deque(maxlen=REMEMBERED)
        self.progressions: list[float] = []
        self.outcomes: dict[str, int] = {}
        self.steps = self.steps_of_ended = self.replays = self.errors = 0
        self._retries = 0
        self._samples: deque[tuple[float, int]] = deque([(self.begun, 0)])
        self._paused_at: float | None = None
        self._bottleneck = Bottleneck(playing)

    def see(self, event: Event) -> None:
        """Update the counters with an event."""
        match event:
            case Started():  # or restarted after a worker was lost
                game = self._games[event.episode]
                self.rows[event.episode] = EpisodeRow(event.episode, game, event.observation)
            case Asked():
                self.rows[event.episode].waiting = event.request.purpose
            case Answered():
                self._answered(self.rows[event.episode], event.reply, event.live)
            case Searched():
                row = self.rows[event.episode]
                row.query, row.passages = event.query, event.passages
            case Stepped():
                self._stepped(self.rows[event.episode], event)
            case Ended():
                self._ended(event)
            case AlreadyEnded():
                self.rows.pop(event.episode, None)
                self._count(EndedEpisode(event.episode, event.outcome, event.steps, event.progression))
            case Troubled():
                self._troubled(event)

    def _answered(self, row: EpisodeRow, reply: Reply, live: bool) -> None:
        row.calls += 1
        row.input += reply.usage.input
        row.output += reply.usage.output
        if reply.cost is None:
            row.unpriced += 1
        else:
            row.dollars += reply.cost
        row.waiting = ""
        if live:
            self._retries += reply.attempts - 1
        else:
            row.live_from, row.live_steps = time.monotonic(), -1  # excludes the step of this answer

    def _stepped(self, row: EpisodeRow, event: Stepped) -> None:
        after = event.after
        row.step = event.step + after.count
        row.live_steps += after.count
        row.action, row.observation = event.taken, after.observation
        row.answer, row.reasoning = event.decision.answer, event.decision.reasoning
        follow(row.progress, after, after.observation.numbers)
        self.steps += after.count if row.live_steps > 0 else 0

    def _ended(self, event: Ended) -> None:
        """Remove the episode's row and count its result."""
        row = self.rows.pop(event.episode)
        row.progress.see(row.observation.numbers, 0.0, event.outcome)
        seconds, tokens = time.monotonic() - row.begun, row.input + row.output
        progression, how = value_of(row.progress, row.kind), event.how
        self._count(
            EndedEpisode(
                event.episode, event.outcome, event.steps, progression, seconds, row.dollars, tokens, how
            )
        )

    def _count(self, ended: EndedEpisode) -> None:
        self.recent.append(ended)
        self.progressions.append(ended.progression)
        self.ended_by_task.setdefault(ended.episode.rpartition("/")[0], []).append(ended.progression)
        self.outcomes[ended.outcome] = self.outcomes.get(ended.outcome, 0) + 1
        self.steps_of_ended += ended.steps

    def _troubled(self, event: Troubled) -> None:
        """Record that a worker was lost, or that an episode was given up for now."""
        self.troubles.append(event)
        self.replays += event.again
        if not event.again:
            self.errors += 1
            self.rows.pop(event.episode, None)

    def paused(self, paused: bool) -> None:
        """Handle the start or end of a pause; paused time is excluded if calls were blocked."""
        if paused:
            self._paused_at = time.monotonic()
        elif self._paused_at is not None and self.holds_calls:
            rest = time.monotonic() - self._paused_at
            self._samples = deque((at + rest, steps) for at, steps in self._samples)
            for row in self.rows.values():
                row.begun, row.live_from = row.begun + rest, row.live_from + rest

    def calls(self) -> tuple[int, int]:
        """Model calls in flight, and those that wait for a limit of this run."""
        asked = sum(bool(row.waiting) for row in self.rows.values())
        paces = self._paces()
        in_flight = min(asked, sum(pace.in_flight for pace in paces)) if paces else asked
        return in_flight, asked - in_flight

    @property
    def done(self) -> int:
        """Number of episodes that have ended."""
        return len(self.progressions)

    def best_so_far(self) -> list[float]:
        """Progression of every started episode: its final value, or its best so far."""
        return [*self.progressions, *(value_of(row.progress, row.kind) for row in self.rows.values())]

    @property
    def retries(self) -> int:
        """Number of retries; for models on other nodes, only retries of calls that were answered."""
        return max(self._retries, self.live_retries())

    @property
    def elapsed(self) -> float:
        """Seconds since the start of this attempt."""
        return time.monotonic() - self.begun

    def spent(self) -> Spending:
        """Cost of all model calls of these runs, including earlier attempts."""
        together = Spending()
        for budget in self.budgets:
            together.add(budget.total)
        return together

    def limited_by(self) -> str:
        """The setting that slows runs down; empty if it is the model's server. Each call takes a sample."""
        in_play = len(self.rows)
        in_games = sum(not row.waiting for row in self.rows.values())
        return self._bottleneck.sample(in_play, in_games, self.total - self.done - self.errors - in_play)

    def rate(self) -> float:
        """Steps per second over the last minute; each call takes a sample."""
        now = time.monotonic()
        self._samples.append((now, self.steps))
        while len(self._samples) > 2 and self._samples[0][0] < now - WINDOW:
            self._samples.popleft()
        since, steps = self._samples[0]
        return (self.steps - steps) / (now - since) if now > since else 0.0

    def seconds_left(self) -> float | None:
        """Estimate the remaining time, assuming that the ratio of ended episodes to steps stays as it is.

        The rate of ended episodes alone would mislead, since short episodes end first.
        """
        rate = self.rate()
        left = self.total - self.done - self.errors
        if not rate or not left:
            return None if left else 0.0
        played = self.steps_of_ended + sum(row.step for row in self.rows.values())
        usual = min(played / self.done if self.done else math.inf, max(self._limits.values()))
        in_play = sum(min(usual, max(self._limits[name] - row.step, 0)) for name, row in self.rows.items())
        return (in_play + usual * max(left - len(self.rows), 0)) / rate


def _cap(caps: Sequence[float | None]) -> float | None:
    """Total budget of all runs; None if one of them has no cap."""
    known = [cap for cap in caps if cap is not None]
    return sum(known) if len(known) == len(caps) else None
