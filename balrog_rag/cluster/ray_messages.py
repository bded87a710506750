"""What the driver and a node of a cluster tell each other: small messages, many in one packet.

A node says what its episodes write, see and need; the driver orders episodes and answers. An entry is
safe once the driver has written it, and only then does the node's agent get to see the effect.
"""

from typing import TypeAlias

import msgspec

from balrog_rag.contracts.events import Event
from balrog_rag.episode.spec import EpisodeSpec
from balrog_rag.workers.framing import WorkFailed


class Limit(msgspec.Struct, frozen=True):
    """A cap that leaves no room for another call."""

    name: str
    of_run: bool


class PlayEpisode(msgspec.Struct, tag=True):
    """Order: play an episode on from this journal; `limit` is a cap that leaves no room for a call."""

    episode: str
    spec: EpisodeSpec
    journal: bytes
    limit: Limit | None


class Safe(msgspec.Struct, tag=True):
    """Answer: so many entries of the episode are on the driver's disk; `limit` as in Play."""

    episode: str
    entries: int
    limit: Limit | None


class Stop(msgspec.Struct, tag=True):
    """Order: begin nothing new in this episode."""

    episode: str


class Drop(msgspec.Struct, tag=True):
    """Order: forget this episode at once."""

    episode: str


class Granted(msgspec.Struct, tag=True):
    """Answer: the call may go out now."""

    model: str
    call: int


Order: TypeAlias = PlayEpisode | Safe | Stop | Drop | Granted


class Wrote(msgspec.Struct, tag=True):
    """Word: the next entry of the journal, as its line; an end is the last word on its episode."""

    episode: str
    line: bytes


class Saw(msgspec.Struct, tag=True):
    """Word for watchers: what happened, as every watcher is told it."""

    episode: str
    """The episode as the driver calls it."""
    event: Event


class Broken(msgspec.Struct, tag=True):
    """Word: the episode was cut by an error, or stopped as ordered (kind `Stopped`)."""

    episode: str
    error: WorkFailed


class Needed(msgspec.Struct, tag=True):
    """Word: a call of about so many tokens wants to go out to the model of this name."""

    model: str
    call: int
    tokens: int


class Used(msgspec.Struct, tag=True):
    """Word: that call is over; its real tokens, or that the provider said it was too much."""

    model: str
    call: int
    tokens: int | None = None
    rate_limited: bool = False
    retry_after: float | None = None


class Asking(msgspec.Struct, tag=True):
    """Word: how the node's models do, where that has changed."""

    troubles: dict[str, str]
    """Why a model does not answer now, by the name of the model."""
    retried: int
    """Attempts of all calls that failed and were made again."""


Word: TypeAlias = Wrote | Saw | Broken | Needed | Used | Asking

pack = msgspec.msgpack.Encoder().encode
unpack_orders = msgspec.msgpack.Decoder(list[Order]).decode
unpack_words = msgspec.msgpack.Decoder(list[Word]).decode
