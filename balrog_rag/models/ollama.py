"""Ollama's native protocol: its OpenAI-compatible one cannot report how much of a prompt it keeps."""

from base64 import b64encode
from collections.abc import Sequence
from typing import Any

import msgspec

from balrog_rag.config.schema import ModelConfig
from balrog_rag.contracts.data import AnswerFormat, Message, ToolCall
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.models import settings, tool_turns, wire
from balrog_rag.models.prices import Answer

PATH = "/api/chat"
TOP = ("format", "keep_alive", "logprobs", "shift", "think", "tools", "top_logprobs", "truncate")
"""Fields of the body itself; all others are options of the model runner."""
GRADED = ("low", "medium", "high")


def fields(config: ModelConfig, model: str, url: str) -> dict[str, Any]:
    """Return the body without the messages; unset values are omitted."""
    if config.thinking_budget is not None:
        raise ConfigError(
            f"model.thinking_budget: {config.name} has no token budget for thinking; "
            "use model.reasoning_effort"
        )
    further = settings.further_fields(config)
    options = {
        "temperature": config.temperature,
        "num_predict": config.max_tokens,
        "stop": config.stop or None,
        "seed": config.seed,
    }
    options = {name: value for name, value in options.items() if value is not None}
    options |= {name: value for name, value in further.items() if name not in TOP}
    body = {"model": model, "stream": False, "options": options}
    return body | _think(config, model) | {name: further[name] for name in TOP if name in further}


def _think(config: ModelConfig, model: str) -> dict[str, Any]:
    effort = config.reasoning_effort
    if effort is None:
        return {}
    return {"think": effort if model.startswith("gpt-oss") else effort in GRADED}


OLLAMA = "ollama"


def headers(key: str | None) -> dict[str, str]:
    """Return the headers with the key."""
    return wire.bearer(key)


def question(messages: Sequence[Message], answer: AnswerFormat | None, config: ModelConfig) -> dict[str, Any]:
    """Return the fields of the body with the messages, which have no parts here, and the tools.

    The protocol cannot ask for exactly one call.
    """
    sent = tool_turns.paired(messages)
    turns = [turn for each in (wire.fused(sent) if config.fuse_roles else sent) for turn in _turns(each)]
    tools = [{"type": "function", "function": each} for each in tool_turns.functions(answer)]
    return {"messages": turns, **({"tools": tools} if tools else {})}


def _turns(message: Message) -> list[dict[str, Any]]:
    """Return a message as turns: one, or one for each result that it brings."""
    if message.calls:
        kept = tool_turns.of_protocol(message, OLLAMA)
        calls = [
            {"function": {"name": call.name, "arguments": tool_turns.arguments(call)}}
            for call in message.calls
        ]
        own = kept if isinstance(kept, dict) else {"content": message.text, "tool_calls": calls}
        return [{"role": "assistant", **own}]
    if not message.results:
        return [_turn(message)]
    return [
        *({"role": "tool", "content": text} for _, text in tool_turns.results(message)[:-1]),
        {**_turn(message), "role": "tool"},
    ]


def _turn(message: Message) -> dict[str, Any]:
    text, apart = wire.with_reasoning(message)
    turn: dict[str, Any] = {"role": message.role, "content": text, **apart}
    if message.images:
        turn["images"] = [b64encode(image).decode() for image in message.images]
    return turn


class _Message(msgspec.Struct, frozen=True):
    content: msgspec.Raw = wire.NOTHING
    thinking: msgspec.Raw = wire.NOTHING
    tool_calls: msgspec.Raw = wire.NOTHING


class _Body(msgspec.Struct, frozen=True):
    message: _Message
    model: str = ""
    done_reason: str | None = None
    prompt_eval_count: msgspec.Raw = wire.NOTHING
    eval_count: msgspec.Raw = wire.NOTHING


async def read(body: bytes, messages: Sequence[Message]) -> Answer:
    """Parse an answer; an empty one and a tool call are answers as well."""
    whole = wire.decoded(body, _Body)
    message = whole.message
    text, thinking, place = wire.text(message.content), wire.text(message.thinking), "thinking"
    if not thinking:
        thinking, text, place = wire.thought_apart(text)
    calls, native = _calls(message, text, thinking)
    finish = "tool_calls" if bytes(message.tool_calls).startswith(b"[{") else whole.done_reason or "stop"
    counted = wire.usage(wire.number(whole.prompt_eval_count), wire.number(whole.eval_count))
    reply = await wire.reply(text, thinking, finish, counted, whole.model, messages, place, calls, native)
    return Answer(reply)


def _calls(message: _Message, text: str, thinking: str) -> tuple[tuple[ToolCall, ...], str]:
    """Return the tool calls, which have no ids here, and the turn as it is kept."""
    raw = bytes(message.tool_calls)
    if not raw.startswith(b"[{") or len(raw) > wire.SMALL:
        return (), ""
    listed = msgspec.json.decode(raw)
    calls, _ = wire.chat_calls({"tool_calls": listed})
    kept = {"content": text, "thinking": thinking, "tool_calls": listed}
    whole = len(calls) == len(listed)
    return calls, tool_turns.native(OLLAMA, kept) if whole else ""
