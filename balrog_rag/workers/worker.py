"""A process that holds games: `python -m balrog_rag.workers.worker FD`, started by the pool.

It answers orders in sequence over the socket it inherits, and ends when the socket closes.
A game's engine is imported when its first game is opened.
"""

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
    Copied,
    Copy,
    GameOpened,
    Heartbeat,
    Open,
    Order,
    Ready,
    RunProgram,
    WorkFailed,
)
from balrog_rag.workers.game_copy import GameCopy, can_be_copied, die_with
from balrog_rag.workers.host import HostedGame

BEAT_SECONDS = 0.5
_CHUNK = 1 << 18


class Worker:
    """The games of this process, and the orders on them."""

    def __init__(self, say: Callable[[Answer], None], hang_up: Callable[[], None]) -> None:
        """`say` sends an answer; `hang_up` lets go of the connection, in a forked process."""
        self._say, self._hang_up = say, hang_up
        self._games: dict[int, HostedGame] = {}
        self._copies: dict[int, GameCopy] = {}
        """Games that play on in forked processes, by their number."""
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
        if isinstance(order, Copy):
            return Copied(self._copied(order))
        if order.game in self._copies:
            return self._passed_on(order)
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

    def _copied(self, order: Copy) -> bool:
        """Copy a game into a forked process; return whether that was possible."""
        game = self._games.get(order.of)
        if game is None or not can_be_copied(game):
            return False

        def live(connection: socket.socket) -> None:
            self._hang_up()
            for other in self._copies.values():
                other.hang_up()
            serve(connection, order.game, game)

        copy = GameCopy(live)
        if copy.lives:
            self._copies[order.game] = copy
        return copy.lives

    def _passed_on(self, order: Order) -> Answer:
        """Let a forked process carry out an order."""
        answer = self._copies[order.game].ask(order, self._heartbeat)
        if isinstance(order, Close):
            self._copies.pop(order.game).end()
        return answer

    def adopt(self, number: int, game: HostedGame) -> None:
        """Continue a game of the process from which this one was forked."""
        game.separate(self._heartbeat)
        self._games[number] = game

    def _packed(self, number: int) -> dict[str, PackedArray]:
        names = self._arrays.get(number)
        return packed(self._games[number].arrays, names) if names else {}

    def _heartbeat(self) -> None:
        """Report now and then that a long order is still in progress."""
        now = time.monotonic()
        if now - self._last_heartbeat > BEAT_SECONDS:
            self._last_heartbeat = now
            self._say(Heartbeat())


def serve(connection: socket.socket, number: int = 0, copied: HostedGame | None = None) -> None:
    """Carry out orders until the other side is gone; a forked process begins with a copied game."""

    def say(answer: Answer) -> None:
        try:
            frame = frames.packed(answer)
        except (TypeError, ValueError, OverflowError) as error:  # the parent must get an answer, or it waits
            frame = frames.packed(WorkFailed("EnvironmentFailure", f"the answer cannot be sent: {error}"))
        connection.sendall(frame)

    worker, unpacker = Worker(say, connection.close), frames.Unpacker()
    if copied is not None:
        worker.adopt(number, copied)
    decoder: msgspec.msgpack.Decoder[Any] = msgspec.msgpack.Decoder(Order)
    say(Ready())
    # Reused for all orders: a new buffer for each would fragment the heap over millions of steps.
    buffer = memoryview(bytearray(_CHUNK))
    while size := connection.recv_into(buffer):
        for frame in unpacker.feed(bytes(buffer[:size])):
            say(worker.handle(decoder.decode(frame)))


def main() -> None:
    """Entry point: the socket's file descriptor and the parent's process id are the arguments."""
    descriptor, parent = int(sys.argv[1]), int(sys.argv[2])
    # Ctrl-C in a terminal reaches the whole process group; the parent decides what it means.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    die_with(parent)
    with socket.socket(fileno=descriptor) as connection:
        try:
            serve(connection)
        except ConnectionError:
            pass  # the parent is gone, so this process ends too


if __name__ == "__main__":
    main()
