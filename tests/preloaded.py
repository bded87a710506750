"""Run commands in forks of a process that has imported the program already.

Starting Python and importing what a run needs takes half a second of processor, and these tests run hundreds
of commands. `run` gives a command its own argv, environment, working folder, streams and exit code, as a
start does; a fork shares only what was imported and the seed of hashes. Tests of starting itself (imports,
signals, terminals, closed streams) start Python themselves.
"""

import gc
import importlib
import io
import json
import locale
import os
import pkgutil
import runpy
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from balrog_rag.contracts import registry

LIBRARIES = ("asyncio", "hydra", "hydra.core.plugins", "numpy", "omegaconf", "rich.progress", "scipy.special")
PACKAGES = (
    "balrog_rag.cli",
    "balrog_rag.display",
    "balrog_rag.results",
    "balrog_rag.results.leaderboard",
    "balrog_rag.results.statistics",
    "hydra._internal.core_plugins",
)
"""All modules of these are imported, and the modules of all players, models and kinds of game."""
LARGEST = 64_000
"""Bytes of an order; the socket takes more."""
READ_BY_PYTHON = ("PYTHON", "LD_", "LC_", "LANG", "MALLOC", "OMP_", "OPENBLAS")
"""Beginnings of environment variables that Python reads at its start, or libraries while they load."""
OF_A_SITE = ("sitecustomize", "usercustomize")
"""Modules that Python runs at its start."""
ENVIRONMENT = dict(os.environ)


class Server:
    """The process with the imported program, which this process started."""

    def __init__(self) -> None:
        """Start it; the first order waits until everything is imported."""
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.preloaded", str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                cwd=Path(__file__).parents[1],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env=ENVIRONMENT,
            )

    def run(self, order: bytes, out: IO[bytes], errors: IO[bytes]) -> int | None:
        """Run a command and return its exit code, negative for a signal as in subprocess; None if refused."""
        child = None
        try:
            socket.send_fds(self._socket, [order], [out.fileno(), errors.fileno()])
            child = int(self._socket.recv(64)) or None
            return int(self._socket.recv(64)) if child else None
        except BaseException:  # e.g. a test's timeout, while the command hangs
            if child is not None:
                with suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)
            self.end()
            raise

    def end(self) -> None:
        """End the process; it also ends by itself when this process does."""
        self._socket.close()
        self._process.kill()
        self._process.wait()


_server: Server | None = None
_turn = threading.Lock()


def run(
    module: str, words: Sequence[str], cwd: Path, environment: Mapping[str, str]
) -> subprocess.CompletedProcess[str] | None:
    """Run `python -m module words...` without input; None if only a start of Python would do."""
    global _server
    order = json.dumps([module, words, os.path.abspath(cwd), dict(environment)]).encode()
    with _turn:
        if len(order) > LARGEST or _read_by_python(environment) != _read_by_python(ENVIRONMENT):
            return None
        if _server is None:
            _server = Server()
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
            try:
                code = _server.run(order, out, errors)
            except BaseException:
                _server = None
                raise
            if code is None:
                return None
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
    ours, theirs = (each.get("PYTHONPATH", "").split(os.pathsep) for each in (ENVIRONMENT, environment))
    return [folder for folder in theirs if folder and folder not in ours]


# --- in the process of the server ---


def main() -> None:
    """Import the program, then fork for every order; the fork leaves the loop and runs the order's module."""
    for name in LIBRARIES:
        importlib.import_module(name)
    for package in PACKAGES:
        for found in pkgutil.iter_modules(importlib.import_module(package).__path__, f"{package}."):
            if not found.name.endswith(".__main__"):  # Python warns if such a module is run afterwards
                importlib.import_module(found.name)
    for kind in (registry.agents, registry.programs, registry.models, registry.environments):
        for place in kind._builtin.values():
            importlib.import_module(place.partition(":")[0])
    gc.collect()
    gc.freeze()  # or the first collection of every fork would copy all pages
    order = _forked(socket.socket(fileno=int(sys.argv[1])))
    if order is not None:
        runpy.run_module(_become(*order), run_name="__main__", alter_sys=True)


def _forked(orders: socket.socket) -> list[Any] | None:
    """Return an order in the process forked for it, and None in this one when the orders end."""
    while True:
        order, descriptors, *_ = socket.recv_fds(orders, LARGEST, 2)
        if not order:
            return None
        asked = list(json.loads(order))
        if _replaces_imported(asked[-1]):
            orders.send(b"0")
        else:
            assert threading.active_count() == 1, "a thread would be missing in the forks"
            child = os.fork()
            if not child:
                orders.close()
                for number, descriptor in zip((1, 2), descriptors, strict=True):
                    os.dup2(descriptor, number)
                    os.close(descriptor)
                return asked
            orders.send(b"%d" % child)
            _, status = os.waitpid(child, 0)
            orders.send(b"%d" % os.waitstatus_to_exitcode(status))
        for descriptor in descriptors:
            os.close(descriptor)


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
    sys.path[:1] = [os.getcwd(), *_path(environment)]
    sys.argv = ["-m", *words]
    sys.orig_argv = [sys.executable, "-m", module, *words]
    importlib.invalidate_caches()
    return module


if __name__ == "__main__":
    main()
