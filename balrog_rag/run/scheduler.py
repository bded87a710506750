"""The scheduler: all episodes of a run in one event loop, a limited number at once, isolated errors."""

import asyncio
import heapq
import itertools
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

import msgspec

from balrog_rag.contracts.behaviour import Watcher
from balrog_rag.contracts.errors import BalrogError, ModelRefused, RunFolderError
from balrog_rag.contracts.events import Troubled
from balrog_rag.episode.effects import Stopped
from balrog_rag.episode.journal import End
from balrog_rag.episode.spec import EpisodeSpec


class Tally(msgspec.Struct):
    """What became of the episodes of a run."""

    ended: dict[str, End] = {}
    failed: dict[str, BalrogError] = {}
    """Episodes ended by an error; their journals remain."""
    open: list[str] = []
    """Episodes not started, or stopped by the user."""
    fatal: BalrogError | None = None
    """The error that stopped the whole run."""
    notes: list[str] = []
    """What the user should know at the end."""

    @property
    def complete(self) -> bool:
        """Whether every episode has ended."""
        return not self.failed and not self.open and self.fatal is None


class EpisodeSlots:
    """A limit on concurrent episodes that can be changed during play; once stopping, it admits none."""

    def __init__(self, width: int, most: int | None = None) -> None:
        """`most` is an upper bound for every later width."""
        self.most = most
        self.width = self._bounded(width)
        self.stopping = False
        self.paused = False
        self.inside = 0
        self._resumed, self._stopped = asyncio.Event(), asyncio.Event()
        self._queue: list[tuple[int, int, asyncio.Future[bool]]] = []
        self._numbers = itertools.count()

    async def enter(self, rank: int = 0) -> bool:
        """Wait for a slot, lower ranks first; return False if the run is stopping."""
        turn: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._queue, (rank, next(self._numbers), turn))
        self._let_in()
        try:
            return await turn
        except asyncio.CancelledError:
            # Cancelled after its turn had come: the slot is already counted and would be lost for good.
            if turn.done() and not turn.cancelled() and turn.result():
                self.leave()
            raise

    async def hold(self, seconds: float = 0.0) -> None:
        """Wait `seconds`, and as long as the run is paused; raise Stopped if it stops meanwhile."""
        if seconds > 0:
            await passes(seconds, self._stopped)
        while self.paused and not self.stopping:
            await self._resumed.wait()
        if self.stopping:
            raise Stopped

    def leave(self) -> None:
        """Release the slot."""
        self.inside -= 1
        self._let_in()

    def change(
        self, *, width: int | None = None, paused: bool | None = None, stopping: bool | None = None
    ) -> None:
        """Change the given properties."""
        self.width = self._bounded(width if width is not None else self.width)
        self.paused = paused if paused is not None else self.paused
        # Stopping is final: a width or a pause changed by a key afterwards must not restart the run.
        self.stopping = self.stopping or bool(stopping)
        if self.stopping:
            self._stopped.set()
        if self.paused and not self.stopping:
            self._resumed.clear()
        else:
            self._resumed.set()
        self._let_in()

    def _bounded(self, width: int) -> int:
        return max(1, width if self.most is None else min(width, self.most))

    def _let_in(self) -> None:
        while self._queue and (self.stopping or (not self.paused and self.inside < self.width)):
            turn = heapq.heappop(self._queue)[2]
            # A cancelled waiter stays in the heap until its turn; skip it without counting a slot.
            if not turn.done():
                self.inside += not self.stopping
                turn.set_result(not self.stopping)


async def passes(seconds: float, stopped: asyncio.Event) -> None:
    """Wait `seconds`, or until `stopped` is set."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await stopped.wait()


async def play_all(
    specs: Sequence[EpisodeSpec],
    player: Callable[[EpisodeSpec], Awaitable[End]],
    gate: EpisodeSlots,
    tally: Tally,
    watcher: Watcher,
    rank: int | None = 0,
) -> None:
    """Play every episode that has not ended; an error ends its own episode, or the run if all would fail.

    Several runs may share a gate; lower ranks go first. None: an episode's place in its run is its rank.
    """
    # One iterator for all coroutines: each takes the next episode, none is played twice.
    waiting = ((place, spec) for place, spec in enumerate(specs) if spec.episode not in tally.ended)

    async def seat() -> None:
        for place, spec in waiting:
            if not await gate.enter(place if rank is None else rank):
                # No `break`: the remaining episodes must be counted as open, too.
                tally.open.append(spec.episode)
                continue
            try:
                await _play_one(spec, player, tally, watcher)
            finally:
                gate.leave()

    seats = max(gate.width, MOST_SEATS)
    async with asyncio.TaskGroup() as group:
        for _ in range(min(seats, len(specs))):
            group.create_task(seat())


MOST_SEATS = 1024
"""Coroutines that wait for a slot, so that the width can be raised during a run."""


async def _play_one(
    spec: EpisodeSpec, player: Callable[[EpisodeSpec], Awaitable[End]], tally: Tally, watcher: Watcher
) -> None:
    if tally.fatal is not None:
        tally.open.append(spec.episode)
        return
    try:
        tally.ended[spec.episode] = await player(spec)
    except Stopped:
        tally.open.append(spec.episode)
    # A refused model or an unwritable folder fails every other episode too; do not pay to find out.
    except (ModelRefused, RunFolderError) as error:
        tally.fatal = tally.fatal or error
        tally.open.append(spec.episode)
        _report(watcher, spec, error)
    except BalrogError as error:
        tally.failed[spec.episode] = error
        _report(watcher, spec, error)


def _report(watcher: Watcher, spec: EpisodeSpec, error: BalrogError) -> None:
    with suppress(RunFolderError):  # the log itself may be the file that cannot be written
        trace = getattr(error, "trace", "")
        watcher.see(Troubled(spec.episode, type(error).__name__, str(error), again=False, trace=trace))
