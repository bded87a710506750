"""An episode as OpenTelemetry spans in OTLP's JSON, named by the GenAI conventions 0.1.0.

One `invoke_agent` span per episode contains a `chat` span per model call, a `retrieval` span per search and
an `execute_tool` span per action. Journals record how long calls took, but no clock: spans are laid one
behind the other from the start of the run, and the resource says so.
"""

from calendar import timegm
from time import strptime
from typing import Any

from balrog_rag import __version__
from balrog_rag.contracts.data import digest
from balrog_rag.contracts.events import Searched
from balrog_rag.episode.journal import Header
from balrog_rag.export.genai_conventions import (
    EVALUATION,
    PlayerNames,
    action_attributes,
    agent_attributes,
    chat_attributes,
    retrieval_attributes,
    score_attributes,
)
from balrog_rag.export.turns import ACT, AnsweredRequest, Turn, Turns
from balrog_rag.results.episodes import Episode

INTERNAL, CLIENT = 1, 3
"""Kinds of span."""
LONGEST = 1e9
"""Seconds of one span at most."""
LATEST = 2**63 - 1
"""The last nanosecond of a span."""


class EpisodeSpans:
    """Makes the spans of one episode; `prompts` adds messages, which most back ends store without a limit."""

    def __init__(
        self, header: Header, found: Turns, episode: Episode | None, started: str, prompts: bool
    ) -> None:
        self._header, self._found, self._episode, self._prompts = header, found, episode, prompts
        self._clock = _nanoseconds(started)
        self._trace = header.spec.digest[:32]
        self._root = header.spec.digest[:16]
        self._spans: list[dict[str, Any]] = []
        player = header.spec.last_player
        asked = any(isinstance(each, AnsweredRequest) for turn in found.turns for each in turn.order)
        model = str(player.model.get("name")) if asked else ""
        self._player = PlayerNames(str(player.agent.get("name")), model)

    def document(self) -> dict[str, Any]:
        """Return the episode as one `ResourceSpans` message, wrapped as exporters send it."""
        begun = self._clock
        for turn in self._found.turns:
            self._add_turn(turn)
        spec, end = self._header.spec, self._found.end
        outcome = end.outcome if end else "unfinished"
        facts = agent_attributes(self._player, spec.episode, spec.digest) | {"balrog_rag.outcome": outcome}
        scored: list[dict[str, Any]] = []
        if self._episode is not None:
            score = score_attributes(self._episode.progression, outcome)
            facts |= score
            event = {"timeUnixNano": str(self._clock), "name": EVALUATION, "attributes": _attributes(score)}
            scored = [event]
        name = f"invoke_agent {self._player.agent}"
        root = self._span(name, self._root, "", begun, self._clock, facts, INTERNAL)
        root |= {"events": scored} if scored else {}
        resource = {
            "service.name": "balrog_rag",
            "service.version": __version__,
            "balrog_rag.timeline": "laid out from the run's start by recorded durations",
        }
        scope = {"scope": {"name": "balrog_rag", "version": __version__}, "spans": [root, *self._spans]}
        return {"resourceSpans": [{"resource": {"attributes": _attributes(resource)}, "scopeSpans": [scope]}]}

    def _add_turn(self, turn: Turn) -> None:
        for each in turn.order:
            if isinstance(each, AnsweredRequest):
                self._add_call(each)
            else:
                self._add_search(each)
        if turn.stepped is not None:
            self._add(f"execute_tool {ACT}", 0.0, action_attributes(turn.stepped), INTERNAL)

    def _add_call(self, call: AnsweredRequest) -> None:
        request = call.request if self._prompts else None
        facts = chat_attributes(self._player, call.reply, call.request.purpose, request)
        self._add(f"chat {self._player.model}", call.reply.latency, facts, CLIENT)

    def _add_search(self, search: Searched) -> None:
        self._add("retrieval knowledge", 0.0, retrieval_attributes(search), INTERNAL)

    def _add(self, name: str, seconds: float, facts: dict[str, Any], kind: int) -> None:
        # OTLP's times have 64 bits, and a journal of others any finite duration.
        begun, self._clock = self._clock, min(self._clock + int(min(seconds, LONGEST) * 1e9), LATEST)
        number = digest(f"{self._root}/{len(self._spans)}")[:16]
        self._spans.append(self._span(name, number, self._root, begun, self._clock, facts, kind))

    def _span(
        self, name: str, number: str, parent: str, begun: int, ended: int, facts: dict[str, Any], kind: int
    ) -> dict[str, Any]:
        span = {"traceId": self._trace, "spanId": number, "name": name, "kind": kind}
        span |= {"parentSpanId": parent} if parent else {}
        times = {"startTimeUnixNano": str(begun), "endTimeUnixNano": str(ended)}
        return span | times | {"attributes": _attributes(facts), "status": {}}


def _nanoseconds(started: str) -> int:
    """Nanoseconds since 1970 of a run's start as recorded; 0 if unknown."""
    try:
        return timegm(strptime(started, "%Y-%m-%dT%H:%M:%SZ")) * 1_000_000_000
    except ValueError:
        return 0


def _attributes(facts: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"key": key, "value": _value(value)} for key, value in facts.items()]


def _value(value: Any) -> dict[str, Any]:
    match value:
        case bool():
            return {"boolValue": value}
        case int():
            return {"intValue": str(value)}  # 64 bits: OTLP's JSON writes them as text
        case float():
            return {"doubleValue": value}
        case list():
            return {"arrayValue": {"values": [_value(each) for each in value]}}
        case _:
            return {"stringValue": str(value)}
