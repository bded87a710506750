"""runner.backend=ray: cluster nodes play; this process keeps the journals, the caps and the pace.

One actor on each node runs the play loop with its own workers, models and indexes. Every journal entry is
sent here, written to the single run folder, and acknowledged before the agent continues. When a node dies,
its episodes are replayed elsewhere from the journals here.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, redirect_stdout
from typing import Any

from balrog_rag.cluster import ray_messages as words
from balrog_rag.cluster.ray_cluster import connect, disconnect, make_node, nodes_alive, said_by_ray
from balrog_rag.cluster.ray_node import model_name
from balrog_rag.config.frozen import thaw
from balrog_rag.config.schema import ModelConfig, RunnerConfig
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
from balrog_rag.run.backend import PlaysEpisode
from balrog_rag.run.episode_runner import JournaledPlayer
from balrog_rag.run.plan import PlannedRun
from balrog_rag.run.provenance import versions
from balrog_rag.run.sharding import shards_in, shared_rates
from balrog_rag.util.files import LARGE, read_file
from balrog_rag.workers.framing import WorkFailed

LOOK_SECONDS = 0.2
"""Seconds between checks whether a run is stopping."""
LOOKS_BETWEEN = 10
"""Number of such checks between two checks of the cluster's nodes."""
START_SECONDS = 120.0
"""Seconds that the first node may take to start."""
START_ATTEMPTS = 3
"""Actors that may fail to start on a node before the node is given up."""


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
        """Return the cap that leaves no room for another call, if any."""
        try:
            self._meter.admit()
        except LimitReached as reached:
            return words.Limit(reached.limit, reached.of_run)
        return None

    def write(self, line: bytes) -> words.Safe | None:
        """Write an entry; acknowledge an effect at once, since its agent waits for that."""
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
        """Handle a node's report that it cannot continue the episode."""
        self.fail(Stopped() if error.kind == "Stopped" else error.error())

    def fail(self, error: Exception) -> None:
        """Fail the episode without an end."""
        if not self.over.done():
            self.over.set_exception(error)


class NodeLine:
    """The connection to one node: handles its messages and sends orders."""

    def __init__(self, actor: Any, node: str, paces: dict[str, Pace]) -> None:
        self.node = node
        self.parts: dict[str, RemoteEpisode] = {}
        self.ready = self.lost = False
        self.asking = words.Asking({}, 0)
        """Troubles and retries of the models there."""
        self.why = ""
        self._actor, self._paces = actor, paces
        self._orders: list[words.Order] = []
        self._calls: dict[tuple[str, int], asyncio.Future[words.Used]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._listening = asyncio.ensure_future(self._listen())

    def play(self, part: RemoteEpisode, lines: bytes) -> None:
        """Order the node to continue an episode."""
        self.parts[part.name] = part
        self._order(words.PlayEpisode(part.name, part.spec, lines, part.limit()))
        self._send()

    def stop_what_should(self) -> None:
        """Order the episodes of stopping runs to stop, repeatedly until they have ended."""
        for part in self.parts.values():
            if part.player.stopping():
                self._order(words.Stop(part.name))
        self._send()

    def leave(self, part: RemoteEpisode) -> None:
        """Forget an episode that is over here; a node that still plays it must drop it."""
        self.parts.pop(part.name, None)
        ended = part.over.done() and not part.over.cancelled() and part.over.exception() is None
        if not self.lost and not ended:
            self._order(words.Drop(part.name))
            self._send()

    def _order(self, order: words.Order) -> None:
        # Orders are collected and sent together: one Ray call per batch instead of one per order.
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
        except Exception as error:  # noqa: BLE001 - any failure: otherwise its episodes would wait forever
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
            except BalrogError as error:  # an unwritable folder or an unknown price ends this episode only
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
        """Hold a place in the pace of all nodes for a call, until the call ends."""
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
        """End this node's actor."""
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
        pass  # already gone


class RayPlayer(JournaledPlayer):
    """Plays episodes of one run on the node that has the fewest."""

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
            versions(run.kinds),
            budget,
            watcher,
            stopping,
        )
        self._label, self._backend = run.label, backend

    async def perform(self, cursor: JournalCursor, spec: EpisodeSpec) -> End:
        """Let a node play the episode, and write its journal here."""
        line = await self._backend.line()
        path = journal_path(self.run, spec.episode)
        lines = read_file(path, LARGE)
        meter = self.budget.episode(spec.episode)
        # The node replays these answers without reporting them, so they are charged here.
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
    """The nodes of a cluster; nodes that join during a run get episodes too."""

    def __init__(self, runner: RunnerConfig) -> None:
        self._runner = runner
        self._lines: dict[str, NodeLine] = {}
        self._paces: dict[str, Pace] = {}
        self._failures: dict[str, list[str]] = {}
        self._own_words = ExitStack()
        self._looking: asyncio.Task[None] | None = None

    async def start(self, runs: Sequence[PlannedRun]) -> list[list[str]]:
        """Join the cluster, or start one on this machine, and wait for the first node."""
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
        """Return the function that plays episodes of one run."""
        return RayPlayer(run, budget, watcher, stopping, self)

    def paces(self) -> list[Pace]:
        """Return the pace of each model's calls, over all nodes."""
        return list(self._paces.values())

    def keep_pace(self, spec: EpisodeSpec) -> None:
        """Make one pace per model, shared by all nodes that call it."""
        for player in (spec.player, *(fork.player for fork in spec.forks)):
            model = shared_rates(thaw(player.model, ModelConfig), shards_in(self._runner))
            pace = Pace(model.concurrency, model.requests_per_minute, model.tokens_per_minute)
            self._paces.setdefault(model_name(player), pace)

    async def line(self) -> NodeLine:
        """Return the least loaded node; wait if all were lost."""
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            ready = [line for line in self._lines.values() if line.ready and not line.lost]
            if ready:
                return min(ready, key=lambda line: len(line.parts))
            if self._lines and all(self._given_up(node) for node in self._lines):
                break
            await asyncio.sleep(LOOK_SECONDS)
        failures = [why for reasons in self._failures.values() for why in reasons]
        reason = failures[-1] if failures else f"none started within {START_SECONDS:.0f} s"
        raise EnvironmentFailure(f"no node of the Ray cluster can play: {reason}")

    def _given_up(self, node: str) -> bool:
        """Whether a node has failed to start too often to be tried again."""
        return len(self._failures.get(node, ())) >= START_ATTEMPTS

    async def _look(self) -> None:
        """Watch for new nodes, lost nodes and stopping runs."""
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
        """Return why the run's model does not answer now, on any node."""
        model = model_name(run.specs[0].last_player)
        return next(
            (line.asking.troubles[model] for line in self._asking() if model in line.asking.troubles), ""
        )

    def troubles(self) -> list[str]:
        """Return why models do not answer now, each reason once."""
        return list(dict.fromkeys(why for line in self._asking() for why in line.asking.troubles.values()))

    def retried(self) -> int:
        """Return the number of failed attempts that were retried, over all nodes."""
        return sum(line.asking.retried for line in self._lines.values())

    def _asking(self) -> list[NodeLine]:
        return [line for line in self._lines.values() if not line.lost]

    async def close(self) -> None:
        """Leave the cluster; one started for this run ends."""
        if self._looking is not None:
            self._looking.cancel()
        await asyncio.gather(*(line.close() for line in self._lines.values()))
        await asyncio.to_thread(disconnect)
        self._own_words.close()
