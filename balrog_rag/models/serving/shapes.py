"""The three protocols that the test server speaks: what it reads and how it answers."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import msgspec

from balrog_rag.contracts.data import Action, Parameter, ToolCall

Counts = tuple[int, int, int]
"""Input, output and cached tokens."""


class ServedQuestion(msgspec.Struct, frozen=True):
    """A request in any of the protocols."""

    texts: tuple[str, ...]
    """The text of each message, its tool calls and results included."""
    tools: tuple[Action, ...]
    model: str
    key: bytes
    """What identifies the prompt."""


class ServedAnswer(msgspec.Struct, frozen=True):
    """What the server answers."""

    text: str
    calls: tuple[ToolCall, ...]
    model: str
    counts: Counts
    finish: str = "stop"
    fingerprint: str = ""


class ServedProtocol(msgspec.Struct, frozen=True):
    """One protocol."""

    path: str
    """The end of its address."""
    read: Callable[[dict[str, Any]], ServedQuestion]
    """Parses a request's body; raises ValueError, KeyError or TypeError for another one."""
    write: Callable[..., bytes]
    """Encodes an answer; further arguments change its message, for faults."""


def _tool(name: str, says: str, schema: dict[str, Any]) -> Action:
    needed = schema.get("required", [])
    parameters = (
        Parameter(
            name=each,
            kind="integer" if said["type"] == "integer" else "text",
            least=said.get("minimum"),
            most=said.get("maximum"),
            choices=tuple(said.get("enum", ())),
            optional=each not in needed,
        )
        for each, said in schema["properties"].items()
    )
    return Action(name, says, tuple(parameters))


def _text(content: Any) -> str:
    """Return the text of a content: text, or blocks with texts, results and calls."""
    if isinstance(content, list):
        return "".join(map(_block_text, content))
    return content if isinstance(content, str) else ""


def _block_text(block: dict[str, Any]) -> str:
    if block.get("type") == "tool_use":
        return f"{block['name']} {msgspec.json.encode(block['input']).decode()}"
    return _text(block.get("text", block.get("content")))


# --- OpenAI's chat completions ---


def _read_chat(body: dict[str, Any]) -> ServedQuestion:
    messages = body["messages"]
    _check_tool_messages(messages)
    texts = tuple(f"{_text(each.get('content'))}{_chat_calls(each)}" for each in messages)
    functions = [each["function"] for each in body.get("tools", ())]
    tools = tuple(_tool(each["name"], each["description"], each["parameters"]) for each in functions)
    return ServedQuestion(texts, tools, body.get("model", "test"), msgspec.json.encode(messages))


def _check_tool_messages(messages: Sequence[dict[str, Any]]) -> None:
    """Refuse, as providers do, calls without results right after them, and results without calls."""
    waiting: list[str] = []
    for message in messages:
        if message["role"] == "tool":
            waiting.remove(message["tool_call_id"])
            continue
        if waiting:
            raise ValueError(f"tool_call_ids did not have response messages: {waiting}")
        waiting = [each["id"] for each in message.get("tool_calls") or ()]


def _chat_calls(message: dict[str, Any]) -> str:
    functions = [each["function"] for each in message.get("tool_calls") or ()]
    return "".join(f"{each['name']} {each['arguments']}" for each in functions)


def _write_chat(answer: ServedAnswer, **changes: Any) -> bytes:
    calls = [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
        for call in answer.calls
    ]
    message = {"role": "assistant", "content": answer.text, "refusal": None}
    message |= ({"tool_calls": calls} if calls else {}) | changes
    taken, given, cached = answer.counts
    finish = "tool_calls" if calls and answer.finish == "stop" else answer.finish
    return msgspec.json.encode(
        {
            "id": "chatcmpl-test",
            "object": "chat.completion",
            "created": 1_700_000_000,
            "model": answer.model,
            **({"system_fingerprint": answer.fingerprint} if answer.fingerprint else {}),
            "choices": [{"index": 0, "message": message, "finish_reason": finish, "logprobs": None}],
            "usage": {
                "prompt_tokens": taken,
                "completion_tokens": given,
                "total_tokens": taken + given,
                "prompt_tokens_details": {"cached_tokens": cached},
            },
        }
    )


# --- OpenAI's Responses API ---


def _read_responses(body: dict[str, Any]) -> ServedQuestion:
    texts = []
    pending: list[str] = []
    for item in body["input"]:
        kind = item.get("type", "message")
        if kind == "function_call":
            pending.append(item["call_id"])
        elif kind == "function_call_output":
            pending.remove(item["call_id"])
        texts.append(_text(item.get("content", item.get("output", item.get("arguments", "")))))
    if pending:
        raise ValueError(f"No tool output found for function call {pending[0]}.")
    tools = tuple(
        _tool(each["name"], each["description"], each["parameters"]) for each in body.get("tools", ())
    )
    return ServedQuestion(tuple(texts), tools, body["model"], msgspec.json.encode(body["input"]))


def _write_responses(answer: ServedAnswer, **changes: Any) -> bytes:
    text = changes.get("content", answer.text)
    items: list[dict[str, Any]] = []
    if answer.calls:
        thought = {"type": "summary_text", "text": "I think."}
        items.append(
            {"type": "reasoning", "id": "rs_1", "summary": [thought], "encrypted_content": "c2VjcmV0"}
        )
    if text:
        part = {"type": "output_text", "text": text, "annotations": []}
        items.append(
            {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [part]}
        )
    items += [
        {
            **{"type": "function_call", "id": f"fc_{place}", "call_id": call.id, "status": "completed"},
            **{"name": call.name, "arguments": call.arguments},
        }
        for place, call in enumerate(answer.calls)
    ]
    taken, given, cached = answer.counts
    cut = answer.finish == "length"
    return msgspec.json.encode(
        {
            "id": "resp_test",
            "object": "response",
            "created_at": 1_700_000_000,
            "model": answer.model,
            "status": "incomplete" if cut else "completed",
            "incomplete_details": {"reason": "max_output_tokens"} if cut else None,
            "output": items,
            "usage": {
                "input_tokens": taken,
                "output_tokens": given,
                "input_tokens_details": {"cached_tokens": cached},
                "output_tokens_details": {"reasoning_tokens": 0},
            },
        }
    )


# --- Anthropic's Messages API ---


def _read_messages(body: dict[str, Any]) -> ServedQuestion:
    turns = body["messages"]
    roles = [turn["role"] for turn in turns]
    if "max_tokens" not in body or roles[:1] != ["user"] or any(one == two for one, two in pairwise(roles)):
        raise ValueError("messages: roles must alternate from user, and max_tokens is required")
    _check_results(turns)
    texts = [_text(body.get("system", ""))] if body.get("system") else []
    tools = tuple(
        _tool(each["name"], each["description"], each["input_schema"]) for each in body.get("tools", ())
    )
    key = msgspec.json.encode([body.get("system"), turns])
    return ServedQuestion((*texts, *(_text(turn["content"]) for turn in turns)), tools, body["model"], key)


def _check_results(turns: Sequence[dict[str, Any]]) -> None:
    """Refuse, as the provider does, calls that the next turn does not answer."""
    for turn, after in zip(turns, [*turns[1:], {"content": []}], strict=True):
        used = _ids(turn, "tool_use", "id")
        if used and used != _ids(after, "tool_result", "tool_use_id"):
            raise ValueError(
                f"tool_use ids were found without tool_result blocks immediately after: {used[0]}"
            )


def _ids(turn: dict[str, Any], kind: str, name: str) -> list[str]:
    blocks = turn["content"] if isinstance(turn["content"], list) else []
    return [block[name] for block in blocks if block.get("type") == kind]


def _write_messages(answer: ServedAnswer, **changes: Any) -> bytes:
    text = changes.get("content", answer.text)
    blocks: list[dict[str, Any]] = []
    if answer.calls:
        blocks.append({"type": "thinking", "thinking": "I think.", "signature": "c2lnbmVk"})
    if text:
        blocks.append({"type": "text", "text": text})
    blocks += [
        {"type": "tool_use", "id": each.id, "name": each.name, "input": msgspec.json.decode(each.arguments)}
        for each in answer.calls
    ]
    taken, given, cached = answer.counts
    stops = {"stop": "tool_use" if answer.calls else "end_turn", "length": "max_tokens"}
    return msgspec.json.encode(
        {
            "id": "msg_test",
            "type": "message",
            "role": "assistant",
            "model": answer.model,
            "content": blocks,
            "stop_reason": stops.get(answer.finish, answer.finish),
            "usage": {
                "input_tokens": taken - cached,
                "cache_read_input_tokens": cached,
                "cache_creation_input_tokens": 0,
                "output_tokens": given,
            },
        }
    )


SHAPES = (
    ServedProtocol("/chat/completions", _read_chat, _write_chat),
    ServedProtocol("/responses", _read_responses, _write_responses),
    ServedProtocol("/messages", _read_messages, _write_messages),
)


def shape_of(path: str) -> ServedProtocol | None:
    """Return the protocol of an address; None for another page."""
    return next((shape for shape in SHAPES if path.endswith(shape.path)), None)
