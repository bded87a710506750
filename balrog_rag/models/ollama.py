"""Ollama's native protocol: its OpenAI-compatible one cannot report how much of a prompt it keeps."""

from base64 import b64encode
from collections.abc import Sequence
from typing import Any

import msgspec

from balrog_rag.config.schema import ModelConfig
from balrog_rag.contracts.data import Message
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.models import settings, wire
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


def turns(messages: Sequence[Message], config: ModelConfig) -> list[dict[str, Any]]:
    """Return the messages in the protocol's format, which has no parts: `model.content` has no effect."""
    return [_turn(message) for message in (wire.fused(messages) if config.fuse_roles else messages)]


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
    finish = "tool_calls" if bytes(message.tool_calls).startswith(b"[{") else whole.done_reason or "stop"
    counted = wire.usage(wire.number(whole.prompt_eval_count), wire.number(whole.eval_count))
    return Answer(await wire.reply(text, thinking, finish, counted, whole.model, messages, place))
