"""runner.backend=ray: nodes of a cluster play, this process keeps the journals, the caps and the pace.

One actor on each node runs the play loop with workers, models and indexes of its own. Whatever an
episode writes comes here, is written to the one run folder, and is acknowledged before its agent goes on.
When a node dies, its episodes are played again elsewhere from what is written here.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, redirect_stdout
from typing import Any

from balrog_rag.cluster import ray_messages as words
from balrog_rag.cluster.ray_cluster import connect, disconnect, make_node, nodes_alive, said_by_ray
from balrog_rag.cluster.ray_node import model_name
from balrog_rag.config.schema import RunnerConfig
from balrog_rag.contracts.behaviour import Meter, Watcher
from balrog_rag.contracts.errors import (
    BalrogError,
    EnvironmentFailure,
    LimitReached,
    WorkerLost,
)
from balrog_rag.contracts.events import Ended
from balrog_rag.episode import journal
from balrog_rag.episode.effects import JournalCursor, Stopped
from balrog_rag.episode.journal import Completion, End
from balrog_rag.episode.spec import EpisodeSpec
from balrog_rag.models.budget import RunBudget
from balrog_rag.models.pace import Pace
from balrog_rag.results.run_folder import frozen_config, journal_path
from balrog_rag.run.backend import PlannedRun, PlaysEpisode
from balrog_rag.run.episode_runner import JournaledPlayer
from balrog_rag.run.plan import kinds_in
from balrog_rag.run.provenance import versions
from balrog_rag.util.files import LARGE, read_file
from balrog_rag.workers.framing import WorkFailed

LOOK_SECONDS = 0.2
"""How often it is looked whether a run is stopping."""
LOOKS_BETWEEN = 10
"""How many such looks come between two at the nodes of the cluster."""
START_SECONDS = 120.0
"""How long the first node may take to start playing."""
START_ATTEMPTS = 3
"""Actors that may fail to start on a node before it is given up."""


class RemoteEpisode:
    """One episode that a node plays, as this process sees it."""

    def __init__(
        self, name: str, spec: EpisodeSpec, cursor: JournalCursor, meter: Meter, player: "RayPlayer"
    ) -> None:
        self.name, self.spec, self.player = name, spec, player
        self.over: asyncio.Future[End] = asyncio.get_running_loop().create_future()
        self._cursor, self._meter = cursor, meter
        self._written = 0

    def limit(self) -> words.Limit | None:
        """The cap that leaves no room for another call, if one does."""
        try:
            self._meter.admit()
        except LimitReached as reached:
            return words.Limit(reached.limit, reached.of_run)
        return None

    def write(self, line: bytes) -> words.Safe | None:
        """Write an entry; an effect is acknowledged at once, since its agent waits for it."""
        entry = journal.decode(line)
        self._cursor.write(entry)
        self._written += 1
        if isinstance(entry, Completion):
            self._meter.charge(entry.reply, entry.purpose)
        if isinstance(entry, End):
            self.player.watcher.see(Ended(self.spec.episode, entry.outcome, entry.steps, entry.how))
            self.over.set_result(entry)
        elif isinstance(entry, Completion | journal.Lookup):
            return words.Safe(self.name, self._written, self.limit())
        return None

    def cut(self, error: WorkFailed) -> None:
        """The node says that it cannot go on."""
        self.fail(Stopped() if error.kind == "Stopped" else error.error())

    def fail(self, error: Exception) -> None:
        """It is over without an end."""
        if not self.over.done():
            self.over.set_exception(error)


class NodeLine:
    """The line to one node: words come in and are acted on, orders go out."""

    def __init__(self, actor: Any, node: str, paces: dict[str, Pace]) -> None:
        self.node = node
        self.parts: dict[str, RemoteEpisode] = {}
        self.ready = self.lost = False
        self.asking = words.Asking({}, 0)
        """How the models do there."""
        self.why = ""
        self._actor, self._paces = actor, paces
        self._orders: list[words.Order] = []
        self._calls: dict[tuple[str, int], asyncio.Future[words.Used]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._listening = asyncio.ensure_future(self._listen())

    def play(self, part: RemoteEpisode, lines: bytes) -> None:
        """Have an episode played on."""
        self.parts[part.name] = part
        self._order(words.PlayEpisode(part.name, part.spec, lines, part.limit()))
        self._send()

    def stop_what_should(self) -> None:
        """Have nothing new begun in episodes of runs that stop; said until it is heard."""
        for part in self.parts.values():
            if part.player.stopping():
                self._order(words.Stop(part.name))
        self._send()

    def leave(self, part: RemoteEpisode) -> None:
        """An episode is over, here at least."""
        self.parts.pop(part.name, None)
        ended = part.over.done() and not part.over.cancelled() and part.over.exception() is None
        if not self.lost and not ended:
            self._order(words.Drop(part.name))
            self._send()

    def _order(self, order: words.Order) -> None:
        self._orders.append(order)

    def _send(self) -> None:
        if self._orders and not self.lost:
            self._actor.hear.remote(words.pack(self._orders))
        self._orders = []

    async def _listen(self) -> None:
        try:
            await self._actor.start.remote()
            self.ready = True
            async for packet in self._actor.talk.remote():
                for word in words.unpack_words(await packet):
                    self._act(word)
                self._send()
        except Exception as error:  # noqa: BLE001 - whatever it is, episodes there would be waited for in vain
            self._lose(f"node {self.node} was lost: {' '.join(str(error).split())[:200]}")

    def _lose(self, why: str) -> None:
        self.lost, self.why = True, why
        for part in list(self.parts.values()):
            part.fail(WorkerLost(why))
        for call in self._calls.values():
            call.cancel()

    def _act(self, word: words.Word) -> None:
        if isinstance(word, words.Needed):
            over = self._calls[word.model, word.call] = asyncio.get_running_loop().create_future()
            self._tasks.add(task := asyncio.ensure_future(self._grant(word, over)))
            task.add_done_callback(self._tasks.discard)
        elif isinstance(word, words.Used):
            self._calls[word.model, word.call].set_result(word)
        elif isinstance(word, words.Asking):
            self.asking = word
        elif word.episode in self.parts:
            part = self.parts[word.episode]
            try:
                self._act_for(part, word)
            except BalrogError as error:  # the folder cannot be written, or a cap cannot be kept
                part.fail(error)

    def _act_for(self, part: RemoteEpisode, word: words.Word) -> None:
        if isinstance(word, words.Wrote):
            safe = part.write(word.line)
            if safe is not None:
                self._order(safe)
        elif isinstance(word, words.Broken):
            part.cut(word.error)
        elif isinstance(word, words.Saw):
            part.player.watcher.see(word.event)

    async def _grant(self, word: words.Needed, over: "asyncio.Future[words.Used]") -> None:
        """Give a call its place among those of all nodes, until it is over."""
        pace = self._paces[word.model]
        try:
            async with pace.slot(word.tokens) as slot:
                self._order(words.Granted(word.model, word.call))
                self._send()
                used = await over
                if used.rate_limited:
                    pace.rate_limited(slot, used.retry_after)
                elif used.tokens is not None:
                    pace.used(slot, used.tokens)
        finally:
            del self._calls[word.model, word.call]

    async def close(self) -> None:
        """End the node's part in this."""
        import ray

        self._listening.cancel()
        if not self.lost:
            self.lost = True
            await asyncio.wait([asyncio.ensure_future(_ended(self._actor))], timeout=10)
            ray.kill(self._actor)


async def _ended(actor: Any) -> None:
    from ray.exceptions import RayError

    try:
        await actor.close.remote()
    except RayError:
        pass  # it is gone, which is what was wanted


class RayPlayer(JournaledPlayer):
    """Plays episodes of one run on whichever node has the fewest."""

    def __init__(
        self,
        run: PlannedRun,
        budget: RunBudget,
        watcher: Watcher,
        stopping: Callable[[], bool],
        backend: "RayBackend",
    ) -> None:
        super().__init__(
            run.folder,
            frozen_config(run.folder).digest,
            versions(kinds_in(run.config)),
            budget,
            watcher,
            stopping,
        )
        self._label, self._backend = run.label, backend

    async def perform(self, cursor: JournalCursor, spec: EpisodeSpec) -> End:
        """Have an episode played, and its journal written on, by a node."""
        line = await self._backend.line()
        path = journal_path(self.run, spec.episode)
        lines = read_file(path, LARGE)
        meter = self.budget.episode(spec.episode)
        for entry in journal.parse(lines, path).entries:
            if isinstance(entry, Completion):
                meter.charge(entry.reply, entry.purpose)
        self._backend.keep_pace(spec)
        part = RemoteEpisode(f"{self._label}:{spec.episode}", spec, cursor, meter, self)
        line.play(part, lines)
        try:
            return await part.over
        finally:
            line.leave(part)
            meter.release()


class RayBackend:
    """The nodes of a cluster; nodes that join meanwhile get episodes, too."""

    def __init__(self, runner: RunnerConfig) -> None:
        self._runner = runner
        self._lines: dict[str, NodeLine] = {}
        self._paces: dict[str, Pace] = {}
        self._failures: dict[str, list[str]] = {}
        self._own_words = ExitStack()
        self._looking: asyncio.Task[None] | None = None

    async def start(self, runs: Sequence[PlannedRun]) -> list[list[str]]:
        """Join the cluster, or make one of this machine alone, and wait for its first node."""
        self._own_words.enter_context(
            redirect_stdout(self._own_words.enter_context(said_by_ray(runs[0].folder)))
        )
        await asyncio.to_thread(connect, self._runner.address)
        self._looking = asyncio.ensure_future(self._look())
        await self.line()
        return [[] for _ in runs]

    def player(
        self, run: PlannedRun, budget: RunBudget, watcher: Watcher, stopping: Callable[[], bool]
    ) -> PlaysEpisode:
        """Plays the episodes of one run."""
        return RayPlayer(run, budget, watcher, stopping, self)

    def paces(self) -> list[Pace]:
        """How fast the calls of each model go out, from all nodes together."""
        return list(self._paces.values())

    def keep_pace(self, spec: EpisodeSpec) -> None:
        """One pace for each model, however many nodes ask it."""
        for player in (spec.player, *(fork.player for fork in spec.forks)):
            settings = player.model
            limits = settings["requests_per_minute"], settings["tokens_per_minute"]
            self._paces.setdefault(model_name(player), Pace(settings["concurrency"], *limits))

    async def line(self) -> NodeLine:
        """The least loaded node; waits where all were lost."""
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            ready = [line for line in self._lines.values() if line.ready and not line.lost]
            if ready:
                return min(ready, key=lambda line: len(line.parts))
            if self._lines and all(self._given_up(node) for node in self._lines):
                break
            await asyncio.sleep(LOOK_SECONDS)
        failures = [why for reasons in self._failures.values() for why in reasons]
        reason = failures[-1] if failures else f"none came within {START_SECONDS:.0f} s"
        raise EnvironmentFailure(f"no node of the Ray cluster can play: {reason}")

    def _given_up(self, node: str) -> bool:
        """Whether nothing more is hoped for from a node, however well others play."""
        return len(self._failures.get(node, ())) >= START_ATTEMPTS

    async def _look(self) -> None:
        """See to new nodes, to lost ones, and to runs that stop."""
        while True:
            for node, cores in await asyncio.to_thread(nodes_alive):
                known = self._lines.get(node)
                if known is not None and known.lost and not known.ready and not self._given_up(node):
                    self._failures.setdefault(node, []).append(known.why)
                if known is None or (known.lost and not self._given_up(node)):
                    self._lines[node] = NodeLine(make_node(node, cores, self._runner), node, self._paces)
            for _ in range(LOOKS_BETWEEN):
                await asyncio.sleep(LOOK_SECONDS)
                for line in self._lines.values():
                    line.stop_what_should()

    def trouble(self, run: PlannedRun) -> str:
        """Why the run's model does not answer now, on whichever node."""
        model = model_name(run.specs[0].last_player)
        return next(
            (line.asking.troubles[model] for line in self._asking() if model in line.asking.troubles), ""
        )

    def troubles(self) -> list[str]:
        """Why models do not answer now, each reason once."""
        return list(dict.fromkeys(why for line in self._asking() for why in line.asking.troubles.values()))

    def retried(self) -> int:
        """Attempts of all nodes' calls that failed and were made again."""
        return sum(line.asking.retried for line in self._lines.values())

    def _asking(self) -> list[NodeLine]:
        return [line for line in self._lines.values() if not line.lost]

    async def close(self) -> None:
        """Leave the cluster; one that was made for this run ends."""
        if self._looking is not None:
            self._looking.cancel()
        await asyncio.gather(*(line.close() for line in self._lines.values()))
        await asyncio.to_thread(disconnect)
        self._own_words.close()
