"""Replay the beginning that several forked episodes share only once, and copy the game there.

Episodes that were forked from one game at the same step have the same recorded beginning, so their play loops
give the game the same orders until then. The first one's are carried out and their results kept; the others
are given those results. At the fork each continues in a copy of the game.
"""

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import msgspec

from balrog_rag.contracts.behaviour import RunningGame
from balrog_rag.contracts.data import Burst, Call, GameSpec, ProgramPlayer, Transition, digest
from balrog_rag.episode.spec import EpisodeSpec
from balrog_rag.workers.pool import PooledGame, WorkerPool

MOST_HELD = 32
"""Games that are kept at a fork for episodes that have not begun; of more the oldest is given up."""


class ForkPoint(NamedTuple):
    """What forked episodes can share: a game and the step of the last fork."""

    game: str
    at: int

    @classmethod
    def of(cls, spec: EpisodeSpec) -> "ForkPoint | None":
        """Return the beginning of an episode; None if it was not forked."""
        at = max((fork.at for fork in spec.forks), default=0)
        return cls(digest(msgspec.json.encode(spec.game, order="sorted")), at) if at else None


class PlayOrder(NamedTuple):
    """Actions to take."""

    actions: Sequence[str | Call]

    async def given_to(self, game: RunningGame) -> Sequence[Transition]:
        """Carry it out."""
        return await game.play(self.actions)

    @property
    def steps(self) -> int:
        """Steps that it takes at most."""
        return len(self.actions)


class RunOrder(NamedTuple):
    """Recorded keys to press."""

    player: ProgramPlayer
    most: int
    recorded: Burst

    async def given_to(self, game: RunningGame) -> Sequence[Transition]:
        """Carry it out."""
        return [await game.run(self.player, self.most, self.recorded)]

    @property
    def steps(self) -> int:
        """Steps that it takes."""
        return self.recorded.presses


Order = PlayOrder | RunOrder


class SharedPrefixes:
    """Opens the games of one process's runs; forked episodes with a beginning in common share its replay."""

    def __init__(self, pool: WorkerPool) -> None:
        self._pool = pool
        self._wanted: Counter[ForkPoint] = Counter()
        self._trunks: dict[ForkPoint, Trunk] = {}
        self.replayed = 0
        """Beginnings that were replayed."""
        self.copied = 0
        """Episodes that continued in a copy."""

    def expect(self, specs: Sequence[EpisodeSpec]) -> None:
        """Count the episodes of each beginning."""
        self._wanted.update(beginning for spec in specs if (beginning := ForkPoint.of(spec)))

    async def open(self, spec: EpisodeSpec) -> RunningGame:
        """Open the game of an episode."""
        beginning = ForkPoint.of(spec)
        if beginning is None or (self._wanted[beginning] < 2 and beginning not in self._trunks):
            return await self._pool.open(spec.game)
        trunk = self._trunks.pop(beginning, None)
        if trunk is None or trunk.lost:
            trunk = Trunk(self, beginning, spec.game)
        self._trunks[beginning] = trunk  # the last one is the newest
        while len(self._trunks) > MOST_HELD:
            await self._give_up(next(iter(self._trunks)))
        return await trunk.joined()

    def left(self, beginning: ForkPoint) -> bool:
        """Count an episode that needs its beginning no more; return whether others do."""
        self._wanted[beginning] -= 1
        if self._wanted[beginning] > 0:
            return True
        self._trunks.pop(beginning, None)
        return False

    async def opened(self, spec: GameSpec) -> PooledGame:
        """Open a game of its own."""
        return await self._pool.open(spec)

    async def _give_up(self, beginning: ForkPoint) -> None:
        await self._trunks.pop(beginning).close()


class Trunk:
    """A game that is replayed to a fork for several episodes."""

    def __init__(self, source: SharedPrefixes, beginning: ForkPoint, spec: GameSpec) -> None:
        self.source, self.spec, self.at = source, spec, beginning.at
        self.orders: list[tuple[Order, Sequence[Transition]]] = []
        """What the game was told so far, and what came of it."""
        self.lost = False
        self._beginning = beginning
        self._game: PooledGame | None = None
        self._lock = asyncio.Lock()

    async def joined(self) -> "SharedGame":
        """Return the game as one more episode sees it."""
        async with self._lock:
            if self._game is None:
                self._game = await self.source.opened(self.spec)
                self.source.replayed += 1
            return SharedGame(self, self._game)

    async def result(self, number: int, order: Order) -> Sequence[Transition] | None:
        """Return what comes of the order of that number; None if the game was told something else."""
        async with self._lock:
            if number == len(self.orders):
                if self._game is None or self.lost:
                    return None
                with self._losing():
                    self.orders.append((order, await order.given_to(self._game)))
            given, result = self.orders[number]
            return result if given == order else None

    async def branch(self) -> PooledGame | None:
        """Return a game that stands at the fork: a copy, or for the last episode the game itself."""
        async with self._lock:
            game, others = self._game, self.source.left(self._beginning)
            if game is None or self.lost:
                return None
            if others:
                with self._losing():
                    copy = await game.copy()
                if copy is not None:
                    self.source.copied += 1
                    return copy
            # It cannot be copied, or it is the last one's: the others replay by themselves.
            self._game = None
            return game

    @contextmanager
    def _losing(self) -> Iterator[None]:
        """Share the game no more if an order fails or is cancelled: nobody knows what became of it."""
        try:
            yield
        except BaseException:
            self.lost = True
            raise

    async def close(self) -> None:
        """End the game; episodes that still need it replay by themselves."""
        async with self._lock:
            game, self._game = self._game, None
        if game is not None:
            await game.close()

    async def abandoned(self) -> None:
        """Handle an episode that ended before its fork, or took another way to it."""
        if not self.source.left(self._beginning):
            await self.close()


class SharedGame:
    """A running game of one of those episodes."""

    def __init__(self, trunk: Trunk, seen: PooledGame) -> None:
        self.view, self.start = seen.view, seen.start
        self._trunk = trunk
        self._own: PooledGame | None = None
        self._given: list[Order] = []
        self._steps = 0

    async def play(self, actions: Sequence[str | Call]) -> Sequence[Transition]:
        """Take the actions in order, up to the end of the game."""
        if self._own is not None:
            return await self._own.play(actions)
        return await self._ordered(PlayOrder(actions))

    async def run(self, player: ProgramPlayer, most: int, recorded: Burst | None = None) -> Transition:
        """Let a program press up to `most` keys, or those recorded; the next call continues it."""
        if self._own is None and recorded is not None and recorded.keys:
            return (await self._ordered(RunOrder(player, most, recorded)))[0]
        return await (await self._separated()).run(player, most, recorded)

    async def close(self) -> None:
        """End the game."""
        if self._own is not None:
            await self._own.close()
        else:
            await self._trunk.abandoned()

    async def _ordered(self, order: Order) -> Sequence[Transition]:
        if self._steps + order.steps <= self._trunk.at:
            result = await self._trunk.result(len(self._given), order)
            if result is not None:
                self._given.append(order)
                self._steps += order.steps
                return result
        return await order.given_to(await self._separated())

    async def _separated(self) -> PooledGame:
        """Return the game in which this episode continues."""
        if self._own is None and self._steps == self._trunk.at:
            self._own = await self._trunk.branch()
        elif self._own is None:
            await self._trunk.abandoned()
        if self._own is None:
            self._own = await self._trunk.source.opened(self._trunk.spec)
            for order in self._given:
                await order.given_to(self._own)
        return self._own


def all_forked(specs: Sequence[EpisodeSpec]) -> bool:
    """Whether a run consists of forked episodes: such runs are played state by state, to share beginnings."""
    return bool(specs) and all(spec.forks for spec in specs)
