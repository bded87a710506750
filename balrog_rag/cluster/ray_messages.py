"""Messages between the driver and a cluster node: small, and sent many per packet.

A node reports what its episodes write, see and need; the driver sends episodes and answers. An entry is
safe once the driver has written it, and only then does the node's agent see the effect.
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
    """Order: continue an episode from this journal; `limit` is a cap without room for another call."""

    episode: str
    spec: EpisodeSpec
    journal: bytes
    limit: Limit | None


class Safe(msgspec.Struct, tag=True):
    """Answer: this many entries of the episode are on the driver's disk; `limit` as in PlayEpisode."""

    episode: str
    entries: int
    limit: Limit | None


class Stop(msgspec.Struct, tag=True):
    """Order: start nothing new in this episode."""

    episode: str


class Drop(msgspec.Struct, tag=True):
    """Order: discard this episode at once."""

    episode: str


class Granted(msgspec.Struct, tag=True):
    """Answer: the call may be sent now."""

    model: str
    call: int


Order: TypeAlias = PlayEpisode | Safe | Stop | Drop | Granted


class Wrote(msgspec.Struct, tag=True):
    """Report: the next journal entry, as its line; an end is the last report on its episode."""

    episode: str
    line: bytes


class Saw(msgspec.Struct, tag=True):
    """Report: an event for the watchers."""

    episode: str
    """The driver's name of the episode."""
    event: Event


class Broken(msgspec.Struct, tag=True):
    """Report: an error ended the episode, or it stopped as ordered (kind `Stopped`)."""

    episode: str
    error: WorkFailed


class Needed(msgspec.Struct, tag=True):
    """Report: a call of about that many tokens is ready for this model."""

    model: str
    call: int
    tokens: int


class Used(msgspec.Struct, tag=True):
    """Report: that call has ended, with its real tokens or the provider's rate limit."""

    model: str
    call: int
    tokens: int | None = None
    rate_limited: bool = False
    retry_after: float | None = None


class Asking(msgspec.Struct, tag=True):
    """Report: troubles and retries of the node's models, whenever they change."""

    troubles: dict[str, str]
    """Why a model does not answer now, by model name."""
    retried: int
    """Failed attempts that were retried, over all calls."""


Word: TypeAlias = Wrote | Saw | Broken | Needed | Used | Asking

pack = msgspec.msgpack.Encoder().encode
unpack_orders = msgspec.msgpack.Decoder(list[Order]).decode
unpack_words = msgspec.msgpack.Decoder(list[Word]).decode
