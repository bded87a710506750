"""One node of a cluster: the play loop with its own workers, models and indexes, but no run folder."""

import asyncio
import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from pathlib import Path

import msgspec

from balrog_rag.cluster import ray_messages as words
from balrog_rag.config.frozen import thaw, tree_digest
from balrog_rag.config.schema import RunnerConfig
from balrog_rag.contracts.behaviour import Model
from balrog_rag.contracts.data import Purpose, Reply
from balrog_rag.contracts.errors import BalrogError, LimitReached
from balrog_rag.contracts.events import Ended, Event
from balrog_rag.episode import journal
from balrog_rag.episode.effects import JournalCursor, Stopped
from balrog_rag.episode.journal import End, Entry
from balrog_rag.episode.play import EpisodeContext, play
from balrog_rag.episode.spec import PlayerSpec
from balrog_rag.models.client import RemoteModel
from balrog_rag.models.pace import Pace, Slot
from balrog_rag.run.scheduler import passes
from balrog_rag.run.services import LiveServices
from balrog_rag.workers.framing import WorkFailed
from balrog_rag.workers.pool import WorkerPool

LOOK_SECONDS = 0.5


class Line:
    """Outgoing messages, sent in packets of all that have accumulated."""

    def __init__(self) -> None:
        self._words: list[words.Word] = []
        self._said = asyncio.Event()

    def say(self, word: words.Word) -> None:
        """Queue a message."""
        self._words.append(word)
        self._said.set()

    async def packets(self) -> AsyncIterator[bytes]:
        """Yield packets of queued messages, forever."""
        while True:
            await self._said.wait()
            self._said.clear()
            gathered, self._words = self._words, []
            yield words.pack(gathered)


class NodeEpisode:
    """One episode on this node: its journal, its meter, and the driver's orders for it."""

    def __init__(self, episode: str, line: Line, limit: words.Limit | None) -> None:
        self.episode, self.limit = episode, limit
        self.stopped = asyncio.Event()
        self.asking: asyncio.Future[None] | None = None
        """The place that its call waits for."""
        self._line = line
        self._written = self._safe = 0
        self._settled = asyncio.Event()

    async def hold(self, seconds: float = 0.0) -> None:
        """Wait `seconds`; raise Stopped if the driver stops the episode meanwhile."""
        if seconds > 0:
            await passes(seconds, self.stopped)
        if self.stopped.is_set():
            raise Stopped

    def stop(self) -> None:
        """Start nothing new, and stop waiting for a call's place."""
        self.stopped.set()
        if self.asking is not None and not self.asking.done():
            self.asking.set_result(None)

    def append(self, entry: Entry) -> None:
        """Send an entry to the driver's disk."""
        self._written += 1
        self._line.say(words.Wrote(self.episode, journal.encode(entry)))

    async def settle(self) -> None:
        """Wait until the driver has written everything."""
        while self._safe < self._written:
            self._settled.clear()
            await self._settled.wait()

    def safe(self, entries: int, limit: words.Limit | None) -> None:
        """Record how many entries the driver has written, and its caps."""
        self._safe, self.limit = max(self._safe, entries), limit
        self._settled.set()

    def admit(self) -> None:
        """Raise LimitReached if the driver reported that a cap leaves no room."""
        if self.limit:
            raise LimitReached(self.limit.name, self.limit.of_run)

    def charge(self, reply: Reply, purpose: Purpose) -> None:
        """Do nothing: the driver counts, and keeps the caps of all nodes together."""


playing: ContextVar[NodeEpisode] = ContextVar("playing")
"""The episode that this task plays: models are shared, but a stop is meant for one episode."""


async def hold_own(seconds: float = 0.0) -> None:
    """Hold as the calling task's episode does."""
    await playing.get().hold(seconds)


class Teller:
    """Forwards the events of one episode to the driver."""

    def __init__(self, part: str, line: Line) -> None:
        """`part` is the driver's name for the episode."""
        self._part, self._say = part, line.say

    def see(self, event: Event) -> None:
        """Forward an event; the driver derives the end from the journal's last entry, once it is safe."""
        if not isinstance(event, Ended):
            self._say(words.Saw(self._part, event))


class CallSlot(Slot):
    """A call with its number at the driver."""

    over: words.Used
    """The report sent when it ends."""


class SharedPace(Pace):
    """A model's pace, kept by the driver for all nodes together."""

    def __init__(self, model: str, line: Line) -> None:
        super().__init__(concurrency=1)
        self._model, self._line = model, line
        self._numbers = itertools.count()
        self._asking: dict[int, asyncio.Future[None]] = {}
        self.hold = hold_own

    @asynccontextmanager
    async def slot(self, tokens: int) -> AsyncIterator[Slot]:
        """Wait for a place for one call from the driver."""
        number = next(self._numbers)
        granted = self._asking[number] = asyncio.get_running_loop().create_future()
        playing.get().asking = granted
        slot = CallSlot(asyncio.get_running_loop().time(), tokens, words.Used(self._model, number))
        self._line.say(words.Needed(self._model, number, tokens))
        try:
            await granted
            await self.hold()
            yield slot
        finally:
            del self._asking[number]
            self._line.say(slot.over)

    def granted(self, number: int) -> None:
        """Handle the driver's answer."""
        if number in self._asking and not self._asking[number].done():
            self._asking[number].set_result(None)

    def used(self, slot: Slot, tokens: int) -> None:
        """Record the call's real tokens."""
        assert isinstance(slot, CallSlot)
        slot.over.tokens = tokens

    def rate_limited(self, slot: Slot, retry_after: float | None) -> None:
        """Record that the provider's rate limit was reached."""
        assert isinstance(slot, CallSlot)
        slot.over.rate_limited, slot.over.retry_after = True, retry_after


class NodeServices(LiveServices):
    """The models of a node, paced by the driver."""

    def __init__(self, line: Line) -> None:
        super().__init__()
        self._line = line
        self.paces: dict[str, SharedPace] = {}

    def model(self, player: PlayerSpec) -> Model | None:
        """Return the model, shared by all episodes of the node."""
        model = super().model(player)
        if isinstance(model, RemoteModel) and not isinstance(model.pace, SharedPace):
            name = model_name(player)
            model.pace = self.paces[name] = SharedPace(name, self._line)
        return model

    def asking(self) -> words.Asking:
        """Return troubles and retries of the models."""
        return words.Asking(
            {name: why for name in self.paces if (why := self.trouble_at(name))}, self.retried()
        )


class Node:
    """The actor that lives on a node during a run, called through Ray."""

    def __init__(self, runner: bytes) -> None:
        """`runner`: the runner's settings as JSON."""
        settings = thaw(msgspec.json.decode(runner), RunnerConfig)
        self._pool = WorkerPool(settings.workers, settings.step_deadline, settings.worker_memory)
        self._parts: dict[str, tuple[NodeEpisode, asyncio.Task[None]]] = {}
        self._line = Line()
        self._services = NodeServices(self._line)

    async def start(self) -> None:
        """Start what needs the event loop."""
        await self._pool.start()
        self._looking = asyncio.ensure_future(self._look())

    async def _look(self) -> None:
        """Report the models' troubles whenever they change, since the driver sees only finished calls."""
        reported = words.Asking({}, 0)
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            if (found := self._services.asking()) != reported:
                reported = found
                self._line.say(found)

    async def talk(self) -> AsyncIterator[bytes]:
        """Yield everything the node has to report, packet by packet."""
        async for packet in self._line.packets():
            yield packet

    async def hear(self, packet: bytes) -> None:
        """Handle orders and answers from the driver."""
        for order in words.unpack_orders(packet):
            self._obey(order)

    def _obey(self, order: words.Order) -> None:
        if isinstance(order, words.PlayEpisode):
            part = NodeEpisode(order.episode, self._line, order.limit)
            self._parts[order.episode] = part, asyncio.ensure_future(self._play(part, order))
        elif isinstance(order, words.Granted):
            self._services.paces[order.model].granted(order.call)
        elif order.episode in self._parts:
            part, task = self._parts[order.episode]
            if isinstance(order, words.Safe):
                part.safe(order.entries, order.limit)
            elif isinstance(order, words.Stop):
                part.stop()
            else:
                task.cancel()

    async def _play(self, part: NodeEpisode, order: words.PlayEpisode) -> None:
        playing.set(part)
        try:
            await self._perform(part, order)
        except Stopped:
            self._line.say(words.Broken(part.episode, WorkFailed("Stopped", "")))
        except BalrogError as error:
            self._line.say(words.Broken(part.episode, WorkFailed.of(error)))
        except Exception as error:  # noqa: BLE001 - unreported, the driver would wait forever
            self._line.say(
                words.Broken(part.episode, WorkFailed("EnvironmentFailure", f"{part.episode}: {error!r}"))
            )
        finally:
            del self._parts[part.episode]

    async def _perform(self, part: NodeEpisode, order: words.PlayEpisode) -> End:
        spec = order.spec
        recording = journal.parse(order.journal, Path(f"{part.episode} on a node"))
        cursor = JournalCursor(recording, part)
        # See JournaledPlayer: the cursor frees what it has replayed.
        del recording
        game = await self._pool.open(spec.game)
        try:
            watcher = Teller(part.episode, self._line)
            context = EpisodeContext(spec, game, cursor, self._services, part, watcher, part.stopped.is_set)
            return await play(context)
        finally:
            await game.close()

    async def close(self) -> None:
        """End the workers and close models and indexes."""
        self._looking.cancel()
        await self._pool.close()
        await self._services.close()


def model_name(player: PlayerSpec) -> str:
    """Return a name for a model's settings, so that all nodes share one pace."""
    return tree_digest(player.model)
