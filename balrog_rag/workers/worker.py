"""A process that holds games: `python -m balrog_rag.workers.worker FD`, started by the pool.

It answers orders in sequence over the socket it inherits, and ends when the socket closes.
A game's engine is imported when its first game is opened.
"""

import ctypes
import os
import signal
import socket
import sys
import time
from collections.abc import Callable
from typing import Any

import msgspec

from balrog_rag.contracts.errors import BalrogError
from balrog_rag.contracts.raw_arrays import PackedArray, packed
from balrog_rag.workers import framing as frames
from balrog_rag.workers.framing import (
    ActionsPlayed,
    Answer,
    Close,
    Closed,
    GameOpened,
    Heartbeat,
    Open,
    Order,
    Ready,
    RunProgram,
    WorkFailed,
)
from balrog_rag.workers.host import HostedGame

BEAT_SECONDS = 0.5
_CHUNK = 1 << 18
_DIE_WITH_PARENT = 1


class Worker:
    """The games of this process, and the orders on them."""

    def __init__(self, say: Callable[[Answer], None]) -> None:
        """`say` sends an answer."""
        self._say = say
        self._games: dict[int, HostedGame] = {}
        self._arrays: dict[int, tuple[str, ...]] = {}
        """Names of the arrays that a game's answers carry; only of games that were opened with any."""
        self._last_heartbeat = time.monotonic()

    def handle(self, order: Order) -> Answer:
        """Carry out an order; an error becomes an answer too."""
        self._last_heartbeat = time.monotonic()
        try:
            return self._carry_out(order)
        except BalrogError as error:
            return WorkFailed.of(error)

    def _carry_out(self, order: Order) -> Answer:
        if isinstance(order, Open):
            opened = self._games[order.game] = HostedGame(order.spec, order.ttyrec, self._heartbeat)
            if order.arrays:
                self._arrays[order.game] = order.arrays
            return GameOpened(opened.view, opened.start, self._packed(order.game))
        if isinstance(order, Close):
            game = self._games.pop(order.game, None)
            self._arrays.pop(order.game, None)
            if game is not None:
                game.close()
            return Closed()
        game = self._games[order.game]
        if isinstance(order, RunProgram):
            return ActionsPlayed([game.run(order.player, order.most, self._heartbeat, order.recorded)])
        transitions = game.play(order.actions, self._heartbeat)
        return ActionsPlayed(transitions, self._packed(order.game))

    def _packed(self, number: int) -> dict[str, PackedArray]:
        names = self._arrays.get(number)
        return packed(self._games[number].arrays, names) if names else {}

    def _heartbeat(self) -> None:
        """Report now and then that a long order is still in progress."""
        now = time.monotonic()
        if now - self._last_heartbeat > BEAT_SECONDS:
            self._last_heartbeat = now
            self._say(Heartbeat())


def serve(connection: socket.socket) -> None:
    """Carry out orders until the other side is gone."""

    def say(answer: Answer) -> None:
        try:
            frame = frames.packed(answer)
        except (TypeError, ValueError, OverflowError) as error:  # the parent must get an answer, or it waits
            frame = frames.packed(WorkFailed("EnvironmentFailure", f"the answer cannot be sent: {error}"))
        connection.sendall(frame)

    worker, unpacker = Worker(say), frames.Unpacker()
    decoder: msgspec.msgpack.Decoder[Any] = msgspec.msgpack.Decoder(Order)
    say(Ready())
    # Reused for all orders: a new buffer for each would fragment the heap over millions of steps.
    buffer = memoryview(bytearray(_CHUNK))
    while size := connection.recv_into(buffer):
        for frame in unpacker.feed(bytes(buffer[:size])):
            say(worker.handle(decoder.decode(frame)))


def _die_with(parent: int) -> None:
    """Be killed with the parent even while a game hangs; on other systems the closed socket must do."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
        # The parent may have died before prctl took effect.
        if os.getppid() != parent:
            os._exit(1)


def main() -> None:
    """Entry point: the socket's file descriptor and the parent's process id are the arguments."""
    descriptor, parent = int(sys.argv[1]), int(sys.argv[2])
    # Ctrl-C in a terminal reaches the whole process group; the parent decides what it means.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    _die_with(parent)
    with socket.socket(fileno=descriptor) as connection:
        try:
            serve(connection)
        except ConnectionError:
            pass  # the parent is gone, so this process ends too


if __name__ == "__main__":
    main()
