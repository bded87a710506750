"""Tool calls in a prompt: which are complete, and how an answer is kept as its provider sent it.

Providers refuse a result without its call and a call without its result. Both happen when old turns are
dropped, so what remains of such a pair is sent as plain text.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from balrog_rag.contracts.data import AnswerFormat, Message, ToolCall
from balrog_rag.contracts.tool_calls import calls_text, schema, tool_name

LONGEST_NATIVE = 1 << 18
"""Characters of an answer that is kept as its provider sent it."""
MOST_CALLS = 64
"""Calls of one answer that are read."""
LONGEST_ARGUMENTS = 1 << 16
LONGEST_ID = 256
EARLIER = "(the result is below)"
"""The result of a call whose outcome the next result shows."""
NO_TOOLS: tuple[Mapping[str, Any], ...] = ()


def paired(messages: Sequence[Message]) -> Sequence[Message]:
    """Return the prompt with complete pairs of calls and results; others become plain text."""
    if not any(message.calls or message.results for message in messages):
        return messages
    found: list[Message] = []
    place = 0
    while place < len(messages):
        message = messages[place]
        place += 1
        if not message.calls:
            found.append(_as_text(message))
            continue
        begin = place
        while place < len(messages) and messages[place].results:
            place += 1
        given = [name for each in messages[begin:place] for name in each.results]
        if given == [call.id for call in message.calls]:
            found += messages[begin - 1 : place]
        else:
            found += [_as_text(message), *map(_as_text, messages[begin:place])]
    return found


def as_text(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Return the prompt with all calls and results as plain text, for models without native calls."""
    return tuple(map(_as_text, messages))


def _as_text(message: Message) -> Message:
    """Return a turn without its calls and results."""
    if not message.calls and not message.results:
        return message
    text = "\n".join(filter(None, (message.text, calls_text(message.calls))))
    return msgspec.structs.replace(message, text=text, calls=(), native="", results=())


def results(message: Message) -> list[tuple[str, str]]:
    """Return the id and the text of each result that a turn brings."""
    *earlier, last = message.results
    return [*((name, EARLIER) for name in earlier), (last, message.text)]


def native(protocol: str, turn: Any) -> str:
    """Return an answer as it is kept; "" if it is too long to be sent back unchanged."""
    text = f"{protocol} {json.dumps(turn, ensure_ascii=False)}"
    return text if len(text) <= LONGEST_NATIVE else ""


def of_protocol(message: Message, protocol: str) -> Any:
    """Return an answer as that protocol's provider sent it; None if it came from elsewhere."""
    name, _, kept = message.native.partition(" ")
    if name != protocol:
        return None
    try:
        return json.loads(kept)
    except (ValueError, RecursionError):  # an edited journal
        return None


def call_of(identity: Any, name: Any, arguments: Any, place: int) -> ToolCall:
    """Return a call as received; a provider that sends no id gets one by its place in the answer."""
    known = identity[:LONGEST_ID] if isinstance(identity, str) and identity else f"call_{place}"
    text = arguments if isinstance(arguments, str) else json.dumps(arguments or {}, ensure_ascii=False)
    return ToolCall(known, str(name)[:LONGEST_ID], text[:LONGEST_ARGUMENTS])


def arguments(call: ToolCall) -> Any:
    """Return a call's arguments as data; {} if they are not a JSON object."""
    try:
        found = json.loads(call.arguments)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def functions(answer: AnswerFormat | None) -> list[dict[str, Any]]:
    """Return the tools of an answer: name, description, and the schema of the arguments."""
    offered = answer.tools if answer is not None else ()
    return [
        {"name": tool_name(each.name), "description": each.says, "parameters": schema(each)}
        for each in offered
    ]


def written_call(text: str) -> ToolCall | None:
    """Return the call that a constrained answer writes as a JSON object; None if it is cut short."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    name = found.pop("name", "") if isinstance(found, dict) else ""
    return call_of(None, name, found, 0) if name else None
