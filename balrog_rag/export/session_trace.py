"""An episode as a session trace of the Hugging Face Hub: JSON lines, a session and then its messages."""

from collections.abc import Iterator
from typing import Any

import msgspec

from balrog_rag.episode.journal import Header
from balrog_rag.export.turns import ChatLine, Turns, conversation


def trace_lines(header: Header, found: Turns) -> Iterator[bytes]:
    """Yield the lines of one episode. They have no timestamps, because journals record no clock."""
    spec = header.spec
    session = {"type": "session", "harness": "balrog_rag", "id": spec.digest, "name": spec.episode}
    yield msgspec.json.encode(session) + b"\n"
    for line in conversation(found):
        yield msgspec.json.encode({"type": "message", "message": _message(line)}) + b"\n"


def _message(line: ChatLine) -> dict[str, Any]:
    message: dict[str, Any] = {"role": line.role, "content": line.text}
    if line.reasoning:
        message["reasoningContent"] = line.reasoning
    if line.model:
        message["model"] = line.model
    if line.uses:
        message["toolCalls"] = [
            {
                "id": use.id,
                "function": {"name": use.name, "arguments": msgspec.json.encode(use.arguments).decode()},
            }
            for use in line.uses
        ]
    if line.answers:
        message["toolCallId"] = line.answers
    return message
