"""OpenAI's protocol for chat completions, as used by its own API, vLLM, llama.cpp and many others."""

import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

import msgspec

from balrog_rag.config.schema import ModelConfig
from balrog_rag.contracts.data import AnswerFormat, Message, ToolCall
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.models import settings, wire
from balrog_rag.models.prices import Answer

PATH = "/chat/completions"
REASONING_MODELS = re.compile(r"o\d|gpt-[5-9]")
"""OpenAI models that refuse `max_tokens`, at whatever address."""


class NoAnswer(ValueError):
    """A body without a completion."""


def fields(config: ModelConfig, model: str, url: str) -> dict[str, Any]:
    """Return the body without the messages; unset values are omitted."""
    if config.thinking_budget is not None:
        raise ConfigError(
            f"model.thinking_budget: {config.name} has no token budget for thinking; use "
            "model.reasoning_effort, or the server's own field in model.extra_body"
        )
    longest = "max_completion_tokens" if _is_openais(model, url) else "max_tokens"
    said = {
        "model": model,
        "temperature": config.temperature,
        longest: config.max_tokens,
        "reasoning_effort": config.reasoning_effort,
        "stop": config.stop or None,
        "seed": config.seed,
    }
    said = {name: value for name, value in said.items() if value is not None}
    return said | settings.further_fields(config)


def _is_openais(model: str, url: str) -> bool:
    host = urlsplit(url).hostname or ""
    return host == "api.openai.com" or host.endswith(".api.openai.com") or bool(REASONING_MODELS.match(model))


def question(messages: Sequence[Message], answer: AnswerFormat | None, config: ModelConfig) -> dict[str, Any]:
    """Return the fields of the body with the messages and the tools."""
    turns = wire.outgoing(messages, fuse=config.fuse_roles, mark=False, parts=config.content == "parts")
    return {"messages": turns, **wire.chat_tools(answer)}


def headers(key: str | None) -> dict[str, str]:
    """Return the headers with the key."""
    return wire.bearer(key)


class _Message(msgspec.Struct, frozen=True, gc=False):
    content: msgspec.Raw = wire.NOTHING
    refusal: msgspec.Raw = wire.NOTHING
    reasoning_content: msgspec.Raw = wire.NOTHING
    reasoning: msgspec.Raw = wire.NOTHING
    tool_calls: msgspec.Raw = wire.NOTHING


class _Choice(msgspec.Struct, frozen=True, gc=False):
    message: msgspec.Raw
    finish_reason: str | None = None


class _Body(msgspec.Struct, frozen=True, gc=False):
    choices: msgspec.Raw
    usage: msgspec.Raw = wire.NOTHING
    model: str | None = None
    service_tier: str | None = None
    system_fingerprint: str | None = None


class _Details(msgspec.Struct, frozen=True):
    # Any: a value of another type must not cost the answer; `wire.tokens` counts it as 0.
    cached_tokens: Any = 0
    reasoning_tokens: Any = 0
    cache_write_tokens: Any = 0
    cache_creation_tokens: Any = 0


class _Usage(msgspec.Struct, frozen=True):
    prompt_tokens: Any = 0
    completion_tokens: Any = 0
    prompt_tokens_details: _Details | None = None
    completion_tokens_details: _Details | None = None


async def read(body: bytes, messages: Sequence[Message]) -> Answer:
    """Parse an answer; no text, a refusal and a tool call are answers as well."""
    whole = wire.decoded(body, _Body)
    choice = _first(whole.choices)
    message, finish = wire.decoded(bytes(choice.message), _Message), choice.finish_reason or "stop"
    calls, native = _calls(choice.message, message)
    text, refused = wire.text(message.content), wire.text(message.refusal)
    reasoning, place = wire.text(message.reasoning_content), "reasoning_content"
    if not reasoning:
        reasoning, place = wire.text(message.reasoning), "reasoning"
    if not reasoning:
        reasoning, text, place = wire.thought_apart(text)
    if refused and not text:
        # A refusal leaves `content` empty; it becomes the reasoning, so the journal shows why.
        finish, reasoning = "refusal", reasoning or refused
    counted = wire.lenient(whole.usage, _Usage)
    details = counted.prompt_tokens_details or _Details()
    usage = wire.usage(
        counted.prompt_tokens,
        counted.completion_tokens,
        details.cached_tokens,
        (counted.completion_tokens_details or details).reasoning_tokens,
    )
    written = details.cache_write_tokens or details.cache_creation_tokens
    reply = await wire.reply(
        *(text, reasoning, finish, usage, whole.model or "", messages, place),
        *(calls, native, whole.system_fingerprint or ""),
    )
    return Answer(reply, written=wire.tokens(written), tier=whole.service_tier or "")


def _calls(sent: msgspec.Raw, message: _Message) -> tuple[tuple[ToolCall, ...], str]:
    """Return the tool calls of a message and the message as it is kept; none if it has none."""
    if not bytes(message.tool_calls).startswith(b"[{") or len(bytes(sent)) > wire.SMALL:
        return (), ""
    return wire.chat_calls(msgspec.json.decode(sent))


def _first(choices: msgspec.Raw) -> _Choice:
    """Return the first choice; of a list too long to parse, only if it is the only one."""
    if len(bytes(choices)) > wire.SMALL:
        (only,) = msgspec.json.decode(choices, type=tuple[_Choice])
        return only
    several = msgspec.json.decode(choices, type=list[_Choice])
    if not several:
        raise NoAnswer("it has no choices")
    return several[0]
