"""An agent of balrog_rag that plays by itself, while OpenEnv's proxy captures its calls.

capture = CaptureServer(llm_url="http://127.0.0.1:8000/v1", model="Qwen/Qwen3-8B")
capture.start()
with AgentSessionFactory(capture) as sessions:
    session = sessions.create({"task": "nle/NetHackChallenge-v0", "max_steps": 200}, seed=3)
    session.wait_for_completion()
    session.verify([]).env_reward, session.fetch_training_trace()
"""

import asyncio
from collections.abc import Mapping
from concurrent.futures import Future
from pathlib import Path
from threading import Thread
from types import TracebackType
from typing import Any, Self

from openenv.core.env_server.mcp_types import Tool
from openenv.core.harness import (
    ResourceSession,
    ResourceSessionFactory,
    ToolResult,
    TraceEntry,
    TrainingTrace,
    VerifyResult,
)
from openenv.core.harness.capture import CaptureServer
from openenv.core.harness.capture.contract import to_trace_entries, to_training_trace
from openenv.core.harness.capture.export import export_session

from balrog_rag.contracts.errors import ConfigError
from balrog_rag.rollouts.rollout import Rollouts
from balrog_rag.rollouts.rollout_request import RolloutRequest, read_request
from balrog_rag.rollouts.rollout_result import RolloutResult

Message = dict[str, Any]


class AgentSession(ResourceSession):
    """One rollout: OpenEnv's LoopOwningSession and TrainableSession. A failed one has no reward, not 0."""

    def __init__(self, capture: CaptureServer, key: str, playing: "Future[RolloutResult]") -> None:
        """`key` is the rollout's session in the proxy."""
        self._capture, self._key, self._playing = capture, key, playing

    def wait_for_completion(self, timeout_s: float | None = None) -> int:
        """Wait for the end of the game; return 0, or 1 if the rollout failed. Raise TimeoutError."""
        return int(self._playing.result(timeout_s).failed)

    @property
    def result(self) -> RolloutResult:
        """The result, once the game has ended."""
        return self._playing.result(0)

    def verify(self, transcript: list[Message], final_state: Any | None = None) -> VerifyResult:
        """Return the game's progression; None if the rollout failed or has not ended."""
        if not self._playing.done():
            return VerifyResult()
        result = self.result
        numbers = {
            "steps": result.steps,
            "segments": result.segments,
            "episode_return": result.episode_return,
        }
        return VerifyResult(
            env_reward=result.reward,
            done=not result.failed,
            metrics={**numbers, "progression_held": result.progression_held, "outcome": result.outcome},
            artifacts={"journal": result.journal, "error": result.error},
        )

    def fetch_proxy_trace(self) -> list[TraceEntry]:
        """Return the captured calls with the server's tokens; raise ValueError if it returned none."""
        entries: list[TraceEntry] = to_trace_entries(self._graph, self.document())
        return entries

    def fetch_training_trace(self) -> TrainingTrace:
        """Return the captured calls, validated and masked; raise ValueError if tokens are missing."""
        return to_training_trace(self._graph, self.document())

    def document(self) -> dict[str, Any]:
        """Return what the proxy captured, with the messages; it needs no tokens."""
        captured = self._capture.registry.get(self._key)
        level = captured.capture_level or self._capture.capture_level
        found: dict[str, Any] = export_session(captured, include_messages=True, capture_level=level)
        return found

    @property
    def _graph(self) -> Any:
        return self._capture.registry.get(self._key).graph

    def initial_messages(self) -> list[Message]:
        """Return nothing: the agent writes its own prompts."""
        return []

    def list_tools(self) -> list[Tool]:
        """Return nothing: the agent acts by itself."""
        return []

    def call_tool(self, name: str, arguments: dict[str, Any]) -> ToolResult:
        """Refuse: the agent acts by itself."""
        return ToolResult(error=f"{name}: the agent plays by itself; wait for its completion")

    def close(self) -> None:
        """End the game if it is in play, and forget what was captured."""
        self._playing.cancel()
        self._capture.registry.delete(self._key)


class AgentSessionFactory(ResourceSessionFactory[AgentSession]):
    """Starts rollouts, any number at once, in an event loop of its own; use it as a context manager."""

    def __init__(
        self,
        capture: CaptureServer,
        folder: Path | str | None = None,
        workers: int | None = None,
        **defaults: Any,
    ) -> None:
        """`defaults` are fields of every request, such as agent, max_steps or overrides."""
        self._capture, self._defaults = capture, defaults
        self._loop = asyncio.new_event_loop()
        self._rollouts = Rollouts(folder, workers)
        self._thread = Thread(target=self._loop.run_forever, name="balrog rollouts", daemon=True)
        self._thread.start()

    def create(self, task: Any, seed: int | None = None, episode_id: str | None = None) -> AgentSession:
        """Start a rollout of a task: env/task, or a mapping of fields of a request."""
        fields = {"task": task} if isinstance(task, str) else dict(task)
        if not isinstance(task, str | Mapping):
            raise ConfigError("task: expected env/task or a mapping")
        if seed is not None:
            fields["seed"] = seed
        session = self._capture.registry.create(episode_id, task=str(fields.get("task", "")))
        model = {
            "base_url": f"http://127.0.0.1:{self._capture.port}/v1",
            "name": "policy",
            "api_key": session.session_id,
        }
        try:
            request = read_request({**self._defaults, **fields, "model": model, "id": session.session_id})
        except ConfigError:
            self._capture.registry.delete(session.session_id)
            raise
        return AgentSession(self._capture, session.session_id, self._start(request))

    def _start(self, request: RolloutRequest) -> "Future[RolloutResult]":
        return asyncio.run_coroutine_threadsafe(self._rollouts.play(request), self._loop)

    def close(self) -> None:
        """End all games."""
        if self._loop.is_running():
            asyncio.run_coroutine_threadsafe(self._rollouts.close(), self._loop).result(60)
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(60)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
