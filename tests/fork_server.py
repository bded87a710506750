"""The process that `tests/preloaded.py` starts: it imports the program, then forks for every order."""

import atexit
import fcntl
import gc
import importlib
import json
import os
import pkgutil
import runpy
import selectors
import signal
import socket
import sys
import tempfile
import threading
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import numpy as np

from balrog_rag.config.compose import compose
from balrog_rag.contracts import registry
from balrog_rag.contracts.kinds import kind_of
from balrog_rag.envs.nethack.language import text_glyphs
from balrog_rag.run import provenance
from balrog_rag.workers import worker_process
from tests.preloaded import LARGEST, MOST_FILES, Server, further_path, started_with

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
HIGH = 500
"""Descriptors from this number on are free in a process that has just been forked."""
OF_A_SITE = ("sitecustomize", "usercustomize")
"""Modules that Python runs at its start."""


def main() -> None:
    """Import the program, then fork for every order; the fork leaves the loop and runs the order's module."""
    started_with()
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


class _Forks:
    """The loop of the server: it carries out orders and reports the ends of what it has forked."""

    def __init__(self) -> None:
        self._events = selectors.DefaultSelector()
        self._users: set[socket.socket] = set()
        self._children: dict[socket.socket, int] = {}
        """The forked processes by the socket that takes the exit code; readable once nobody waits for it."""
        self._ends, waker = socket.socketpair()
        waker.setblocking(False)
        signal.signal(signal.SIGCHLD, lambda *_: None)  # or the waker would not hear of it
        signal.set_wakeup_fd(waker.detach(), warn_on_full_buffer=False)
        self._events.register(self._ends, selectors.EVENT_READ)

    def take_orders(self, orders: socket.socket) -> None:
        """Listen to one more user."""
        self._users.add(orders)
        self._events.register(orders, selectors.EVENT_READ)

    def next_order(self) -> list[Any] | None:
        """Return an order in the process forked for it, and None in this one when all users are gone."""
        while self._users:
            for event, _ in self._events.select():
                source = event.fileobj
                assert isinstance(source, socket.socket)
                if source is self._ends:
                    self._ends.recv(LARGEST)
                    self._reap()
                elif source in self._children:
                    os.kill(self._children[source], signal.SIGKILL)
                    self._end(source, os.waitpid(self._children[source], 0)[1])
                elif source in self._users and (order := self._carried_out(source)):
                    return order
        return None

    def _reap(self) -> None:
        for reply, child in list(self._children.items()):
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                self._end(reply, status)

    def _end(self, reply: socket.socket, status: int) -> None:
        with suppress(OSError):
            reply.send(b"%d" % os.waitstatus_to_exitcode(status))
        del self._children[reply]
        self._events.unregister(reply)
        reply.close()

    def _carried_out(self, orders: socket.socket) -> list[Any] | None:
        """Take an order and fork for it; return the order in the forked process."""
        order, descriptors, *_ = socket.recv_fds(orders, LARGEST, MOST_FILES)
        if not order:  # the user is gone
            self._users.remove(orders)
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
            self._children[reply] = child
            self._events.register(reply, selectors.EVENT_READ)
        for descriptor in descriptors:
            os.close(descriptor)
        return None

    def _let_go(self, *sockets: socket.socket) -> None:
        """Close what is the server's, in a forked process."""
        os.close(signal.set_wakeup_fd(-1))
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
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
    folders = filter(os.path.isdir, further_path(environment))
    return any(name.partition(".")[0] in imported for folder in folders for name in os.listdir(folder))


def _become(module: str, words: list[str], cwd: str, environment: dict[str, str]) -> str:
    """Make this process what a start of the module would be, and return the module."""
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(cwd)
    tempfile.tempdir = None  # found at an import, perhaps with another TMPDIR
    if further_path(environment):  # perhaps with plug-ins
        registry._installed.cache_clear()
        registry._entry_points.cache_clear()
        provenance.installed_version.cache_clear()
    sys.path[:1] = [os.getcwd(), *further_path(environment)]
    sys.argv = ["-m", *words]
    sys.orig_argv = [sys.executable, "-m", module, *words]
    importlib.invalidate_caches()
    return module


if __name__ == "__main__":
    main()
