"""`run.watch=[otel]`: each episode as a live trace, sent to an OpenTelemetry collector over OTLP/HTTP.

Set up by OpenTelemetry's own environment variables, such as OTEL_EXPORTER_OTLP_ENDPOINT.
"""

import os
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import msgspec

from balrog_rag import __version__
from balrog_rag.contracts.data import Request
from balrog_rag.contracts.events import Answered, Asked, Event, Searched, Started, Stepped, Troubled
from balrog_rag.export import genai_conventions as conventions
from balrog_rag.export.genai_conventions import Attributes, PlayerNames
from balrog_rag.export.turns import ACT
from balrog_rag.tracking.run_records import Record, numbers_in
from balrog_rag.tracking.run_tracker import RunTracker
from balrog_rag.tracking.span_sender import SpanSender

WITH_CONTENT = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
"""OpenTelemetry's own switch for prompts and answers; unset: they are not sent."""


class OtelTracker(RunTracker):
    """One trace per episode, and one span for the run with the results."""

    requires: ClassVar[Mapping[str, str]] = {
        "opentelemetry.sdk": "otel",
        "opentelemetry.exporter.otlp.proto.http": "otel",
    }

    def __init__(self) -> None:
        super().__init__()
        self._sender: SpanSender | None = None
        self._whole: Any = None
        self._roots: dict[str, Any] = {}
        self._asked: dict[str, Request] = {}
        self._player = PlayerNames("unknown", "unknown")
        self._content = os.environ.get(WITH_CONTENT, "").lower() in ("true", "1", "yes")

    def started(self, run: Record) -> None:
        """Connect, and begin the run's span."""
        config = run["config"]
        self._player = PlayerNames(str(config["agent"].get("name")), str(config["model"].get("name")))
        self._sender = SpanSender(
            {
                "service.name": os.environ.get("OTEL_SERVICE_NAME", "balrog_rag"),
                "service.version": __version__,
                "balrog_rag.run": run["run"],
                "balrog_rag.config_digest": run["config_digest"],
            }
        )
        described = {f"balrog_rag.{name}": run[name] for name in ("viewer", "viewer_command", "planned")}
        text = {"balrog_rag.config": msgspec.json.encode(config).decode()}
        self._whole = self._sender.begin(f"run {run['run']}", described | text)

    def see(self, event: Event) -> None:
        """Add spans for an event, then count it."""
        if self._sender is not None:
            self._add(self._sender, event)
        super().see(event)

    def _add(self, sender: SpanSender, event: Event) -> None:
        match event:
            case Started():
                self._close_root(event.episode, {"balrog_rag.outcome": "interrupted"})
                self._roots[event.episode] = self._root(sender, event.episode)
            case Asked():
                self._asked[event.episode] = event.request
            case Answered():
                request = self._asked.pop(event.episode, None) if self._content else None
                about = conventions.chat_attributes(self._player, event.reply, event.purpose, request)
                # An answer that a resumed run reads from the journal took no time now.
                seconds = event.reply.latency if event.live else 0.0
                about["balrog_rag.live"] = event.live
                self._name_model(event.episode)
                self._child(event.episode, f"chat {self._player.model}", about, seconds, client=True)
            case Searched():
                self._child(event.episode, "retrieval knowledge", conventions.retrieval_attributes(event))
            case Stepped():
                self._child(event.episode, f"execute_tool {ACT}", conventions.action_attributes(event))
            case _:
                pass

    def _root(self, sender: SpanSender, episode: str) -> Any:
        conversation = self._run.planned.get(episode, episode) if self._run is not None else episode
        # Whether it asks a model shows at its first answer: every configuration has a model.
        unasked = PlayerNames(self._player.agent, "")
        about = conventions.agent_attributes(unasked, episode, conversation)
        return sender.begin(f"invoke_agent {self._player.agent}", about)

    def _name_model(self, episode: str) -> None:
        if (root := self._roots.get(episode)) is not None:
            root.set_attributes(conventions.model_attributes(self._player))

    def _child(
        self, episode: str, name: str, about: Attributes, seconds: float = 0.0, client: bool = False
    ) -> None:
        root = self._roots.get(episode)
        if root is not None and self._sender is not None:  # its first event may have been dropped
            self._sender.add_child(root, name, about, seconds, client)

    def episode_ended(self, episode: Record, progress: Record) -> None:
        """End the episode's span with its score."""
        score = conventions.score_attributes(episode["progression"] / 100, episode["outcome"])
        if (root := self._roots.get(episode["episode"])) is not None:
            root.add_event(conventions.EVALUATION, score)
        values = {f"balrog_rag.{name}": value for name, value in numbers_in(episode).items()}
        about = {"balrog_rag.outcome": episode["outcome"]} | score | values
        self._close_root(episode["episode"], about)

    def troubled(self, event: Troubled) -> None:
        """End the span of an interrupted episode."""
        about = {"balrog_rag.outcome": "interrupted", "error.type": event.kind}
        self._close_root(event.episode, about)

    def _close_root(self, episode: str, about: Attributes) -> None:
        root = self._roots.pop(episode, None)
        if root is not None and self._sender is not None:
            root.set_attributes(about)
            self._sender.end(root)

    def finished(self, table: Sequence[Record], episodes: Sequence[Record]) -> None:
        """End every span, with the results on the run's, and send what is left."""
        for episode in [*self._roots]:
            self._close_root(episode, {"balrog_rag.outcome": "unfinished"})
        for row in table:
            prefix = f"balrog_rag.results.{row['env']}"
            self._whole.set_attributes({f"{prefix}.{name}": value for name, value in numbers_in(row).items()})
        assert self._sender is not None  # the run has started
        self._sender.end(self._whole)
        self._sender.close()
