"""Play one episode against the caller's model server and return one scored result.

    result = await balrog_rag.rollout("ENV/TASK", seed=3, model={"base_url": ..., "name": ...})

Calls in one event loop share game workers and connections, which are closed when the loop ends.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from weakref import WeakKeyDictionary

import msgspec

from balrog_rag.contracts.behaviour import Model, Watcher
from balrog_rag.contracts.errors import BalrogError, ConfigError
from balrog_rag.contracts.events import Event, Stepped
from balrog_rag.contracts.kinds import kind_of
from balrog_rag.contracts.outcome import RESUMABLE
from balrog_rag.episode import journal
from balrog_rag.episode.segments import SegmentCounter
from balrog_rag.models.budget import RunBudget
from balrog_rag.results.run_folder import journal_path
from balrog_rag.results.tally import read_episode
from balrog_rag.rollouts.endpoint import CallCounter, Connections, EndpointCall, EndpointModel
from balrog_rag.rollouts.rollout_request import AGENT, Endpoint, RolloutRequest, read_request
from balrog_rag.rollouts.rollout_result import RolloutResult, of_episode
from balrog_rag.rollouts.rollout_spec import PreparedRollout, prepared
from balrog_rag.run.backend import known_here_alone
from balrog_rag.run.episode_runner import EpisodePlayer, GameSource
from balrog_rag.run.provenance import versions
from balrog_rag.run.services import LiveServices, ServicesOfOneModel
from balrog_rag.run.watchers import CompositeWatcher
from balrog_rag.util.fetch import cache_folder
from balrog_rag.util.files import FileNotWritten, replacing
from balrog_rag.util.secrets import hiding, redact
from balrog_rag.util.wording import many
from balrog_rag.workers.inline import InlineGames
from balrog_rag.workers.pool import WorkerPool

RESULT = "result.json"
REQUEST = "request.json"


def default_folder() -> Path:
    """Return where journals of rollouts are kept unless a folder is given."""
    return cache_folder() / "rollouts"


@lru_cache
def _versions(env: str) -> dict[str, str]:
    return versions([kind_of(env)])


class StepCounter:
    """Counts the steps of a rollout, for the result of one that fails."""

    def __init__(self) -> None:
        self.count = 0

    def see(self, event: Event) -> None:
        """Count a step."""
        if isinstance(event, Stepped):
            self.count = event.step + event.after.count


class Rollouts:
    """Plays rollouts, any number at once; use it as an asynchronous context manager."""

    def __init__(self, folder: Path | str | None = None, workers: int | None = None) -> None:
        """`folder` gets a folder per rollout; `workers`: game processes, None: one per core."""
        self.folder = Path(folder) if folder is not None else default_folder()
        self._pool = None if workers == 0 else WorkerPool(workers or 0)
        self._inline = InlineGames()
        self._services = LiveServices()
        self._connections = Connections()
        self._playing: set[Path] = set()

    async def play(
        self, request: RolloutRequest, watcher: Watcher | None = None, folder: Path | None = None
    ) -> RolloutResult:
        """Play a rollout to its end, or continue one of this id; raise ConfigError for what cannot be played.

        Whatever else goes wrong is the result's `error`.
        """
        request.check()
        request = request.named()
        ready = prepared(request)
        place = (folder or self.folder) / request.id
        if place in self._playing:
            raise ConfigError(f"id {request.id}: a rollout of this id is being played; choose another id")
        self._playing.add(place)
        try:
            return await _Attempt(self, request, ready, place, watcher).result()
        finally:
            self._playing.discard(place)

    def games(self, ready: PreparedRollout) -> GameSource:
        """Return where the games of a spec are played."""
        return self._inline if self._pool is None or known_here_alone([ready.spec]) else self._pool

    def model(
        self, request: RolloutRequest, ready: PreparedRollout, prompts: CallCounter
    ) -> tuple[EndpointModel | None, Sequence[str]]:
        """Return a rollout's model, if it has one of its own, and the secrets to hide."""
        if not isinstance(request.model, Endpoint):
            return None, ()
        call = EndpointCall(request.model, ready.model, self._connections)
        return EndpointModel(request.id, ready.model, call, prompts), call.secrets

    def services(self, model: Model | None) -> ServicesOfOneModel:
        """Return the services of a rollout with that model."""
        return ServicesOfOneModel(self._services, model)

    async def warm(self, ready: PreparedRollout, model: Model | None) -> None:
        """Load what the rollout's services need."""
        if model is None:
            await self._services.warm(ready.spec.player)

    async def close(self) -> None:
        """End all games and close all connections."""
        if self._pool is not None:
            await self._pool.close()
        await self._services.close()
        await self._connections.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


class _Attempt:
    """One attempt at a rollout."""

    def __init__(
        self,
        shared: Rollouts,
        request: RolloutRequest,
        ready: PreparedRollout,
        place: Path,
        watcher: Watcher | None,
    ) -> None:
        self._shared, self._request, self._ready, self._place = shared, request, ready, place
        self._prompts, self._segments, self._steps = CallCounter(), SegmentCounter(), StepCounter()
        own: list[Watcher] = [self._prompts, self._segments, self._steps]
        self._watcher = CompositeWatcher([*own, *([watcher] if watcher else [])])
        self._journal = journal_path(place, ready.spec.episode)
        self._begun = time.monotonic()

    async def result(self) -> RolloutResult:
        """Play, and read the result from the journal; store it beside the journal."""
        if (stored := self._stored()) is not None:
            return stored
        request, deadline = self._request, self._request.deadline
        model, secrets = self._shared.model(request, self._ready, self._prompts)
        with hiding(*secrets):
            try:
                async with asyncio.timeout(deadline):
                    self._place.mkdir(parents=True, exist_ok=True)
                    self._write(REQUEST, msgspec.json.encode(request.stored()))
                    return await self._played(model)
            except TimeoutError:
                steps = many(self._steps.count, "steps")
                return self._failed(
                    f"deadline: {deadline:g} s passed after {steps}; continue with its id and a longer one"
                )
            except (BalrogError, FileNotWritten) as error:
                return self._failed(str(error))
            except OSError as error:
                return self._failed(f"{self._place}: cannot be written ({error.strerror})")
            finally:
                if model is not None:
                    await model.close()

    async def _played(self, model: EndpointModel | None) -> RolloutResult:
        spec, shared = self._ready.spec, self._shared
        await shared.warm(self._ready, model)
        player = EpisodePlayer(
            self._place,
            self._ready.config_digest,
            dict(_versions(spec.game.env)),
            shared.games(self._ready),
            shared.services(model),
            RunBudget(self._ready.limits),
            self._watcher,
            lambda: False,
        )
        await player(spec)
        episode = read_episode(self._journal)
        assert episode is not None, "an episode that ended has a score"
        request = self._request
        found = of_episode(
            request.id, spec.game, episode, self._journal, self._segments.count,
            seconds=self._seconds(), split=request.split, index=request.index,
        )  # fmt: skip
        if found.outcome not in RESUMABLE:
            self._write(RESULT, found.json())
        return found

    def _failed(self, error: str) -> RolloutResult:
        request, game = self._request, self._ready.spec.game
        return RolloutResult(
            request.id,
            f"{game.env}/{game.task}",
            game.seeds.core,
            steps=self._steps.count,
            segments=self._segments.count,
            error=" ".join(redact(error).split()),
            journal=str(self._journal) if self._journal.exists() else "",
            seconds=self._seconds(),
            split=request.split,
            index=request.index,
        )

    def _stored(self) -> RolloutResult | None:
        """Return the result of an earlier attempt, if its episode was the same."""
        if not self._place.exists():
            return None
        header = next(journal.entries_of(self._journal), None) if self._journal.exists() else None
        path = self._place / RESULT
        if header is None and not path.exists():
            return None
        if not isinstance(header, journal.Header) or header.spec_digest != self._ready.spec.digest:
            raise ConfigError(
                f"id {self._request.id}: another rollout had this id; choose another, or repeat its request"
            )
        return msgspec.json.decode(path.read_bytes(), type=RolloutResult) if path.exists() else None

    def _seconds(self) -> float:
        return round(time.monotonic() - self._begun, 3)

    def _write(self, name: str, data: bytes) -> None:
        if not (self._place / name).exists():
            with replacing(self._place / name) as file:
                file.write(data)


_engines: "WeakKeyDictionary[asyncio.AbstractEventLoop, Rollouts]" = WeakKeyDictionary()
_keepers: "WeakKeyDictionary[asyncio.AbstractEventLoop, AsyncGenerator[Rollouts, None]]" = WeakKeyDictionary()


async def _kept(loop: asyncio.AbstractEventLoop) -> AsyncGenerator[Rollouts, None]:
    """Keep an engine open until the event loop shuts its generators down, as `asyncio.run` does."""
    engine = Rollouts()
    try:
        yield engine
    finally:
        _engines.pop(loop, None)
        _keepers.pop(loop, None)
        await engine.close()


async def _engine() -> Rollouts:
    """Return the engine of the running event loop."""
    loop = asyncio.get_running_loop()
    if loop not in _engines:
        keeper = _keepers[loop] = _kept(loop)
        _engines[loop] = await anext(keeper)
    return _engines[loop]


async def rollout(
    task: str = "",
    *,
    model: Mapping[str, Any] | str,
    seed: int | None = None,
    split: str | None = None,
    index: int | None = None,
    agent: str = AGENT,
    overrides: Sequence[str] = (),
    max_steps: int | None = None,
    deadline: float | None = None,
    id: str = "",
    folder: Path | str | None = None,
    spec: Mapping[str, Any] | None = None,
    watch: Watcher | None = None,
) -> RolloutResult:
    """Play one episode against a model server and return its result.

    >>> server = {"base_url": "http://127.0.0.1:8000/v1", "name": "Qwen/Qwen3-8B"}
    >>> result = await balrog_rag.rollout("ENV/TASK", seed=3, max_steps=64, model=server)
    >>> result.reward, result.outcome, result.segments, result.error

    Args:
        task: env/task, as in env.tasks.
        model: a mapping of base_url, name, api_key and sampling; or the name of a model option.
        seed: the game's seed, 0 by default. Instead: `split` (train, validation, test, eval) and `index`.
        agent: a registered agent or preset.
        overrides: KEY=VALUE, as for `balrog-rag run`.
        max_steps: most agent steps, like limits.steps.
        deadline: most seconds; a longer rollout has an error instead of a reward.
        id: names the rollout's folder; one that has begun is continued, one that ended is returned again.
        folder: parent of that folder; None: the user's cache folder.
        spec: a complete episode spec instead of task, seed, agent and overrides.
        watch: receives every event, as the watchers of a run do.
    """
    given: dict[str, Any] = {
        "task": task, "model": model, "seed": seed, "split": split, "index": index, "agent": agent,
        "overrides": tuple(overrides), "max_steps": max_steps, "deadline": deadline, "id": id, "spec": spec,
    }  # fmt: skip
    request = read_request(given)
    engine = await _engine()
    return await engine.play(request, watch, None if folder is None else Path(folder))
