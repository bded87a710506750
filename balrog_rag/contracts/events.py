"""What happens in an episode, as one stream of small immutable structs.

Whoever wants to know of it takes events by one method, `Watcher.see`: the dashboard, the logs, the CSV, an
exporter, and a cluster's driver, which gets the same structs from its nodes. An event is told after what it
tells of is safe in the journal, but for `Asked`: that one comes just before an answer is sought.
"""

from typing import TypeAlias

import msgspec

from balrog_rag.contracts.data import Decision, Observation, Passage, Purpose, Reply, Request, Transition


class Started(msgspec.Struct, frozen=True, tag=True):
    """The first observation."""

    episode: str
    observation: Observation


class Asked(msgspec.Struct, frozen=True, tag=True):
    """A prompt is complete, just before its answer is sought or read from the journal."""

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
    """A search came back."""

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
    """The game's own words for it, such as what killed the player."""

    @property
    def words(self) -> str:
        """The outcome, and the game's own words where it has some."""
        return f"{self.outcome}: {self.how}" if self.how else self.outcome


class AlreadyEnded(msgspec.Struct, frozen=True, tag=True):
    """The episode had ended in an earlier attempt at the run; nothing of it is played."""

    episode: str
    outcome: str
    steps: int
    progression: float


class Troubled(msgspec.Struct, frozen=True, tag=True):
    """An error cut the episode; `again` where it is replayed at once, else it is left as journaled."""

    episode: str
    kind: str
    """The error's class."""
    text: str
    again: bool
    trace: str = ""
    """The traceback, where code of an agent or a bot raised."""


Event: TypeAlias = Started | Asked | Answered | Searched | Stepped | Ended | AlreadyEnded | Troubled
