"""Rollouts that run on their own: started once, watched or fetched by anybody later, resumed after a kill."""

import asyncio
import contextlib
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncIterator, Collection
from pathlib import Path
from typing import Any

import msgspec

from balrog_rag.contracts.errors import BalrogError, ConfigError
from balrog_rag.contracts.events import Answered, Ended, Event, Started, Stepped
from balrog_rag.rollouts.rollout import REQUEST, RESULT, Rollouts
from balrog_rag.rollouts.rollout_request import Endpoint, RolloutRequest, is_reference, read_request
from balrog_rag.rollouts.rollout_result import RolloutResult
from balrog_rag.rollouts.rollout_spec import prepared, refuse_files, refuse_keys
from balrog_rag.util.secrets import redact

MOST_WAITING = 10_000
MOST_FINISHED = 1000
"""Results kept in memory; older ones are read from their folders."""
MOST_EVENTS = 256
"""Newest events kept of a rollout for somebody who begins to watch it."""
MOST_UNREAD = 1024
CANCELLED = "cancelled"
FAILED = "failed.json"


class ServiceFull(Exception):
    """Too many rollouts wait for their turn."""


class IdTaken(Exception):
    """Another rollout has this id."""


class UnknownRollout(Exception):
    """No rollout has this id."""


class ProgressEvent(msgspec.Struct, frozen=True):
    """An event of a rollout for somebody who watches it; `name` is that of the server-sent event."""

    name: str
    data: dict[str, Any]


class RunningRollout:
    """One rollout of the service; also the watcher of its episode."""

    def __init__(self, request: RolloutRequest) -> None:
        self.request = request
        self.result: RolloutResult | None = None
        self.status = "waiting"
        self.steps = 0
        self.task: asyncio.Task[None] | None = None
        self._events: deque[ProgressEvent] | None = deque(maxlen=MOST_EVENTS)
        self._readers: set[asyncio.Queue[ProgressEvent | None]] = set()

    def see(self, event: Event) -> None:
        """Turn an event of the episode into one line of progress."""
        match event:
            case Started():
                self._send("started", {"id": self.request.id})
            case Answered():
                usage = msgspec.to_builtins(event.reply.usage)
                self._send("call", {"step": event.step, "purpose": event.purpose, **usage})
            case Stepped():
                self.steps = event.step + event.after.count
                self._send("step", {"step": event.step, "action": event.taken, "reward": event.after.reward})
            case Ended():
                self._send("ended", {"outcome": event.outcome, "steps": event.steps})

    def finish(self, result: RolloutResult) -> None:
        """Set the result and end every stream."""
        self.result, self.status = result, "failed" if result.failed else "finished"
        # The newest results stay in memory, so nothing that only a running one needs stays with them.
        self._events = self.task = None
        for reader in self._readers:
            _put(reader, None)

    def _send(self, name: str, data: dict[str, Any]) -> None:
        event = ProgressEvent(name, data)
        if self._events is not None:
            self._events.append(event)
        for reader in self._readers:
            _put(reader, event)

    async def progress(self) -> AsyncIterator[ProgressEvent]:
        """Yield the newest events, further ones as they come, and the result last."""
        unread: asyncio.Queue[ProgressEvent | None] = asyncio.Queue(MOST_UNREAD)
        for event in self._events or ():
            unread.put_nowait(event)
        self._readers.add(unread)
        try:
            while self.result is None:
                sent = await unread.get()
                if sent is not None:
                    yield sent
            while not unread.empty():
                if (sent := unread.get_nowait()) is not None:
                    yield sent
        finally:
            self._readers.discard(unread)
        yield ProgressEvent("result", msgspec.to_builtins(self.result))

    async def done(self) -> RolloutResult:
        """Wait for the result; a waiter that goes away does not stop the rollout."""
        async for _ in self.progress():
            pass
        assert self.result is not None
        return self.result

    def about(self) -> dict[str, Any]:
        """Return its state, with the result once there is one."""
        known = {"id": self.request.id, "status": self.status, "steps": self.steps}
        return known if self.result is None else {**known, "result": msgspec.to_builtins(self.result)}


def _put(reader: "asyncio.Queue[ProgressEvent | None]", event: ProgressEvent | None) -> None:
    """Add an event; a reader that is too slow loses the oldest, so that nothing waits for it."""
    if reader.full():
        reader.get_nowait()
    reader.put_nowait(event)


class RolloutService:
    """Starts, limits, keeps and resumes rollouts."""

    def __init__(
        self, folder: Path, workers: int | None = None, at_once: int = 256, keys: Collection[str] = ()
    ) -> None:
        """Play at most `at_once` rollouts at once; clients may name the variables `keys` as their key."""
        self.folder = folder
        self.engine = Rollouts(folder, workers)
        self._slots = asyncio.Semaphore(at_once)
        self._running: dict[str, RunningRollout] = {}
        self._finished: OrderedDict[str, RunningRollout] = OrderedDict()
        self.counts: Counter[str] = Counter()
        self.tokens: Counter[str] = Counter()
        self._keys, self._closing = frozenset(keys), False
        self.unresumed: list[str] = []
        """Rollouts of an earlier process that need their key again."""

    @property
    def running(self) -> int:
        """Rollouts that wait or play."""
        return len(self._running)

    def start(self, request: RolloutRequest) -> RunningRollout:
        """Start a client's rollout, or return the one of this id if it is the same."""
        request = request.named()
        known = self._running.get(request.id) or self._finished.get(request.id)
        if known is not None and not (known.result is not None and known.result.failed):
            if known.request.stored() != request.stored():
                raise IdTaken(f"id {request.id}: another rollout has this id; choose another")
            return known
        if len(self._running) >= MOST_WAITING:
            raise ServiceFull(f"{MOST_WAITING:,} rollouts are waiting; try again later")
        refuse_keys(request, self._keys)
        refuse_files(request)
        refuse_files(request, prepared(request).spec)
        job = self._running[request.id] = RunningRollout(request)
        self._finished.pop(request.id, None)
        (self.folder / request.id / FAILED).unlink(missing_ok=True)
        self.counts["started"] += 1
        job.task = asyncio.create_task(self._play(job), name=f"rollout {request.id}")
        return job

    async def _play(self, job: RunningRollout) -> None:
        request = job.request
        try:
            async with self._slots:
                job.status = "playing"
                result = await self.engine.play(request, job)
        except asyncio.CancelledError:
            result = _without_score(job, CANCELLED)
        except Exception as error:  # noqa: BLE001 - one rollout must not end the service, whatever it raised
            line = str(error) if isinstance(error, BalrogError) else f"{type(error).__name__}: {error}"
            result = _without_score(job, " ".join(redact(line).split()))
        self._keep(job, result)

    def _keep(self, job: RunningRollout, result: RolloutResult) -> None:
        job.finish(result)
        if result.failed and not self._closing:
            # Marks it as over, so that a restart resumes only what was interrupted.
            with contextlib.suppress(OSError):
                (self.folder / job.request.id / FAILED).write_bytes(result.json())
        self.counts["failed" if result.failed else "finished"] += 1
        for purpose, usage in result.usage.items():
            self.tokens[purpose] += usage.input + usage.output
        name = job.request.id
        self._running.pop(name, None)
        self._finished[name] = job
        while len(self._finished) > MOST_FINISHED:
            self._finished.popitem(last=False)

    def find(self, name: str) -> RunningRollout:
        """Return a rollout by its id, also one of an earlier process that has ended."""
        known = self._running.get(name) or self._finished.get(name)
        if known is not None:
            return known
        request = _stored_request(self.folder / name) if _is_id(name) else None
        if request is None:
            raise UnknownRollout(f"id {name[:100]}: no such rollout")
        job = RunningRollout(request)
        for path in (self.folder / name / RESULT, self.folder / name / FAILED):
            if path.exists():
                job.finish(msgspec.json.decode(path.read_bytes(), type=RolloutResult))
                return job
        job.status = "interrupted"
        return job

    def cancel(self, name: str) -> RunningRollout:
        """Stop a rollout; its journal stays, and the same id continues it."""
        job = self.find(name)
        if job.task is not None:
            job.task.cancel()
        return job

    def resume(self) -> int:
        """Start the unfinished rollouts of an earlier process; return how many."""
        begun = 0
        for place in sorted(self.folder.iterdir()) if self.folder.is_dir() else []:
            if (
                (place / RESULT).exists()
                or (place / FAILED).exists()
                or (request := _stored_request(place)) is None
            ):
                continue
            model = request.model
            if isinstance(model, Endpoint) and not is_reference(model.api_key) and _had_key(place):
                self.unresumed.append(place.name)
                continue
            with contextlib.suppress(BalrogError, ServiceFull):
                self.start(request)
                begun += 1
        return begun

    async def close(self) -> None:
        """Stop every rollout, leaving journals that can be resumed, and end the games."""
        self._closing = True
        tasks = [job.task for job in self._running.values() if job.task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self.engine.close()


def _without_score(job: RunningRollout, error: str) -> RolloutResult:
    request = job.request
    return RolloutResult(request.id, request.task, request.seed or 0, steps=job.steps, error=error)


def _is_id(name: str) -> bool:
    try:
        RolloutRequest("scripted", task="any/task", id=name).check()
    except ConfigError:
        return False
    return bool(name)


def _stored_request(place: Path) -> RolloutRequest | None:
    try:
        stored = msgspec.json.decode((place / REQUEST).read_bytes())
        stored.pop("had_key", None)
        return read_request(stored)
    except (OSError, msgspec.DecodeError, BalrogError, AttributeError):
        return None


def _had_key(place: Path) -> bool:
    stored = msgspec.json.decode((place / REQUEST).read_bytes())
    return bool(stored.get("had_key"))
