"""Anthropic's Messages API: `anthropic/MODEL`."""

import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from balrog_rag.config.schema import ModelConfig
from balrog_rag.contracts.data import AnswerFormat, Message, ToolCall
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.models import settings, tool_turns, wire
from balrog_rag.models.prices import Answer

PATH = "/v1/messages"
VERSION = "2023-06-01"
ANTHROPIC = "anthropic"
LONGEST = 4096
"""Tokens of an answer if `model.max_tokens` is unset: the protocol requires a number."""
EFFORTS = {"none": None, "low": 1024, "medium": 2048, "high": 4096}
"""Thinking tokens of `model.reasoning_effort`, the same as through LiteLLM."""
FINISHES = {
    **{"end_turn": "stop", "stop_sequence": "stop", "pause_turn": "stop"},
    **{"max_tokens": "length", "tool_use": "tool_calls", "refusal": "refusal"},
}
CACHED = {"type": "ephemeral"}


def headers(key: str | None) -> dict[str, str]:
    """Return the headers that the protocol needs, with the key."""
    return {"anthropic-version": VERSION} | ({"x-api-key": key} if key else {})


def fields(config: ModelConfig, model: str, url: str) -> dict[str, Any]:
    """Return the body without the messages; unset values are omitted."""
    if config.seed is not None:
        raise ConfigError(f"model.seed={config.seed}: the Messages API has no seed; leave it unset")
    budget = _budget(config)
    longest = config.max_tokens or LONGEST
    said = {
        "model": model,
        "temperature": config.temperature,
        # The thinking is part of the answer's length here; the limit is meant for the rest.
        "max_tokens": longest if budget is None or budget < longest else longest + budget,
        "thinking": None if budget is None else {"type": "enabled", "budget_tokens": budget},
        "stop_sequences": config.stop or None,
    }
    return {name: value for name, value in said.items() if value is not None} | settings.further_fields(
        config
    )


def _budget(config: ModelConfig) -> int | None:
    effort = config.reasoning_effort
    if config.thinking_budget is not None or effort is None:
        return config.thinking_budget
    if effort not in EFFORTS:
        known = ", ".join(EFFORTS)
        raise ConfigError(
            f"model.reasoning_effort={effort}: not known for {config.name}; use {known}, "
            "or set model.thinking_budget"
        )
    return EFFORTS[effort]


def question(messages: Sequence[Message], answer: AnswerFormat | None, config: ModelConfig) -> dict[str, Any]:
    """Return the fields of the body with the system prompt, the messages and the tools."""
    sent = list(tool_turns.paired(messages))
    marked = _marked(sent) if config.prompt_cache else set()
    first = next((place for place, each in enumerate(sent) if each.role != "system"), len(sent))
    # Without a user's turn there is no question: the last system message then asks it.
    first = min(first, len(sent) - 1)
    system = [_block(each.text, place in marked) for place, each in enumerate(sent[:first])]
    turns: list[dict[str, Any]] = []
    for place, message in enumerate(sent[first:], first):
        role, blocks = _turn(message, place in marked)
        if turns and turns[-1]["role"] == role:
            turns[-1]["content"] += blocks  # roles must alternate, and all results belong to one turn
        else:
            turns.append({"role": role, "content": blocks})
    return (
        {"messages": turns}
        | ({"system": system} if system else {})
        | _tools(answer, _budget(config) is not None)
    )


def _marked(messages: Sequence[Message]) -> set[int]:
    """Return the places of the cache marks: the last ones, up to the protocol's limit."""
    marked = [place for place, message in enumerate(messages) if message.stable and message.text]
    return set(marked[-wire.MOST_CACHE_MARKS :])


def _turn(message: Message, marked: bool) -> tuple[str, list[dict[str, Any]]]:
    if message.role == "assistant":
        return "assistant", _answered(message)
    if message.results:
        *earlier, (name, text) = tool_turns.results(message)
        content = [_block(text or " ", marked), *map(_image, message.images)]
        results: list[dict[str, Any]] = [
            {"type": "tool_result", "tool_use_id": each, "content": said} for each, said in earlier
        ]
        return "user", [*results, {"type": "tool_result", "tool_use_id": name, "content": content}]
    return "user", [*([_block(message.text, marked)] if message.text else []), *map(_image, message.images)]


def _answered(message: Message) -> list[dict[str, Any]]:
    """Return an answer as the provider sent it, else in this protocol's own form."""
    kept = tool_turns.of_protocol(message, ANTHROPIC)
    if isinstance(kept, list):
        return kept
    text, _ = wire.with_reasoning(message)
    said = [_block(text, marked=False)] if text.strip() or not message.calls else []
    calls = [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": tool_turns.arguments(call)}
        for call in message.calls
    ]
    return [*said, *calls]


def _block(text: str, marked: bool) -> dict[str, Any]:
    return {"type": "text", "text": text} | ({"cache_control": CACHED} if marked else {})


def _image(image: bytes) -> dict[str, Any]:
    data = b64encode(image).decode()
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}


def _tools(answer: AnswerFormat | None, thinks: bool) -> dict[str, Any]:
    tools: list[dict[str, Any]] = [
        {"name": each["name"], "description": each["description"], "input_schema": each["parameters"]}
        for each in tool_turns.functions(answer)
    ]
    if not tools or answer is None:
        return {}
    # A model that thinks cannot be forced to call; the harness reminds it if it does not.
    choice = {"type": "auto" if thinks else "any", "disable_parallel_tool_use": not answer.several}
    return {"tools": tools, "tool_choice": choice}


class _Usage(msgspec.Struct, frozen=True):
    input_tokens: Any = 0
    output_tokens: Any = 0
    cache_read_input_tokens: Any = 0
    cache_creation_input_tokens: Any = 0


class _Body(msgspec.Struct, frozen=True):
    content: list[dict[str, Any]]
    model: str | None = None
    stop_reason: str | None = None
    usage: msgspec.Raw = wire.NOTHING


async def read(body: bytes, messages: Sequence[Message]) -> Answer:
    """Parse an answer; no text, a refusal and a tool call are answers as well."""
    whole = wire.decoded(body, _Body)
    text = "".join(_texts(whole.content, "text"))
    reasoning = "\n\n".join(_texts(whole.content, "thinking"))
    calls = _calls(whole.content)
    counted = wire.lenient(whole.usage, _Usage)
    read_, written = (
        wire.tokens(counted.cache_read_input_tokens),
        wire.tokens(counted.cache_creation_input_tokens),
    )
    # The provider counts what it took from its cache and wrote to it apart from the rest of the prompt.
    taken = wire.tokens(counted.input_tokens) + read_ + written
    usage = wire.usage(taken, counted.output_tokens, read_)
    finish = FINISHES.get(whole.stop_reason or "", whole.stop_reason or "stop")
    native = tool_turns.native(ANTHROPIC, whole.content) if calls else ""
    reply = await wire.reply(
        *(text, reasoning, finish, usage, whole.model or "", messages), calls=calls, native=native
    )
    return Answer(reply, written=written)


def _texts(blocks: Sequence[Mapping[str, Any]], kind: str) -> list[str]:
    return [str(block.get(kind, "")) for block in blocks if block.get("type") == kind]


def _calls(blocks: Sequence[Mapping[str, Any]]) -> tuple[ToolCall, ...]:
    made = [block for block in blocks if block.get("type") == "tool_use"][: tool_turns.MOST_CALLS]
    return tuple(
        tool_turns.call_of(each.get("id"), each.get("name", ""), json.dumps(each.get("input") or {}), place)
        for place, each in enumerate(made)
    )
