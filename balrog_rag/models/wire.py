"""Conversion between this project's messages and replies and a provider's."""

import asyncio
import json
import re
from base64 import b64encode
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import msgspec

from balrog_rag.contracts.data import AnswerFormat, Message, Reply, ToolCall, Usage
from balrog_rag.models import tool_turns
from balrog_rag.models.token_counts import count_messages, count_text
from balrog_rag.util.secrets import redact

T = TypeVar("T")
Turns = list[dict[str, Any]]
"""Messages in the format of OpenAI's protocol and LiteLLM."""

MOST_CACHE_MARKS = 4
"""Anthropic accepts no more in one prompt."""
LONGEST_ANSWER = 1 << 18
"""Characters kept of an answer, and of its reasoning: more than any model produces on purpose."""
SLICE = 1 << 15
LONGEST_NAME = 500
LONGEST_NUMBER = 32
MOST_TOKENS = 1 << 53
"""Token counts from here on are treated as errors."""
SMALL = 1 << 18
"""Bytes up to which a list in an answer is parsed: a longer one would take too long."""
FORGIVEN = 1 << 18
"""Bytes up to which a body that is not quite JSON is still parsed."""
NOTHING = msgspec.Raw(b"null")
THOUGHT = re.compile(r"<(think|thinking)>(.*?)</\1>(.*)", re.DOTALL)


def fused(messages: Iterable[Message]) -> list[Message]:
    """Join adjacent messages of one role, for models whose roles must alternate."""
    result: list[Message] = []
    for message in messages:
        if (
            result
            and result[-1].role == message.role
            and not (_uses_tools(result[-1]) or _uses_tools(message))
        ):
            last = result.pop()
            text, images = f"{last.text}\n\n{message.text}", last.images + message.images
            thought = message if message.reasoning else last
            message = Message(
                message.role, text, images, message.stable, thought.reasoning, thought.reasoning_in
            )
        result.append(message)
    return result


def _uses_tools(message: Message) -> bool:
    return bool(message.calls or message.results)


def outgoing(messages: Sequence[Message], *, fuse: bool, mark: bool, parts: bool = False) -> Turns:
    """Return the messages as they are sent; `mark` sets the cache marks that Anthropic's models need.

    `parts` writes every content as a list of parts, as BALROG's client does; fused messages keep their parts.
    """
    messages = tool_turns.paired(messages)
    turns = fused(messages) if fuse and not parts else messages
    marked = {place for place, turn in enumerate(turns) if mark and turn.stable}
    # The last marks win: the longest common prefix of the next prompt is the one worth caching.
    kept = set(sorted(marked)[-MOST_CACHE_MARKS:])
    made = [each for place, turn in enumerate(turns) for each in _turns(turn, place in kept, parts)]
    return _joined(made) if fuse and parts else made


def _joined(turns: Turns) -> Turns:
    """Join adjacent turns of one role into one with the parts of all."""
    result: Turns = []
    for turn in turns:
        joins = bool(result) and result[-1]["role"] == turn["role"] and isinstance(turn.get("content"), list)
        if joins and "tool_calls" not in {**turn, **result[-1]}:
            result[-1]["content"] += turn["content"]
        else:
            result.append(turn)
    return result


CHAT = "chat"
"""The protocol by which LiteLLM and OpenAI's chat completions write an answer."""
KEPT_FIELDS = (
    *("content", "tool_calls", "reasoning_content", "reasoning", "reasoning_details", "thinking_blocks"),
    "provider_specific_fields",
)
"""Fields of an answer with calls that are sent back; the others are only for readers."""


def _turns(message: Message, marked: bool, in_parts: bool) -> Turns:
    """Return a message as turns: one, or one for each result that it brings."""
    if not (marked or in_parts or message.images or message.reasoning_in or message.calls or message.results):
        return [{"role": message.role, "content": message.text}]  # nearly all, and a prompt has dozens
    if message.calls:
        return [{"role": "assistant", **_called(message)}]
    if not message.results:
        return [_turn(message, marked, in_parts)]
    turns: Turns = [
        {"role": "tool", "tool_call_id": name, "content": text} for name, text in tool_turns.results(message)
    ]
    # A tool's result has text only, so pictures follow in a turn of their own.
    return turns + ([_turn(_picture(message), False, True)] if message.images else [])


def bearer(key: str | None) -> dict[str, str]:
    """Return the header with a key as most servers want it."""
    return {"authorization": f"Bearer {key}"} if key else {}


def _picture(message: Message) -> Message:
    return Message("user", "The image of this observation:", message.images)


def _called(message: Message) -> dict[str, Any]:
    """Return an answer with calls as the provider sent it, else in this protocol's own form."""
    kept = tool_turns.of_protocol(message, CHAT)
    if isinstance(kept, dict):
        return kept
    functions = [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
        for call in message.calls
    ]
    return {"content": message.text or None, "tool_calls": functions}


def chat_calls(sent: Any) -> tuple[tuple[ToolCall, ...], str]:
    """Return the calls of an answer, from its message as data, and that message as it is sent back."""
    listed = sent.get("tool_calls") if isinstance(sent, dict) else None
    if not isinstance(listed, list):
        return (), ""
    calls = []
    for place, each in enumerate(listed[: tool_turns.MOST_CALLS]):
        function = each.get("function") if isinstance(each, dict) else None
        if isinstance(function, dict) and function.get("name"):
            name, given = function["name"], function.get("arguments")
            calls.append(tool_turns.call_of(each.get("id"), name, given, place))
    if not calls:
        return (), ""
    identified = all(isinstance(each, dict) and each.get("id") for each in listed)
    kept = {name: sent[name] for name in KEPT_FIELDS if _says(sent.get(name))}
    whole = identified and len(calls) == len(listed)
    return tuple(calls), tool_turns.native(CHAT, kept) if whole else ""


def _says(value: Any) -> bool:
    """Whether a field of an answer has any content."""
    return any(map(_says, value.values())) if isinstance(value, dict) else value is not None


def chat_tools(answer: AnswerFormat | None) -> dict[str, Any]:
    """Return the fields that offer tools; {} if the answer is a text."""
    tools = [{"type": "function", "function": each} for each in tool_turns.functions(answer)]
    if not tools or answer is None:
        return {}
    return {"tools": tools, "tool_choice": "required", "parallel_tool_calls": answer.several}


def _turn(message: Message, marked: bool, in_parts: bool) -> dict[str, Any]:
    text, apart = with_reasoning(message)
    if not message.images and not marked and not in_parts:
        return {"role": message.role, "content": text, **apart}
    parts: list[dict[str, Any]] = [{"type": "text", "text": text}]
    parts += [{"type": "image_url", "image_url": {"url": _png(image)}} for image in message.images]
    if marked:
        parts[-1]["cache_control"] = {"type": "ephemeral"}
    return {"role": message.role, "content": parts, **apart}


def with_reasoning(message: Message) -> tuple[str, dict[str, str]]:
    """Return a turn's text and further fields, with its reasoning where the provider had put it."""
    place, thought = message.reasoning_in, message.reasoning
    if place.startswith("<"):
        return f"{place}{thought}</{place[1:]}{message.text}", {}
    return message.text, ({place: thought} if place and thought else {})


def _png(image: bytes) -> str:
    return f"data:image/png;base64,{b64encode(image).decode()}"


def decoded(body: bytes, kind: type[T]) -> T:
    """Parse a body as that Struct; raise ValueError or RecursionError if it is not one."""
    try:
        return msgspec.json.decode(body, type=kind)
    # A subclass of DecodeError: valid JSON of another shape, which no second parse can repair.
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError:
        if len(body) > FORGIVEN:
            raise
    # Lone surrogates, or NaN among log-probabilities: Python's own decoder accepts both.
    loose = json.loads(body, parse_constant=lambda name: None)
    return msgspec.json.decode(json.dumps(loose, ensure_ascii=False).encode("utf-8", "replace"), type=kind)


def text(raw: msgspec.Raw) -> str:
    """Return a text, or the joined texts of a list of parts; "" for anything else."""
    data = bytes(raw)
    if data.startswith(b'"'):
        return msgspec.json.decode(data, type=str)
    if data.startswith(b"[") and len(data) <= SMALL:
        parts = json.loads(data)
        return "".join(str(part["text"]) for part in parts if isinstance(part, dict) and "text" in part)
    return ""


def number(raw: msgspec.Raw) -> Any:
    """Return a number, or None if it is too long to be one."""
    return msgspec.json.decode(raw) if len(bytes(raw)) <= LONGEST_NUMBER else None


async def reply(
    text: str,
    reasoning: str,
    finish: str,
    counted: Usage | None,
    model: str,
    messages: Sequence[Message],
    reasoning_in: str = "",
    calls: tuple[ToolCall, ...] = (),
    native: str = "",
    fingerprint: str = "",
) -> Reply:
    """Return a reply without its price."""
    calls, native = await _kept_calls(calls, native)
    return Reply(
        await kept(text),
        reasoning=await kept(reasoning),
        # An answer cut here is marked like one that the provider cut.
        finish=finish if len(text) <= LONGEST_ANSWER else "length",
        usage=counted or estimate(messages, text[:LONGEST_ANSWER]),
        model=(await sound(model[:SLICE]))[:LONGEST_NAME],
        reasoning_in=reasoning_in if reasoning or reasoning_in.startswith("<") else "",
        calls=calls,
        native=native,
        fingerprint=(await sound(fingerprint[:SLICE]))[:LONGEST_NAME],
    )


async def _kept_calls(calls: tuple[ToolCall, ...], native: str) -> tuple[tuple[ToolCall, ...], str]:
    """Return the calls without secrets; an answer with a secret in it is not kept as it was sent."""
    if not calls:
        return (), ""
    clean = [
        ToolCall(*[await sound(part) for part in (call.id, call.name, call.arguments)]) for call in calls
    ]
    return tuple(clean), native if await sound(native) == native else ""


async def kept(text: str) -> str:
    """Return as much of a text as is kept, without the end of a longer one, which may cut a secret."""
    seen = await sound(text[: LONGEST_ANSWER + SLICE])
    return (seen if len(text) <= LONGEST_ANSWER + SLICE else seen[:-SLICE])[:LONGEST_ANSWER]


async def sound(text: str) -> str:
    """Return the text without secrets and lone surrogates, which journals do not allow.

    A long text is processed in slices, so that other episodes can run meanwhile, and twice with shifted
    slices, since a secret may cross a border.
    """
    if not text:
        return ""
    if len(text) <= SLICE:
        return redact(text).encode("utf-8", "replace").decode()
    for begin in (0, SLICE // 2):
        slices = [text[:begin], *(text[at : at + SLICE] for at in range(begin, len(text), SLICE))]
        for place, part in enumerate(slices):
            slices[place] = redact(part).encode("utf-8", "replace").decode()
            await asyncio.sleep(0)
        text = "".join(slices)
    return text


def thought_apart(text: str) -> tuple[str, str, str]:
    """Split off a thought that a model writes before its answer; return it, the rest, and its tag."""
    found = THOUGHT.match(text)
    return (found[2], found[3], f"<{found[1]}>") if found else ("", text, "")


def usage(taken: Any, given: Any, cached: Any = 0, reasoning: Any = 0) -> Usage | None:
    """Return the provider's count, or None if it sent none that is possible."""
    read, said = tokens(taken), tokens(given)
    if not (read or said):
        return None
    return Usage(read, said, min(read, tokens(cached)), tokens(reasoning))


def lenient(raw: msgspec.Raw, kind: type[T]) -> T:
    """Parse what a provider counted; a malformed one must not lose an answer that was paid for."""
    if len(bytes(raw)) <= SMALL:
        try:
            return msgspec.json.decode(raw, type=kind)
        except msgspec.DecodeError:
            pass
    return kind()


def tokens(counted: Any) -> int:
    """Return a number of tokens; 0 if it is not a possible count."""
    whole = isinstance(counted, int) or (isinstance(counted, float) and counted.is_integer())
    return int(counted) if whole and 0 < counted < MOST_TOKENS else 0


def estimate(messages: Sequence[Message], text: str) -> Usage:
    """Estimate what a call used, if the provider does not say."""
    return Usage(count_messages(messages), count_text(text))
