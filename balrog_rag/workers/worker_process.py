"""One worker process as the pool sees it: orders in, answers out, and a watch that it is not hung."""

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
from typing import Any

import msgspec

from balrog_rag.contracts.errors import WorkerLost, WorkerLostElsewhere
from balrog_rag.util import scratch
from balrog_rag.workers.framing import Answer, Heartbeat, Open, Order, Ready, Unpacker, WorkFailed, packed

START_SECONDS = 60.0
"""How long a worker may take to start or to open a game, be the deadline of a step shorter."""

END_SECONDS = 5.0
"""How long a worker may take to end by itself."""

_LONGEST_LINE = 300
_OWN_MEMORY = re.compile(r"^Rss(?:Anon|Shmem):\s+(\d+) kB", re.MULTILINE)


class WorkerProcess(asyncio.Protocol):
    """A process started now, that will answer once it is ready; made in a running event loop."""

    def __init__(self, deadline: float, lost: Callable[["WorkerProcess"], None]) -> None:
        """After `deadline` seconds of silence at work it is taken for hung; `lost` is told of its end."""
        self.games = 0
        """Games it holds."""
        self.opened = 0
        """Games it has held in all."""
        self.retiring = False
        self.was_ready = False
        self._deadline, self._lost = deadline, lost
        self._loop = asyncio.get_running_loop()
        # A game's files lie in a folder of ours, so that nothing of a killed worker is left behind,
        # nor of ourselves, when we are killed: then the next run removes it.
        self._folder = tempfile.mkdtemp(prefix="worker-", dir=scratch.folder())
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
        """Wait until it has started; false where it died instead."""
        await asyncio.wait([self._ready])
        return not self._gone

    async def ask(self, order: Order) -> Answer:
        """Have an order carried out; raises what went wrong, or WorkerLost where the process is gone."""
        if self._gone or self._transport is None:
            raise self._loss(self._gone or "the game worker has not started")
        future: asyncio.Future[Answer] = self._loop.create_future()
        if isinstance(order, Open):
            self._opening.add(future)
        self._pending.append(future)
        self._transport.write(packed(order))
        if self._watch is None:
            self._listen()
        answer = await future
        if isinstance(answer, WorkFailed):
            raise answer.error()
        return answer

    def megabytes(self) -> int:
        """The memory it holds, but for pages of files, which games share; 0 where that is not told."""
        try:
            told = Path(f"/proc/{self.pid}/status").read_text()
        except OSError:
            return 0
        return sum(int(size) for size in _OWN_MEMORY.findall(told)) // 1024

    def tell(self, order: Order) -> None:
        """Have an order carried out whose answer nobody waits for."""
        if self._transport is not None and not self._gone:
            nobody: asyncio.Future[Answer] = self._loop.create_future()
            nobody.cancel()
            self._pending.append(nobody)
            self._transport.write(packed(order))
            if self._watch is None:
                self._listen()

    def kill(self, why: str) -> None:
        """End it at once; its games are lost, and only a game that was alone in it is to blame."""
        if self.games == 1:
            self._loss = WorkerLost
        self._end_as(why)

    async def end(self) -> None:
        """Let it end by itself, which closes its games, and kill it if it does not."""
        with suppress(OSError):
            await self._connecting
        if self._transport is not None and not self._gone:
            self._transport.write_eof()
            with suppress(subprocess.TimeoutExpired):
                await asyncio.to_thread(self._process.wait, END_SECONDS)
        self._end_as("was closed")

    def last_words(self) -> str:
        """The last line it wrote before it died, or how it died."""
        return self._gone

    # --- asyncio.Protocol ---

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The socket is ours to use."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Answers come in, in the order of the orders."""
        for frame in self._unpacker.feed(data):
            answer: Answer = self._decoder.decode(frame)
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
        """The process is gone."""
        self._end_as("")

    # --- the end ---

    def _listen(self) -> None:
        """From now on it may be silent for so long, if it has something to do."""
        if self._watch is not None:
            self._watch.cancel()
            self._watch = None
        if not self._gone and (self._pending or not self.was_ready):
            self._watch = self._loop.call_later(self._patience(), self._give_up)

    def _give_up(self) -> None:
        self._end_as(f"did not answer within {self._patience():g} s and was killed")

    def _patience(self) -> float:
        """The seconds of silence that are no hang: more for starting and opening than for a step."""
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
        for place, future in enumerate(self._pending):
            if not future.done():  # the first order was at work, the others only waited
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


def _start(inherited: socket.socket, log: Any, folder: str) -> "subprocess.Popen[bytes]":
    package_root = str(Path(__file__).resolve().parents[2])
    path = os.pathsep.join(filter(None, (package_root, os.environ.get("PYTHONPATH"))))
    return subprocess.Popen(
        [sys.executable, "-m", "balrog_rag.workers.worker", str(inherited.fileno()), str(os.getpid())],
        pass_fds=[inherited.fileno()],
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        env={**os.environ, "PYTHONPATH": path, "TMPDIR": folder},
    )
