"""Run commands and game workers in forks of a process that has imported the program already.

Starting Python and importing what a run needs takes half a second of processor, and its game worker takes a
third of a second; these tests run hundreds of both. A fork has its own argv, environment, working folder,
descriptors and exit code, as a start has them; it shares only what was imported, what was composed from conf/
(see `balrog_rag/config/presets.py`) and the seed of hashes. Tests of starting itself (imports, signals,
terminals, closed streams) and of the pool of workers start Python themselves.
"""

import atexit
import fcntl
import gc
import importlib
import io
import json
import locale
import os
import pkgutil
import runpy
import select
import selectors
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
from typing import IO, Any, NamedTuple

import numpy as np

from balrog_rag.config.compose import compose
from balrog_rag.contracts import registry
from balrog_rag.contracts.kinds import kind_of
from balrog_rag.envs.nethack.language import text_glyphs
from balrog_rag.run import provenance
from balrog_rag.workers import worker_process

ROOT = Path(__file__).parents[1]
LIBRARIES = (
    "asyncio",
    "hydra",
    "hydra.core.plugins",
    "nle.nethack",
    "numpy",
    "omegaconf",
    "rich.progress",
    "scipy.special",
)
PACKAGES = (
    "balrog_rag.cli",
    "balrog_rag.display",
    "balrog_rag.envs.nethack",
    "balrog_rag.results",
    "balrog_rag.results.leaderboard",
    "balrog_rag.results.statistics",
    "hydra._internal.core_plugins",
)
"""All modules of these are imported, and the modules of all players, models and kinds of game."""
CHOICES = (
    "",
    "model=scripted",
    "model=scripted agent=naive",
    "model=scripted agent=robust_cot",
    "model=scripted agent=naive env=corridor",
    "agent=naive model=scripted",
)
"""What tests choose from conf/ most often: it is composed before the first fork."""
LARGEST = 64_000
"""Bytes of an order; the socket takes more."""
MOST_FILES = 8
HIGH = 500
"""Descriptors from this number on are free in a process that has just been forked."""
READ_BY_PYTHON = ("PYTHON", "LD_", "LC_", "LANG", "MALLOC", "OMP_", "OPENBLAS")
"""Beginnings of environment variables that Python reads at its start, or libraries while they load."""
OF_A_SITE = ("sitecustomize", "usercustomize")
"""Modules that Python runs at its start."""


PYTHON_STARTS = worker_process.launch


@cache
def _started_with() -> dict[str, str]:
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
                [sys.executable, "-m", "tests.preloaded", str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env=_started_with(),
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
        if len(order) > LARGEST or _read_by_python(environment) != _read_by_python(_started_with()):
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
    _started_with()
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


def _path(environment: Mapping[str, str]) -> list[str]:
    """Folders that PYTHONPATH has in this environment only."""
    ours, theirs = (each.get("PYTHONPATH", "").split(os.pathsep) for each in (_started_with(), environment))
    return [folder for folder in theirs if folder and folder not in (*ours, str(ROOT))]


# --- in the process of the server ---


def main() -> None:
    """Import the program, then fork for every order; the fork leaves the loop and runs the order's module."""
    _started_with()
    for name in LIBRARIES:
        importlib.import_module(name)
    for package in PACKAGES:
        for found in pkgutil.iter_modules(importlib.import_module(package).__path__, f"{package}."):
            if not found.name.endswith(".__main__"):  # Python warns if such a module is run afterwards
                importlib.import_module(found.name)
    for kind in (registry.agents, registry.programs, registry.models, registry.environments):
        for place in kind._builtin.values():
            importlib.import_module(place.partition(":")[0])
    for words in CHOICES:
        compose(words.split())
    provenance.versions(map(kind_of, ("nle", "minihack")))
    text_glyphs(np.zeros((21, 79), np.int16), np.zeros(27, np.int64))  # it makes tables when first called
    gc.collect()
    gc.freeze()  # or the first collection of every fork would copy all pages
    forks = _Forks()
    forks.take_orders(socket.socket(fileno=int(sys.argv[1])))
    order = forks.next_order()
    if order is not None:
        _live(*order)


def _live(module: str, words: list[str], cwd: str, environment: dict[str, str]) -> None:
    """Be this command to its end, which is Python's own except that objects are not freed one by one.

    That takes most commands longer than what they do, since it copies all pages of the server's memory.
    """
    code: int | None = None
    try:
        runpy.run_module(_become(module, words, cwd, environment), run_name="__main__", alter_sys=True)
    except SystemExit as end:
        if not isinstance(end.code, int | None):
            raise
        code = end.code
    threading._shutdown()
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit((code or 0) & 0xFF)


class _Child(NamedTuple):
    pid: int
    ends: int
    """A descriptor that is readable once the process has ended."""
    reply: socket.socket
    """Takes the exit code; readable once nobody waits for it."""


class _Forks:
    """The loop of the server: it carries out orders and reports the ends of what it has forked."""

    def __init__(self) -> None:
        self._events = selectors.DefaultSelector()
        self._children: list[_Child] = []

    def take_orders(self, orders: socket.socket) -> None:
        """Listen to one more user."""
        self._events.register(orders, selectors.EVENT_READ)

    def next_order(self) -> list[Any] | None:
        """Return an order in the process forked for it, and None in this one when its first user is gone."""
        while self._events.get_map():
            for event, _ in self._events.select():
                if isinstance(event.data, _Child):
                    self._end(event.data)
                elif order := self._carried_out(event.fileobj):
                    return order
        return None

    def _end(self, child: _Child) -> None:
        if child not in self._children:  # it ended and its user too, at once
            return
        if not select.select([child.ends], [], [], 0)[0]:
            os.kill(child.pid, signal.SIGKILL)
        _, status = os.waitpid(child.pid, 0)
        with suppress(OSError):
            child.reply.send(b"%d" % os.waitstatus_to_exitcode(status))
        self._children.remove(child)
        for descriptor in (child.ends, child.reply):
            self._events.unregister(descriptor)
        os.close(child.ends)
        child.reply.close()

    def _carried_out(self, orders: Any) -> list[Any] | None:
        """Take an order and fork for it; return the order in the forked process."""
        order, descriptors, *_ = socket.recv_fds(orders, LARGEST, MOST_FILES)
        if not order:  # the user is gone
            self._events.unregister(orders)
            orders.close()
            return None
        numbers, *asked = json.loads(order)
        reply = socket.socket(fileno=descriptors.pop(0))
        if _replaces_imported(asked[-1]):
            reply.send(b"0")
            reply.close()
        else:
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            assert threading.active_count() == 1, "a thread would be missing in the forks"
            server, child = os.getpid(), os.fork()
            if not child:
                self._let_go(reply, ours)
                worker_process.launch = Server(_place(theirs, descriptors, numbers), server).launch
                return list(asked)
            theirs.close()
            self.take_orders(ours)
            reply.send(b"%d" % child)
            self._children.append(_Child(child, os.pidfd_open(child), reply))
            for readable in self._children[-1][1:]:
                self._events.register(readable, selectors.EVENT_READ, self._children[-1])
        for descriptor in descriptors:
            os.close(descriptor)
        return None

    def _let_go(self, *sockets: socket.socket) -> None:
        """Close what is the server's, in a forked process."""
        for event in self._events.get_map().values():
            os.close(event.fd)
        self._events.close()
        for each in sockets:
            each.close()


def _place(orders: socket.socket, descriptors: list[int], numbers: list[int]) -> socket.socket:
    """Give descriptors their numbers, and return the socket, which had perhaps one of them."""
    # First all are moved out of the way.
    orders, moved = socket.socket(fileno=_moved(orders.detach())), list(map(_moved, descriptors))
    for number, descriptor in zip(numbers, moved, strict=True):
        os.dup2(descriptor, number)
        os.close(descriptor)
    return orders


def _moved(descriptor: int) -> int:
    moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, HIGH)
    os.close(descriptor)
    return moved


def _replaces_imported(environment: Mapping[str, str]) -> bool:
    """Whether PYTHONPATH has a module that is imported already, or one that Python runs at its start."""
    imported = {name.partition(".")[0] for name in sys.modules} | set(OF_A_SITE)
    folders = filter(os.path.isdir, _path(environment))
    return any(name.partition(".")[0] in imported for folder in folders for name in os.listdir(folder))


def _become(module: str, words: list[str], cwd: str, environment: dict[str, str]) -> str:
    """Make this process what a start of the module would be, and return the module."""
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(cwd)
    tempfile.tempdir = None  # found at an import, perhaps with another TMPDIR
    if _path(environment):  # perhaps with plug-ins
        registry._installed.cache_clear()
        registry._entry_points.cache_clear()
        provenance.installed_version.cache_clear()
    sys.path[:1] = [os.getcwd(), *_path(environment)]
    sys.argv = ["-m", *words]
    sys.orig_argv = [sys.executable, "-m", module, *words]
    importlib.invalidate_caches()
    return module


if __name__ == "__main__":
    main()
