"""An episode as OpenTelemetry spans in OTLP's JSON, named by the GenAI conventions 0.1.0.

One `invoke_agent` span per episode contains a `chat` span per model call, a `retrieval` span per search and
an `execute_tool` span per action. Journals record how long calls took, but no clock: spans are laid one
behind the other from the start of the run, and the resource says so.
"""

from calendar import timegm
from time import strptime
from typing import Any

import msgspec

from balrog_rag import __version__
from balrog_rag.contracts.data import Message, digest
from balrog_rag.contracts.events import Searched
from balrog_rag.episode.journal import Header
from balrog_rag.export.turns import ACT, AnsweredRequest, Turn, Turns
from balrog_rag.results.episodes import Episode

INTERNAL, CLIENT = 1, 3
"""Kinds of span."""


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
        self._model, self._agent = str(player.model.get("name")), str(player.agent.get("name"))
        self._provider = self._model.partition("/")[0] if "/" in self._model else "unknown"

    def document(self) -> dict[str, Any]:
        """Return the episode as one `ResourceSpans` message, wrapped as exporters send it."""
        begun = self._clock
        for turn in self._found.turns:
            self._add_turn(turn)
        spec, end = self._header.spec, self._found.end
        facts: dict[str, Any] = {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.provider.name": self._provider,
            "gen_ai.agent.name": self._agent,
            "gen_ai.conversation.id": spec.digest,
            "gen_ai.request.model": self._model,
            "balrog_rag.episode": spec.episode,
            "balrog_rag.outcome": end.outcome if end else "unfinished",
        }
        if self._episode is not None:
            facts["gen_ai.evaluation.name"] = "progression"
            facts["gen_ai.evaluation.score.value"] = self._episode.progression
        root = self._span(f"invoke_agent {self._agent}", self._root, "", begun, self._clock, facts, INTERNAL)
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
            action = {
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": ACT,
                "gen_ai.tool.call.id": f"step-{turn.number}",
                "balrog_rag.action": turn.stepped.taken,
                "balrog_rag.reward": turn.stepped.after.reward,
            }
            self._add(f"execute_tool {ACT}", 0.0, action, INTERNAL)

    def _add_call(self, call: AnsweredRequest) -> None:
        reply, used = call.reply, call.reply.usage
        facts: dict[str, Any] = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": self._provider,
            "gen_ai.request.model": self._model,
            "gen_ai.response.model": reply.model or self._model,
            "gen_ai.response.finish_reasons": [reply.finish],
            "gen_ai.usage.input_tokens": used.input,
            "gen_ai.usage.output_tokens": used.output,
            "gen_ai.usage.cache_read.input_tokens": used.cached,
            "gen_ai.usage.reasoning.output_tokens": used.reasoning,
            "balrog_rag.purpose": call.request.purpose,
        }
        if reply.cost is not None:
            facts["balrog_rag.cost_usd"] = reply.cost
        if self._prompts:
            facts["gen_ai.input.messages"] = _text([_part(message) for message in call.request.messages])
            facts["gen_ai.output.messages"] = _text([_part(Message("assistant", reply.text))])
        self._add(f"chat {self._model}", reply.latency, facts, CLIENT)

    def _add_search(self, search: Searched) -> None:
        facts = {
            "gen_ai.operation.name": "retrieval",
            "gen_ai.provider.name": "balrog_rag",
            "gen_ai.retrieval.top_k": len(search.passages),
            "gen_ai.retrieval.query.text": search.query,
            "balrog_rag.passages": [passage.id for passage in search.passages],
        }
        self._add("retrieval knowledge", 0.0, facts, INTERNAL)

    def _add(self, name: str, seconds: float, facts: dict[str, Any], kind: int) -> None:
        begun, self._clock = self._clock, self._clock + int(seconds * 1e9)
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


def _part(message: Message) -> dict[str, Any]:
    return {"role": message.role, "parts": [{"type": "text", "content": message.text}]}


def _text(value: Any) -> str:
    return msgspec.json.encode(value).decode()


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
