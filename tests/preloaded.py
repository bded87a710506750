"""Run commands and game workers in forks of a process that has imported the program already.

Starting Python and importing what a run needs takes half a second of processor, and its game worker takes a
third of a second; these tests run hundreds of both. A fork has its own argv, environment, working folder,
descriptors and exit code, as a start has them; it shares only what was imported, what was composed from conf/
(see `balrog_rag/config/presets.py`) and the seed of hashes. Tests of starting itself (imports, signals,
terminals, closed streams) and of the pool of workers start Python themselves.
"""

import atexit
import io
import json
import locale
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import IO

from balrog_rag.workers import worker_process

ROOT = Path(__file__).parents[1]
LARGEST = 64_000
"""Bytes of an order; the socket takes more."""
MOST_FILES = 8
READ_BY_PYTHON = ("PYTHON", "LD_", "LC_", "LANG", "MALLOC", "OMP_", "OPENBLAS")
"""Beginnings of environment variables that Python reads at its start, or libraries while they load."""
PYTHON_STARTS = worker_process.launch


@cache
def started_with() -> dict[str, str]:
    """The environment of the server, as conftest leaves it for all tests."""
    return dict(os.environ)


class Forked:
    """A process that the server has forked; with the functions of `subprocess.Popen` that its users need."""

    def __init__(self, reply: socket.socket, pid: int) -> None:
        """`reply` brings the exit code; the server kills the process if it is closed before."""
        self.pid = pid
        self._reply = reply
        self._code: int | None = None
        self._turn = threading.Lock()

    def kill(self) -> None:
        """End it at once."""
        if self._code is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end and return its exit code, negative for a signal."""
        with self._turn:
            if self._code is None:
                self._reply.settimeout(timeout)
                try:
                    self._code = int(self._reply.recv(64) or -signal.SIGKILL)
                except TimeoutError:
                    raise subprocess.TimeoutExpired(f"process {self.pid}", timeout or 0) from None
                self._reply.close()
            return self._code


class Server:
    """The process with the imported program, as its users see it."""

    def __init__(self, orders: socket.socket, pid: int) -> None:
        """Send orders through this socket to the server, which is the parent of all that it forks."""
        self._orders, self.pid = orders, pid

    @staticmethod
    def started() -> "Server":
        """Start it; the first order waits until everything is imported. It ends with this process."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            process = subprocess.Popen(
                [sys.executable, "-m", "tests.fork_server", str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env=started_with(),
            )
        atexit.register(_end, ours, process)
        return Server(ours, process.pid)

    def fork(
        self,
        module: str,
        words: Sequence[str],
        cwd: Path,
        environment: Mapping[str, str],
        files: dict[int, int],
    ) -> Forked | None:
        """Run `python -m module words...`, with our open `files` by their numbers there.

        None if only a start of Python would do.
        """
        order = json.dumps(
            [list(files), module, list(words), os.path.abspath(cwd), dict(environment)]
        ).encode()
        if len(order) > LARGEST or _read_by_python(environment) != _read_by_python(started_with()):
            return None
        reply, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            socket.send_fds(self._orders, [order], [theirs.fileno(), *files.values()])
        pid = int(reply.recv(64))
        if pid:
            return Forked(reply, pid)
        reply.close()
        return None

    def launch(
        self, words: list[str], environment: dict[str, str], inherited: int, log: IO[bytes]
    ) -> worker_process.Process:
        """Start a worker of a pool of this process, in the place of `worker_process.launch`."""
        _, module, descriptor, _ = words  # the last one is the parent, which the server is
        files = {1: log.fileno(), 2: log.fileno(), inherited: inherited}
        worker = self.fork(module, [descriptor, str(self.pid)], Path.cwd(), environment, files)
        return worker or PYTHON_STARTS(words, environment, inherited, log)


def _end(orders: socket.socket, process: "subprocess.Popen[bytes]") -> None:
    orders.close()
    process.kill()
    process.wait()


@cache
def server() -> Server:
    """The server of this process, started once."""
    return Server.started()


def serve_pools() -> None:
    """Let the server fork the workers of this process's pools."""
    started_with()
    worker_process.launch = lambda *given: server().launch(*given)


def run(
    module: str, words: Sequence[str], cwd: Path, environment: Mapping[str, str]
) -> subprocess.CompletedProcess[str] | None:
    """Run `python -m module words...` without input; None if only a start of Python would do."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        forked = server().fork(module, words, cwd, environment, {1: out.fileno(), 2: errors.fileno()})
        if forked is None:
            return None
        try:
            code = forked.wait()
        except BaseException:  # e.g. a test's timeout, while the command hangs
            forked.kill()
            raise
        return subprocess.CompletedProcess([module, *words], code, _text(out), _text(errors))


def _text(stream: IO[bytes]) -> str:
    stream.seek(0)
    return io.TextIOWrapper(io.BytesIO(stream.read()), encoding=locale.getpreferredencoding(False)).read()


def _read_by_python(environment: Mapping[str, str]) -> dict[str, str]:
    return {
        name: value
        for name, value in environment.items()
        if name.startswith(READ_BY_PYTHON) and name != "PYTHONPATH"
    }


def further_path(environment: Mapping[str, str]) -> list[str]:
    """Folders that PYTHONPATH has in this environment only."""
    ours, theirs = (each.get("PYTHONPATH", "").split(os.pathsep) for each in (started_with(), environment))
    return [folder for folder in theirs if folder and folder not in (*ours, str(ROOT))]
