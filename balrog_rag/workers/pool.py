"""Worker processes that hold the games, so that a crash of a game costs a replay and nothing else."""

import asyncio
import itertools
import os
from collections.abc import Sequence
from contextlib import suppress

import msgspec

from balrog_rag.contracts.data import Burst, GameSpec, ProgramPlayer, Transition
from balrog_rag.contracts.errors import EnvironmentFailure, WorkerLost
from balrog_rag.util.stopping import being_cancelled
from balrog_rag.workers.framing import ActionsPlayed, Close, Open, Opened, PlayActions, RunProgram
from balrog_rag.workers.worker_process import WorkerProcess

GAME_MEGABYTES = 8
"""More than a sound game takes: many of them in one worker are no leak."""
WEIGH_SECONDS = 2.0
"""How often workers at play are weighed, where there is a cap."""
GAMES_A_WORKER = 2000
"""Games after which a worker gives way to a fresh one, since each leaves a little memory behind."""
START_ATTEMPTS = 3
"""Workers that may die while they start, one after the other, before none can be had."""


class PooledGame:
    """A game in a worker process."""

    def __init__(self, pool: "WorkerPool", worker: WorkerProcess, number: int, opened: Opened) -> None:
        self.view = opened.view
        self.start = opened.start
        self._pool, self._worker, self._number = pool, worker, number
        self._open = True

    async def play(self, actions: Sequence[str]) -> Sequence[Transition]:
        """Take the actions one after the other; stops early where the game ends."""
        answer = await self._worker.ask(PlayActions(self._number, list(actions)))
        assert isinstance(answer, ActionsPlayed)
        return answer.transitions

    async def run(self, player: ProgramPlayer, most: int, recorded: Burst | None = None) -> Transition:
        """Let a program play on, for so many presses at most, or as recorded; goes on where it stopped."""
        plain = ProgramPlayer(player.name, msgspec.to_builtins(player.options), player.seed, player.since)
        answer = await self._worker.ask(RunProgram(self._number, plain, most, recorded))
        assert isinstance(answer, ActionsPlayed)
        return answer.transitions[0]

    async def close(self) -> None:
        """End the game and give its place back; of a lost worker there is nothing to give back."""
        if not self._open:
            return
        self._open = False
        try:
            if being_cancelled():  # who stops at once does not wait for a worker that may hang
                self._worker.tell(Close(self._number))
            else:
                await self._worker.ask(Close(self._number))
        except WorkerLost:
            return
        finally:
            self._worker.games -= 1
            self._pool.given_back(self._worker)
        self._pool.weigh(self._worker)


class WorkerPool:
    """Some processes, each with many games; a new game goes where there are fewest."""

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
        """Start a process for each of so many games, up to all; they get ready while something else is done.

        A short run on a large machine needs few. Further ones are started when there are games for them.
        """
        for _ in range(min(self.size, games) - len(self._serving())):
            self._spawn()
        if self._memory_mb is not None and self._weighing is None:
            self._weigh_all()

    async def open(self, spec: GameSpec, ttyrec: str | None = None) -> PooledGame:
        """Start a game in the least loaded worker."""
        worker = await self._ready_worker()
        number = next(self._numbers)
        worker.games += 1
        try:
            answer = await worker.ask(Open(number, spec, ttyrec))
        except BaseException:  # whatever ends the wait, a cancelled task above all
            worker.games -= 1
            worker.tell(Close(number))
            raise
        assert isinstance(answer, Opened)
        worker.opened += 1
        if worker.opened >= self._games_a_worker:
            self._retire(worker)
        return PooledGame(self, worker, number, answer)

    async def close(self) -> None:
        """End all processes."""
        self._closed = True
        if self._weighing is not None:
            self._weighing.cancel()
        if being_cancelled():
            for worker in self.workers:
                worker.kill("was closed")
        await asyncio.gather(*(worker.end() for worker in list(self._workers)))

    @property
    def workers(self) -> Sequence[WorkerProcess]:
        """The processes that live now."""
        return tuple(self._workers)

    def weigh(self, worker: WorkerProcess) -> None:
        """Take a worker that grew too big out of service; one that goes on growing is killed."""
        if self._memory_mb is None or self._closed:
            return
        megabytes = worker.megabytes()
        if megabytes > 2 * self._memory_mb + GAME_MEGABYTES * worker.games:
            worker.kill(f"held {megabytes} MB, more than twice runner.worker_memory, and was killed")
        elif megabytes > self._memory_mb:
            self._retire(worker)

    def _retire(self, worker: WorkerProcess) -> None:
        """Give a worker no new games; its last game ends it."""
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
        """A retiring worker's last game ends it."""
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
        """A worker is gone: put another in its place at once, unless they cannot even start."""
        self._workers.remove(worker)
        self._failures = 0 if worker.was_ready else self._failures + 1
        if not self._closed and not worker.retiring and self._failures < START_ATTEMPTS:
            self._replace()

    def _replace(self) -> None:
        """Start another worker; where none can be started now, the next game to open tries again."""
        with suppress(EnvironmentFailure):
            self._spawn()

    async def _ready_worker(self) -> WorkerProcess:
        for _ in range(START_ATTEMPTS * (self.size + 1)):
            if self._closed:
                raise EnvironmentFailure("the game workers have been closed")
            if not self._serving():
                self._failures = 0
                await self.start()
            worker = self._least_loaded()
            worker.games += 1  # holds the place while it starts
            try:
                if await worker.ready():
                    self._failures = 0
                    return worker
            finally:
                worker.games -= 1
            if self._failures >= START_ATTEMPTS:
                raise EnvironmentFailure(f"game workers cannot start: {worker.last_words()}")
        raise EnvironmentFailure("game workers start and die again before a game can be opened")


WORKERS_PER_CORE = 8
"""Processes beyond that only cost memory: games use a whole core while they play."""


def most_workers() -> int:
    """The most game processes on this machine, whatever the settings say."""
    return WORKERS_PER_CORE * available_cores()


def available_cores() -> int:
    """The cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
