"""Worker processes that hold the games, so that a crash of a game only costs a replay."""

import asyncio
import itertools
import time
from collections.abc import Sequence
from contextlib import suppress

import msgspec

from balrog_rag.contracts.data import Burst, Call, GameSpec, ProgramPlayer, Transition
from balrog_rag.contracts.errors import EnvironmentFailure, WorkerLost
from balrog_rag.util.child_processes import available_cores
from balrog_rag.util.stopping import being_cancelled
from balrog_rag.workers.framing import (
    ActionsPlayed,
    Close,
    Copied,
    Copy,
    GameOpened,
    Open,
    PlayActions,
    RunProgram,
)
from balrog_rag.workers.worker_process import WorkerProcess

GAME_MEGABYTES = 8
"""Allowance per game: more than a healthy game uses, so that many games do not look like a leak."""
WEIGH_SECONDS = 2.0
"""Seconds between two memory checks of the workers, if there is a cap."""
END_SECONDS = 0.1
"""Seconds after a check before the end of a game causes another, since many games can end at once."""
GAMES_A_WORKER = 2000
"""Games after which a worker is replaced, since each leaks a little memory."""
START_ATTEMPTS = 3
"""Consecutive workers that may die during startup before the pool gives up."""


class PooledGame:
    """A game in a worker process."""

    def __init__(self, pool: "WorkerPool", worker: WorkerProcess, number: int, opened: GameOpened) -> None:
        self.view = opened.view
        self.start = opened.start
        self.arrays = opened.arrays
        """The arrays that it was opened with, as they are after the last actions."""
        self._pool, self._worker, self._number = pool, worker, number
        self._open = True

    async def play(self, actions: Sequence[str | Call]) -> Sequence[Transition]:
        """Take the actions in order, up to the end of the game."""
        answer = await self._worker.ask(PlayActions(self._number, list(actions)))
        assert isinstance(answer, ActionsPlayed)
        self.arrays = answer.arrays
        return answer.transitions

    async def run(self, player: ProgramPlayer, most: int, recorded: Burst | None = None) -> Transition:
        """Let a program press up to `most` keys, or those recorded; the next call continues it."""
        plain = ProgramPlayer(player.name, msgspec.to_builtins(player.options), player.seed, player.since)
        answer = await self._worker.ask(RunProgram(self._number, plain, most, recorded))
        assert isinstance(answer, ActionsPlayed)
        return answer.transitions[0]

    async def copy(self) -> "PooledGame | None":
        """Return a copy that plays on from this moment; None if games like it cannot be copied."""
        number = self._pool.new_number()
        self._worker.games += 1
        try:
            answer = await self._worker.ask(Copy(number, self._number))
        except BaseException:
            self._worker.games -= 1
            self._worker.send(Close(number))
            raise
        assert isinstance(answer, Copied)
        if not answer.done:
            self._worker.games -= 1
            return None
        return PooledGame(self._pool, self._worker, number, GameOpened(self.view, self.start))

    async def close(self) -> None:
        """End the game and free its place; a lost worker has already freed everything."""
        if not self._open:
            return
        self._open = False
        try:
            if being_cancelled():  # an immediate stop must not wait for a worker that may hang
                self._worker.send(Close(self._number))
            else:
                await self._worker.ask(Close(self._number))
        except WorkerLost:
            return
        finally:
            self._worker.games -= 1
            self._pool.given_back(self._worker)
        self._pool.weigh_after_end(self._worker)


class WorkerPool:
    """A fixed number of processes, each with many games; a new game goes to the least loaded."""

    def __init__(
        self,
        workers: int = 0,
        step_deadline: float = 60.0,
        memory_mb: int | None = None,
        games_a_worker: int = GAMES_A_WORKER,
    ) -> None:
        """`workers`: 0 means one per core; never more than `most_workers()`.

        A worker gets no new games when it holds more than `memory_mb` or has opened `games_a_worker`.
        """
        self.size = min(workers or available_cores(), most_workers())
        self._deadline = step_deadline
        self._memory_mb = memory_mb
        self._games_a_worker = games_a_worker
        self._workers: list[WorkerProcess] = []
        self._numbers = itertools.count()
        self._failures = 0
        self._weighing: asyncio.TimerHandle | None = None
        self._closed = False

    async def start(self, games: int = 1) -> None:
        """Start up to `games` processes, at most all of them, without waiting until they are ready.

        A short run on a large machine needs few; more are started once there are games for them.
        """
        for _ in range(min(self.size, games) - len(self._serving())):
            self._spawn()
        if self._memory_mb is not None and self._weighing is None:
            self._weigh_all()

    async def open(
        self, spec: GameSpec, ttyrec: str | None = None, arrays: tuple[str, ...] = ()
    ) -> PooledGame:
        """Start a game in the least loaded worker; `arrays` are sent along with its transitions."""
        worker = await self._ready_worker()
        number = self.new_number()
        worker.games += 1
        try:
            answer = await worker.ask(Open(number, spec, ttyrec, arrays))
        except BaseException:  # including cancellation: the worker must not keep a game that no one owns
            worker.games -= 1
            worker.send(Close(number))
            raise
        assert isinstance(answer, GameOpened)
        worker.opened += 1
        if worker.opened >= self._games_a_worker:
            self._retire(worker)
        return PooledGame(self, worker, number, answer)

    def new_number(self) -> int:
        """Return a number for a game that no other has had."""
        return next(self._numbers)

    def kill(self) -> None:
        """End all processes at once, without waiting until they have closed their games."""
        self._closed = True
        if self._weighing is not None:
            self._weighing.cancel()
        for worker in self.workers:
            worker.kill("was closed")

    async def close(self) -> None:
        """End all processes."""
        if being_cancelled():
            self.kill()
        self._closed = True
        if self._weighing is not None:
            self._weighing.cancel()
        await asyncio.gather(*(worker.end() for worker in list(self._workers)))

    @property
    def workers(self) -> Sequence[WorkerProcess]:
        """The processes that are alive now."""
        return tuple(self._workers)

    def weigh(self, worker: WorkerProcess) -> None:
        """Retire a worker that uses too much memory; kill one that keeps growing."""
        if self._memory_mb is None or self._closed:
            return
        worker.weighed = time.monotonic()
        megabytes = worker.megabytes()
        if megabytes > 2 * self._memory_mb + GAME_MEGABYTES * worker.games:
            worker.kill(f"held {megabytes} MB, more than twice runner.worker_memory, and was killed")
        elif megabytes > self._memory_mb:
            self._retire(worker)

    def weigh_after_end(self, worker: WorkerProcess) -> None:
        """Weigh a worker of which a game has ended, unless it was weighed just now."""
        if time.monotonic() - worker.weighed > END_SECONDS:
            self.weigh(worker)

    def _retire(self, worker: WorkerProcess) -> None:
        """Give a worker no new games; it ends after its last one."""
        if worker.retiring or self._closed:
            return
        worker.retiring = True
        self._replace()
        self.given_back(worker)

    def _weigh_all(self) -> None:
        self._weighing = asyncio.get_running_loop().call_later(WEIGH_SECONDS, self._weigh_all)
        for worker in self.workers:
            self.weigh(worker)

    def given_back(self, worker: WorkerProcess) -> None:
        """End a retiring worker after its last game."""
        if worker.retiring and not worker.games:
            worker.kill("was retired")

    def _serving(self) -> list[WorkerProcess]:
        return [worker for worker in self._workers if not worker.retiring]

    def _least_loaded(self) -> WorkerProcess:
        serving = self._serving()
        least = min(serving, key=lambda worker: worker.games)
        return self._spawn() if least.games and len(serving) < self.size else least

    def _spawn(self) -> WorkerProcess:
        try:
            worker = WorkerProcess(self._deadline, self._lost)
        except OSError as error:
            raise EnvironmentFailure(f"a game worker cannot be started: {error}") from error
        self._workers.append(worker)
        return worker

    def _lost(self, worker: WorkerProcess) -> None:
        """Replace a worker that died, unless workers repeatedly die during startup."""
        self._workers.remove(worker)
        # A worker that died while playing proves that workers can start: only startup failures add up.
        self._failures = 0 if worker.was_ready else self._failures + 1
        if not self._closed and not worker.retiring and self._failures < START_ATTEMPTS:
            self._replace()

    def _replace(self) -> None:
        """Start another worker; if that fails, the next game to open tries again."""
        with suppress(EnvironmentFailure):
            self._spawn()

    async def _ready_worker(self) -> WorkerProcess:
        for _ in range(START_ATTEMPTS * (self.size + 1)):
            if self._closed:
                raise EnvironmentFailure("the game workers have been closed")
            # None is left: a new game is a new attempt, whatever failed before.
            if not self._serving():
                self._failures = 0
                await self.start()
            worker = self._least_loaded()
            worker.games += 1  # reserves the place, or all games that wait now would pick this worker
            try:
                if await worker.ready():
                    self._failures = 0
                    return worker
            finally:
                worker.games -= 1
            if self._failures >= START_ATTEMPTS:
                raise EnvironmentFailure(f"game workers cannot start: {worker.last_words()}")
        raise EnvironmentFailure("game workers die right after starting, before a game can be opened")


WORKERS_PER_CORE = 8
"""More processes than that only cost memory: a running game uses a whole core."""


def most_workers() -> int:
    """Return the most game processes on this machine, whatever the settings say."""
    return WORKERS_PER_CORE * available_cores()
