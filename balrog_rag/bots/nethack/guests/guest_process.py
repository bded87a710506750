"""The process of a guest program as seen by the worker: sends screens, receives actions, enforces limits."""

import json
import os
import select
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from balrog_rag.bots.nethack.guests.program_folder import GuestOptions
from balrog_rag.contracts.outcome import Outcome
from balrog_rag.contracts.programs import PlayerLost
from balrog_rag.util import scratch
from balrog_rag.util.fetch import cache_folder

CHILD = Path(__file__).with_name("child.py")
KEPT_ENVIRONMENT = ("PATH", "LANG", "LC_ALL", "HOME", "LD_LIBRARY_PATH", "SYSTEMROOT")
"""Environment variables that a guest gets; no keys are among them."""
STEADY = {
    "PYTHONHASHSEED": "0",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "NUMBA_NUM_THREADS": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
}
"""Makes the same program play the same game equally, and leave no files in its folder."""
LONGEST_WHY = 300
LONGEST_TRACE = 20_000
_GLANCE, _MESSAGE, _IDLE = 0.5, 60.0, 10
"""Seconds between polls of a slow guest, for the rest of a message, and extra for one that sleeps."""
_LENGTH = 4


class _Report(msgspec.Struct):
    """The report of an exception by the program's process."""

    what: str
    where: str
    trace: str


class GuestProcess:
    """A running bot; every failure ends the game with a named reason."""

    def __init__(self, options: GuestOptions, seed: int, actions: int, heartbeat: Callable[[], None]) -> None:
        """Start the process; the bot is created when the first screen is shown."""
        self._options, self._seed, self._actions, self._beat = options, seed, actions, heartbeat
        self._scratch = tempfile.TemporaryDirectory(prefix="guest-", dir=scratch.folder())
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the process
        self._line, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-s", str(CHILD), str(theirs.fileno()), str(os.getpid())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=self._log,
                stderr=self._log,
                cwd=self._scratch.name,
                env=self._environment(),
            )

    def _environment(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in KEPT_ENVIRONMENT if name in os.environ}
        return {**kept, **STEADY, "TMPDIR": self._scratch.name, "NUMBA_CACHE_DIR": str(compiled_folder())}

    def reset(self, screen: Mapping[str, Any]) -> None:
        """Load the program and show it the first screen."""
        layout = [[name, array.dtype.str, array.shape] for name, array in screen.items()]
        self._send(json.dumps(self._about(check=False, layout=layout)).encode())
        self._ask(screen, self._options.start_seconds)

    def check(self) -> None:
        """Import the program and find the bot's factory, without a game."""
        self._send(json.dumps(self._about(check=True, layout=[])).encode())
        self._answer(self._options.start_seconds)

    def _about(self, check: bool, layout: list[Any]) -> dict[str, Any]:
        path = Path(self._options.path).resolve()
        return {
            "path": str(path),
            "folder": str(path.parent if self._options.function else path),
            "function": self._options.function,
            "seed": self._seed,
            "memory": self._options.memory_mb << 20,
            "actions": self._actions,
            "check": check,
            "layout": layout,
        }

    def act(self, screen: Mapping[str, Any]) -> int:
        """Return the number of the bot's action."""
        said = self._ask(screen, self._options.seconds)
        if not said.isdecimal() or int(said) >= self._actions:  # the program itself wrote to the socket
            raise self._lost(Outcome.CRASHED, f"its answer was {said[:40]!r}, expected an action's number")
        return int(said)

    def close(self) -> None:
        """End the process, which cannot prevent it."""
        self._process.kill()
        self._process.wait()
        self._line.close()
        self._log.close()
        self._scratch.cleanup()

    def _ask(self, screen: Mapping[str, Any], seconds: float) -> str:
        self._send(b"".join(array.tobytes() for array in screen.values()))
        return self._answer(seconds)

    def _answer(self, seconds: float) -> str:
        self._wait(seconds)
        self._line.settimeout(_MESSAGE)
        try:
            length = int.from_bytes(self._receive(_LENGTH), "little")
            said = self._receive(length).decode("utf-8", "replace")
        except TimeoutError as error:
            raise self._lost(Outcome.TIMED_OUT, "it stopped in the middle of a message") from error
        if said.startswith("!"):
            raise self._reported(said[1:])
        return said

    def _reported(self, text: str) -> PlayerLost:
        """The failure that the program's process reports; the text is untrusted."""
        try:
            told = msgspec.json.decode(text, type=_Report)
        except msgspec.DecodeError:
            return self._lost(Outcome.CRASHED, text)
        what, where = (" ".join(words.split())[:LONGEST_WHY] for words in (told.what, told.where))
        return PlayerLost(Outcome.CRASHED, what, where, told.trace[-LONGEST_TRACE:])

    def _lost(self, outcome: str, why: str) -> PlayerLost:
        """A failure without a line in the program."""
        why = " ".join(why.split())[:LONGEST_WHY]
        function = f" in {self._options.function}" if self._options.function else ""
        return PlayerLost(outcome, why, f"{Path(self._options.path).resolve()}{function}: {why}")

    def _wait(self, seconds: float) -> None:
        """Wait for the bot's answer; only its processor time counts, so a busy machine does not end a game.

        A sleeping bot uses none, so there is a limit of wall-clock time, too.
        """
        if select.select([self._line], [], [], _GLANCE)[0]:
            return
        begun, used = time.monotonic(), self._used()
        while not select.select([self._line], [], [], _GLANCE)[0]:
            self._beat()
            idle = time.monotonic() - begun > _IDLE * seconds
            if self._used() - used > seconds or idle:
                raise self._lost(Outcome.TIMED_OUT, f"it took more than {seconds:g} s for one action")

    def _used(self) -> float:
        """The bot's processor time in seconds; 0 if the system does not provide it."""
        try:
            fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return 0.0
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def _send(self, data: bytes) -> None:
        self._line.settimeout(self._options.start_seconds)
        try:
            self._line.sendall(len(data).to_bytes(_LENGTH, "little") + data)
        except OSError as error:
            raise self._lost(Outcome.CRASHED, self._gone()) from error

    def _receive(self, count: int) -> bytes:
        data = bytearray()
        while len(data) < count:
            try:
                part = self._line.recv(count - len(data))
            except TimeoutError:
                raise
            except OSError as error:
                raise self._lost(Outcome.CRASHED, self._gone()) from error
            if not part:
                raise self._lost(Outcome.CRASHED, self._gone())
            data += part
        return bytes(data)

    def _gone(self) -> str:
        """How the process ended, in words."""
        code = self._process.wait()
        return f"its process died of signal {-code}" if code < 0 else f"its process ended with code {code}"


def compiled_folder() -> Path:
    """The folder in which compiled code of guests is kept from game to game."""
    folder = cache_folder() / "compiled"
    folder.mkdir(parents=True, exist_ok=True)
    return folder
