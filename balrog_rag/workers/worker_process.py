"""One worker process as the pool sees it: orders in, answers out, and a watchdog."""

import asyncio
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Protocol

import msgspec

from balrog_rag.contracts.errors import WorkerLost, WorkerLostElsewhere
from balrog_rag.util import scratch
from balrog_rag.workers.framing import Answer, Heartbeat, Open, Order, Ready, Unpacker, WorkFailed, packed

START_SECONDS = 60.0
"""Seconds that a worker may take to start or to open a game, if the step deadline is shorter."""

END_SECONDS = 5.0
"""Seconds that a worker may take to end by itself."""

_LONGEST_LINE = 300
_OWN_MEMORY = re.compile(r"^Rss(?:Anon|Shmem):\s+(\d+) kB", re.MULTILINE)


class WorkerProcess(asyncio.Protocol):
    """A process that answers once it is ready; create it in a running event loop."""

    def __init__(self, deadline: float, lost: Callable[["WorkerProcess"], None]) -> None:
        """A busy worker silent for `deadline` seconds counts as hung; `lost` is called when it ends."""
        self.games = 0
        """Games it has now."""
        self.opened = 0
        """Games it has had in total."""
        self.weighed = float("-inf")
        """When its memory was last checked, by `time.monotonic`."""
        self.retiring = False
        self.was_ready = False
        self._deadline, self._lost = deadline, lost
        self._loop = asyncio.get_running_loop()
        # Games write their files to this folder, so that a killed worker leaves nothing behind;
        # if this process is killed too, the next run removes it (see util/scratch.py).
        self._folder = tempfile.mkdtemp(prefix="worker-", dir=scratch.folder(scratch.quick_top()))
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the process
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                self._process = _start(theirs, self._log, self._folder)
            except OSError:
                ours.close()
                self._tidy_up()
                raise
        self._transport: asyncio.Transport | None = None
        self._connecting = self._loop.create_task(self._loop.create_connection(lambda: self, sock=ours))
        self._pending: deque[asyncio.Future[Answer]] = deque()
        self._unsent: list[bytes] = []
        self._opening: set[asyncio.Future[Answer]] = set()
        self._ready: asyncio.Future[None] = self._loop.create_future()
        self._decoder: msgspec.msgpack.Decoder[Any] = msgspec.msgpack.Decoder(Answer)
        self._unpacker = Unpacker()
        self._gone = ""
        self._loss: type[WorkerLost] = WorkerLostElsewhere
        self._watch: asyncio.TimerHandle | None = None
        self._listen()

    @property
    def pid(self) -> int:
        """The process's id."""
        return self._process.pid

    async def ready(self) -> bool:
        """Wait until it has started; return False if it died instead."""
        await asyncio.wait([self._ready])
        return not self._gone

    async def ask(self, order: Order) -> Answer:
        """Send an order and await its answer; raise its error, or WorkerLost if the process is gone."""
        if self._gone or self._transport is None:
            raise self._loss(self._gone or "the game worker has not started")
        future: asyncio.Future[Answer] = self._loop.create_future()
        if isinstance(order, Open):
            self._opening.add(future)
        self._pending.append(future)
        self._post(order)
        answer = await future
        if isinstance(answer, WorkFailed):
            raise answer.error()
        return answer

    def megabytes(self) -> int:
        """Return its memory without shared file pages, which games have in common; 0 if unknown."""
        try:
            status = Path(f"/proc/{self.pid}/status").read_text()
        except OSError:
            return 0
        return sum(int(size) for size in _OWN_MEMORY.findall(status)) // 1024

    def send(self, order: Order) -> None:
        """Send an order without waiting for its answer."""
        if self._transport is not None and not self._gone:
            # Answers are matched to orders by position, so an unwanted answer needs a place as well.
            unwanted: asyncio.Future[Answer] = self._loop.create_future()
            unwanted.cancel()
            self._pending.append(unwanted)
            self._post(order)

    def _post(self, order: Order) -> None:
        """Send an order together with all others of this turn of the event loop."""
        # With hundreds of games, system calls that wake the worker for each order alone take a twentieth of
        # the loop's time.
        if not self._unsent:
            self._loop.call_soon(self._send_all)
        self._unsent.append(packed(order))
        if self._watch is None:
            self._listen()

    def _send_all(self) -> None:
        orders, self._unsent = self._unsent, []
        if orders and self._transport is not None and not self._gone:
            self._transport.write(b"".join(orders))

    def kill(self, why: str) -> None:
        """Kill it; its games are lost, and a game is blamed only if it was the only one."""
        if self.games == 1:
            self._loss = WorkerLost
        self._end_as(why)

    async def end(self) -> None:
        """Let it end by itself, which closes its games; kill it if it does not."""
        with suppress(OSError):
            await self._connecting
        if self._transport is not None and not self._gone:
            self._send_all()
            self._transport.write_eof()
            with suppress(subprocess.TimeoutExpired):
                # In a thread: waiting here would stall every other worker and episode.
                await asyncio.to_thread(self._process.wait, END_SECONDS)
        self._end_as("was closed")

    def last_words(self) -> str:
        """Return the last line it wrote before it died, or how it died."""
        return self._gone

    # --- asyncio.Protocol ---

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the connected transport."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Match answers to orders: a worker answers in order."""
        for frame in self._unpacker.feed(data):
            try:
                answer: Answer = self._decoder.decode(frame)
            except (msgspec.MsgspecError, UnicodeDecodeError) as error:  # answers no longer match orders
                self._end_as(f"sent an invalid answer and was killed: {error}")
                return
            if isinstance(answer, Ready):
                self.was_ready = True
                self._ready.set_result(None)
            elif not isinstance(answer, Heartbeat):
                future = self._pending.popleft()
                self._opening.discard(future)
                if not future.done():
                    future.set_result(answer)
        self._listen()

    def connection_lost(self, error: Exception | None) -> None:
        """Handle the end of the process."""
        self._end_as("")

    # --- the end ---

    def _listen(self) -> None:
        """Restart the watchdog if the worker has something to do."""
        if self._watch is not None:
            self._watch.cancel()
            self._watch = None
        if not self._gone and (self._pending or not self.was_ready):
            self._watch = self._loop.call_later(self._patience(), self._give_up)

    def _give_up(self) -> None:
        self._end_as(f"did not answer within {self._patience():g} s and was killed")

    def _patience(self) -> float:
        """Return the seconds of silence to tolerate: more for starting and opening than for a step."""
        busy_opening = bool(self._pending) and self._pending[0] in self._opening
        return max(self._deadline, START_SECONDS) if busy_opening or not self.was_ready else self._deadline

    def _end_as(self, why: str) -> None:
        if self._gone:
            return
        self._process.kill()
        code = self._process.wait()
        self._gone = f"the game worker (process {self.pid}) {why or self._died(code)}"
        self._tidy_up()
        if self._watch is not None:
            self._watch.cancel()
        if self._transport is not None:
            self._transport.abort()
        if not self._ready.done():
            self._ready.set_result(None)
        # A worker takes one order at a time: only the first can have killed it, the others are innocent.
        for place, future in enumerate(self._pending):
            if not future.done():
                future.set_exception((self._loss if place else WorkerLost)(self._gone))
        self._pending.clear()
        self._lost(self)

    def _tidy_up(self) -> None:
        self._log.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _died(self, code: int) -> str:
        how = f"died of {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"
        self._log.seek(0)
        lines = self._log.read().decode("utf-8", "replace").strip().splitlines()
        return f"{how}: {lines[-1].strip()[:_LONGEST_LINE]}" if lines else how


class Process(Protocol):
    """A started process, as `subprocess.Popen` has it."""

    @property
    def pid(self) -> int:
        """The process's id."""

    def kill(self) -> None:
        """End it at once."""

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end and return its exit code, negative for a signal."""


def launch(words: list[str], environment: dict[str, str], inherited: int, log: IO[bytes]) -> Process:
    """Start Python with these arguments, one open descriptor, and its output in `log`."""
    # Apart from `_start`, because tests fork the same process instead (tests/preloaded.py).
    return subprocess.Popen(
        [sys.executable, *words],
        pass_fds=[inherited],
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        env=environment,
    )


def _start(inherited: socket.socket, log: IO[bytes], folder: str) -> Process:
    package_root = str(Path(__file__).resolve().parents[2])
    path = os.pathsep.join(filter(None, (package_root, os.environ.get("PYTHONPATH"))))
    words = ["-m", "balrog_rag.workers.worker", str(inherited.fileno()), str(os.getpid())]
    return launch(words, {**os.environ, "PYTHONPATH": path, "TMPDIR": folder}, inherited.fileno(), log)
