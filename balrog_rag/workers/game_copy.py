"""A copy of a running game in a forked process: several players continue from a state replayed once."""

import ctypes
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable
from typing import Any, NoReturn

import msgspec

from balrog_rag.workers import framing as frames
from balrog_rag.workers.framing import Answer, Heartbeat, Order, Ready
from balrog_rag.workers.host import HeartbeatCallback, HostedGame, ignore_heartbeat

_CHUNK = 1 << 18
_DIE_WITH_PARENT = 1


def can_be_copied(game: HostedGame) -> bool:
    """Whether a copy of this game would work: a forked process has only the thread that forked."""
    return sys.platform == "linux" and game.separable and threading.active_count() == 1


class GameCopy:
    """The original's side of a copy: it passes orders on and waits for the answers."""

    def __init__(self, live: Callable[[socket.socket], None]) -> None:
        """Fork; the new process carries out orders with `live` until this side is closed."""
        self._connection, theirs = socket.socketpair()
        self._unpacker = frames.Unpacker()
        self._decoder: msgspec.msgpack.Decoder[Any] = msgspec.msgpack.Decoder(Answer)
        parent = os.getpid()
        self._process = os.fork()
        if self._process == 0:
            self._connection.close()
            _run(live, theirs, parent)
        theirs.close()
        self.lives = isinstance(self._answer(ignore_heartbeat), Ready)
        """Whether it has started: it may lack room for its files."""
        if not self.lives:
            self.end()

    def ask(self, order: Order, heartbeat: HeartbeatCallback) -> Answer:
        """Send an order and wait for its answer."""
        self._connection.sendall(frames.packed(order))
        answer = self._answer(heartbeat)
        if answer is None:
            # As a crash of any other game, this ends the worker, and its games are replayed elsewhere.
            raise SystemExit("the process of a copied game died")
        return answer

    def hang_up(self) -> None:
        """Let go of the connection."""
        self._connection.close()

    def end(self) -> None:
        """End its process, which has closed its game."""
        self._connection.close()
        os.waitpid(self._process, 0)

    def _answer(self, heartbeat: HeartbeatCallback) -> Answer | None:
        while data := self._connection.recv(_CHUNK):
            answers = [self._decoder.decode(frame) for frame in self._unpacker.feed(data)]
            heartbeat()
            if answers and not isinstance(answers[-1], Heartbeat):
                answer: Answer = answers[-1]
                return answer
        return None


def _run(live: Callable[[socket.socket], None], connection: socket.socket, parent: int) -> NoReturn:
    """Carry out orders in the new process, which must not run what the original does at its own exit."""
    try:
        die_with(parent)
        live(connection)
    except ConnectionError:
        pass  # the original is gone
    finally:
        os._exit(0)


def die_with(parent: int) -> None:
    """Be killed with the parent even while a game hangs; on other systems the closed socket must do."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
        # The parent may have died before prctl took effect.
        if os.getppid() != parent:
            os._exit(1)
