"""OpenAI's Responses API, for its models that reason between tool calls: `openai/responses/MODEL`."""

import json
from base64 import b64encode
from collections.abc import Sequence
from typing import Any

import msgspec

from balrog_rag.config.schema import ModelConfig
from balrog_rag.contracts.data import AnswerFormat, Message, ToolCall
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.models import settings, tool_turns, wire
from balrog_rag.models.prices import Answer

PATH = "/responses"
RESPONSES = "responses"
REASONING = "encrypted_content"
"""Where reasoning is that nobody but the provider can read; it is sent back with its turn."""
FINISHES = {"max_output_tokens": "length", "content_filter": "content_filter"}
KEPT_ITEMS = ("reasoning", "message", "function_call")


def headers(key: str | None) -> dict[str, str]:
    """Return the headers with the key."""
    return wire.bearer(key)


def fields(config: ModelConfig, model: str, url: str) -> dict[str, Any]:
    """Return the body without the messages; unset values are omitted."""
    refused = {
        "thinking_budget": config.thinking_budget is not None,
        "stop": bool(config.stop),
        "seed": config.seed is not None,
    }
    for name, given in refused.items():
        if given:
            value = json.dumps(getattr(config, name))
            raise ConfigError(f"model.{name}={value}: the Responses API has no such field; leave it unset")
    effort = config.reasoning_effort
    said = {
        "model": model,
        "temperature": config.temperature,
        "max_output_tokens": config.max_tokens,
        "reasoning": None if effort is None else {"effort": effort},
        # Nothing is kept at the provider: each prompt is complete, so that a journal replays anywhere.
        "store": False,
        "include": ["reasoning.encrypted_content"],
    }
    return {name: value for name, value in said.items() if value is not None} | settings.further_fields(
        config
    )


def question(messages: Sequence[Message], answer: AnswerFormat | None, config: ModelConfig) -> dict[str, Any]:
    """Return the fields of the body with the messages and the tools."""
    sent = tool_turns.paired(messages)
    turns = wire.fused(sent) if config.fuse_roles else sent
    items = [item for message in turns for item in _items(message)]
    tools = [{"type": "function", "strict": False, **each} for each in tool_turns.functions(answer)]
    if not tools or answer is None:
        return {"input": items}
    return {
        "input": items,
        "tools": tools,
        "tool_choice": "required",
        "parallel_tool_calls": answer.several,
    }


def _items(message: Message) -> list[dict[str, Any]]:
    """Return a message as items: one, or those of an answer with calls, or one for each result."""
    if message.calls:
        kept = tool_turns.of_protocol(message, RESPONSES)
        return kept if isinstance(kept, list) else _answered(message)
    if message.results:
        outputs: list[dict[str, Any]] = [
            {"type": "function_call_output", "call_id": name, "output": text}
            for name, text in tool_turns.results(message)
        ]
        return outputs + (
            [_said("user", "The image of this observation:", message.images)] * bool(message.images)
        )
    text, _ = wire.with_reasoning(message)
    return [_said(message.role, text, message.images)]


def _said(role: str, text: str, images: tuple[bytes, ...] = ()) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    pictures = [
        {"type": "input_image", "image_url": f"data:image/png;base64,{b64encode(image).decode()}"}
        for image in images
    ]
    return {"role": role, "content": [{"type": kind, "text": text}, *pictures]}


def _answered(message: Message) -> list[dict[str, Any]]:
    said = [_said("assistant", message.text)] if message.text else []
    calls = [
        {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": call.arguments}
        for call in message.calls
    ]
    return [*said, *calls]


class _Details(msgspec.Struct, frozen=True):
    cached_tokens: Any = 0
    reasoning_tokens: Any = 0


class _Usage(msgspec.Struct, frozen=True):
    input_tokens: Any = 0
    output_tokens: Any = 0
    input_tokens_details: _Details | None = None
    output_tokens_details: _Details | None = None


class _Body(msgspec.Struct, frozen=True):
    output: list[dict[str, Any]]
    status: str = "completed"
    model: str | None = None
    usage: msgspec.Raw = wire.NOTHING
    incomplete_details: dict[str, Any] | None = None
    service_tier: str | None = None
    error: dict[str, Any] | None = None


async def read(body: bytes, messages: Sequence[Message]) -> Answer:
    """Parse an answer; no text, a refusal and a tool call are answers as well."""
    whole = wire.decoded(body, _Body)
    if whole.status == "failed":
        raise ValueError(f"the response failed: {(whole.error or {}).get('message', 'no reason given')}")
    items = whole.output
    parts = [part for item in items if item.get("type") == "message" for part in _dicts(item.get("content"))]
    text = "".join(str(part.get("text", "")) for part in parts if part.get("type") == "output_text")
    refused = "".join(str(part.get("refusal", "")) for part in parts if part.get("type") == "refusal")
    thoughts = [
        part for item in items if item.get("type") == "reasoning" for part in _dicts(item.get("summary"))
    ]
    reasoning = "\n\n".join(str(part.get("text", "")) for part in thoughts)
    calls = _calls(items)
    finish = FINISHES.get((whole.incomplete_details or {}).get("reason", ""), "stop")
    if refused and not text:
        finish, reasoning = "refusal", reasoning or refused
    elif calls and finish == "stop":
        finish = "tool_calls"
    counted = wire.lenient(whole.usage, _Usage)
    usage = wire.usage(
        counted.input_tokens,
        counted.output_tokens,
        (counted.input_tokens_details or _Details()).cached_tokens,
        (counted.output_tokens_details or _Details()).reasoning_tokens,
    )
    native = tool_turns.native(RESPONSES, [_kept(item) for item in items if item.get("type") in KEPT_ITEMS])
    reply = await wire.reply(
        *(text, reasoning, finish, usage, whole.model or "", messages),
        calls=calls,
        native=native if calls else "",
    )
    return Answer(reply, tier=whole.service_tier or "")


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [part for part in value if isinstance(part, dict)] if isinstance(value, list) else []


def _calls(items: Sequence[dict[str, Any]]) -> tuple[ToolCall, ...]:
    made = [item for item in items if item.get("type") == "function_call"][: tool_turns.MOST_CALLS]
    return tuple(
        tool_turns.call_of(item.get("call_id"), item.get("name", ""), item.get("arguments"), place)
        for place, item in enumerate(made)
    )


def _kept(item: dict[str, Any]) -> dict[str, Any]:
    """Return an item as it is sent back: unchanged, apart from its state, which is for readers."""
    return {name: value for name, value in item.items() if name != "status"}
