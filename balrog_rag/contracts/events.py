"""The events of an episode, as one stream of small immutable structs.

All watchers receive them through one method, `Watcher.see`: the dashboard, the logs, the CSV, exporters,
and a cluster's driver, which gets the same structs from its nodes. An event is sent after its effect is
safe in the journal, except `Asked`, which is sent just before an answer is requested.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from balrog_rag.contracts.data import Decision, Observation, Passage, Purpose, Reply, Request, Transition


class Started(msgspec.Struct, frozen=True, tag=True):
    """The first observation is available."""

    episode: str
    observation: Observation


class Asked(msgspec.Struct, frozen=True, tag=True):
    """A prompt is complete; its answer is about to be requested or read from the journal."""

    episode: str
    step: int
    request: Request


class Answered(msgspec.Struct, frozen=True, tag=True):
    """A model answered; `live` is false in a replay."""

    episode: str
    step: int
    purpose: Purpose
    reply: Reply
    live: bool


class Searched(msgspec.Struct, frozen=True, tag=True):
    """A search returned."""

    episode: str
    step: int
    query: str
    passages: tuple[Passage, ...]


class Stepped(msgspec.Struct, frozen=True, tag=True):
    """An action was taken."""

    episode: str
    step: int
    decision: Decision
    taken: str
    after: Transition


class Ended(msgspec.Struct, frozen=True, tag=True):
    """The episode is over."""

    episode: str
    outcome: str
    steps: int
    how: str = ""
    """The game's description of the end, such as what killed the player."""

    @property
    def words(self) -> str:
        """Outcome, with the game's description if there is one."""
        return f"{self.outcome}: {self.how}" if self.how else self.outcome


class AlreadyEnded(msgspec.Struct, frozen=True, tag=True):
    """The episode had already ended in an earlier attempt at the run, so it is not played."""

    episode: str
    outcome: str
    steps: int
    progression: float


class Troubled(msgspec.Struct, frozen=True, tag=True):
    """An error interrupted the episode; `again`: it is replayed at once, otherwise it stays incomplete."""

    episode: str
    kind: str
    """The error's class."""
    text: str
    again: bool
    trace: str = ""
    """The traceback, if code of an agent or a bot raised."""


Event: TypeAlias = Started | Asked | Answered | Searched | Stepped | Ended | AlreadyEnded | Troubled


class WatchedRun(msgspec.Struct, frozen=True):
    """The run that a watcher is about to watch, for its optional method `watch_run`."""

    folder: Path
    config: Mapping[str, Any]
    """Its complete configuration, as in config.json."""
    digest: str
    """The configuration's digest."""
    planned: Mapping[str, str]
    """Its episodes: the digest of each one's spec by name."""
    label: str = ""
    """Its name within a sweep."""
