"""Messages between a pool and its workers: MessagePack frames, each preceded by its length."""

from collections.abc import Iterator
from typing import TypeAlias

import msgspec

from balrog_rag.contracts import errors
from balrog_rag.contracts.data import Burst, Call, GameSpec, ProgramPlayer, TaskView, Transition
from balrog_rag.contracts.errors import BalrogError, EnvironmentFailure, PlayerFailed, PluginError
from balrog_rag.contracts.raw_arrays import PackedArray

LENGTH_BYTES = 4


class Open(msgspec.Struct, tag=True):
    """Create and start a game, and refer to it by this number from now on."""

    game: int
    spec: GameSpec
    ttyrec: str | None = None
    arrays: tuple[str, ...] = ()
    """Names of the arrays to send with the beginning and after each order of actions."""


class PlayActions(msgspec.Struct, tag=True):
    """Take these actions in order."""

    game: int
    actions: list[str | Call]


class RunProgram(msgspec.Struct, tag=True):
    """Let a program press keys until its burst ends."""

    game: int
    player: ProgramPlayer
    most: int
    recorded: Burst | None = None


class Copy(msgspec.Struct, tag=True):
    """Copy a game as it is now; the copy is referred to by the number `game`."""

    game: int
    of: int


class Close(msgspec.Struct, tag=True):
    """End a game."""

    game: int


Order: TypeAlias = Open | PlayActions | RunProgram | Copy | Close


class Ready(msgspec.Struct, tag=True):
    """The worker has started."""


class Heartbeat(msgspec.Struct, tag=True):
    """The worker is busy with a long order, not hung."""


class GameOpened(msgspec.Struct, tag=True):
    """A game has been started."""

    view: TaskView
    start: Transition
    arrays: dict[str, PackedArray] = {}


class ActionsPlayed(msgspec.Struct, tag=True):
    """The transitions of the actions, or of a program's burst."""

    transitions: list[Transition]
    arrays: dict[str, PackedArray] = {}
    """The requested arrays after the last transition."""


class Copied(msgspec.Struct, tag=True):
    """A game has been copied, or cannot be."""

    done: bool


class Closed(msgspec.Struct, tag=True):
    """A game has ended."""


class WorkFailed(msgspec.Struct, tag=True):
    """An order failed: the error's class and message."""

    kind: str
    message: str
    blame: str = ""
    trace: str = ""

    @classmethod
    def of(cls, error: BalrogError) -> "WorkFailed":
        """Return the message for an error."""
        if isinstance(error, PlayerFailed):
            return cls("PlayerFailed", str(error), error.blame, error.trace)
        return cls(type(error).__name__, str(error), trace=getattr(error, "trace", ""))

    def error(self) -> BalrogError:
        """Rebuild the error."""
        if self.kind == "PlayerFailed":
            return PlayerFailed(self.message, self.blame, self.trace)
        # Only our own errors are rebuilt by name: a message must not choose any other class to instantiate.
        kind = getattr(errors, self.kind, EnvironmentFailure)
        known = isinstance(kind, type) and issubclass(kind, BalrogError)
        if known and issubclass(kind, PluginError):
            return kind(self.message, self.trace)
        made: BalrogError = kind(self.message) if known else EnvironmentFailure(self.message)
        return made


Answer: TypeAlias = Ready | Heartbeat | GameOpened | ActionsPlayed | Copied | Closed | WorkFailed

_encoder = msgspec.msgpack.Encoder()


def packed(message: Order | Answer) -> bytes:
    """Encode a message as a frame."""
    buffer = bytearray(LENGTH_BYTES)
    _encoder.encode_into(message, buffer, LENGTH_BYTES)
    buffer[:LENGTH_BYTES] = (len(buffer) - LENGTH_BYTES).to_bytes(LENGTH_BYTES, "little")
    return bytes(buffer)


class Unpacker:
    """Splits a byte stream into frames."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield the frames that are complete so far."""
        buffer = self._buffer
        buffer += data
        begin = 0
        while len(buffer) >= begin + LENGTH_BYTES:
            end = begin + LENGTH_BYTES + int.from_bytes(buffer[begin : begin + LENGTH_BYTES], "little")
            if len(buffer) < end:
                break
            # A copy: the buffer may be resized while the caller still decodes this frame.
            yield bytes(memoryview(buffer)[begin + LENGTH_BYTES : end])
            begin = end
        del buffer[:begin]
