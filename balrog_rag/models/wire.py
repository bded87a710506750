"""Between this project's words and LiteLLM's: a request's messages out, a reply in."""

from base64 import b64encode
from collections.abc import Iterable, Sequence
from typing import Any

from balrog_rag.contracts.data import Message, Reply, Usage
from balrog_rag.models.tokens import count_messages, count_text
from balrog_rag.util.secrets import redact

Turns = list[dict[str, Any]]
"""Messages as LiteLLM takes them."""

MOST_CACHE_MARKS = 4
"""Anthropic takes no more in one prompt."""


def fused(messages: Iterable[Message]) -> list[Message]:
    """Neighbours of one role joined, for models whose roles must alternate."""
    result: list[Message] = []
    for message in messages:
        if result and result[-1].role == message.role:
            last = result.pop()
            text, images = f"{last.text}\n\n{message.text}", last.images + message.images
            message = Message(message.role, text, images, message.stable)
        result.append(message)
    return result


def outgoing(messages: Sequence[Message], *, fuse: bool, mark: bool) -> Turns:
    """The messages as LiteLLM takes them; `mark` sets the cache marks that Anthropic's models want."""
    turns = fused(messages) if fuse else messages
    marked = {place for place, turn in enumerate(turns) if mark and turn.stable}
    kept = set(sorted(marked)[-MOST_CACHE_MARKS:])
    return [_turn(turn, place in kept) for place, turn in enumerate(turns)]


def _turn(message: Message, marked: bool) -> dict[str, Any]:
    if not message.images and not marked:
        return {"role": message.role, "content": message.text}
    parts: list[dict[str, Any]] = [{"type": "text", "text": message.text}]
    parts += [{"type": "image_url", "image_url": {"url": _png(image)}} for image in message.images]
    if marked:
        parts[-1]["cache_control"] = {"type": "ephemeral"}
    return {"role": message.role, "content": parts}


def _png(image: bytes) -> str:
    return f"data:image/png;base64,{b64encode(image).decode()}"


def incoming(response: Any, messages: Sequence[Message]) -> Reply:
    """LiteLLM's response as a reply; no text, a refusal and a tool call are answers as well."""
    choice = response.choices[0]
    message = choice.message
    text = message.content if isinstance(message.content, str) else ""
    refused = (getattr(message, "provider_specific_fields", None) or {}).get("refusal")
    finish = "refusal" if refused and not text else str(choice.finish_reason or "stop")
    return Reply(
        _sound(text),
        reasoning=_sound(str(getattr(message, "reasoning_content", None) or refused or "")),
        finish=finish,
        usage=_usage(getattr(response, "usage", None)) or _estimate(messages, text),
        model=_sound(str(response.model or "")),
    )


def _sound(text: str) -> str:
    """The text without secrets and without halves of signs (lone surrogates), which no journal can hold."""
    return redact(text).encode("utf-8", "replace").decode()


def _usage(counted: Any) -> Usage | None:
    """The provider's count, or None where it sent none."""
    if counted is None or not (counted.prompt_tokens or counted.completion_tokens):
        return None
    taken = max(0, counted.prompt_tokens or 0)
    return Usage(
        input=taken,
        output=max(0, counted.completion_tokens or 0),
        cached=min(taken, _detail(counted, "prompt_tokens_details", "cached_tokens")),
        reasoning=_detail(counted, "completion_tokens_details", "reasoning_tokens"),
    )


def _detail(counted: Any, group: str, name: str) -> int:
    return max(0, int(getattr(getattr(counted, group, None), name, None) or 0))


def _estimate(messages: Sequence[Message], text: str) -> Usage:
    return Usage(count_messages(messages), count_text(text))
