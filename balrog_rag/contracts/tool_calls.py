"""Native tool calls: actions as tools with a JSON schema, and calls as a provider sent them."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from balrog_rag.contracts.action_calls import Action, Parameter

LONGEST_TOOL_NAME = 64
MOST_CHOICES = 400
"""Choices that a schema lists; providers refuse longer lists, so with more any text fits."""
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]")


class ToolCall(msgspec.Struct, frozen=True, omit_defaults=True):
    """A call of a tool as a provider sent it; `arguments` is the JSON text, which may be incorrect."""

    id: str
    name: str
    arguments: str = "{}"


def tool_name(name: str) -> str:
    """Return an action's name in the characters that providers allow."""
    return _NOT_IN_NAMES.sub("_", name)[:LONGEST_TOOL_NAME]


def schema(action: Action) -> dict[str, Any]:
    """Return the JSON schema of an action's arguments."""
    return {
        "type": "object",
        "properties": {each.name: _property(each) for each in action.parameters},
        "required": [each.name for each in action.parameters if not each.optional],
        "additionalProperties": False,
    }


def _property(parameter: Parameter) -> dict[str, Any]:
    whole = parameter.kind == "integer"
    said: dict[str, Any] = {"type": "integer" if whole else "string"}
    if parameter.says:
        said["description"] = parameter.says
    if whole:
        bounds = {"minimum": parameter.least, "maximum": parameter.most}
        said |= {name: bound for name, bound in bounds.items() if bound is not None}
    elif parameter.choices and len(parameter.choices) <= MOST_CHOICES:
        said["enum"] = list(parameter.choices)
    return said


def calls_text(calls: Iterable[ToolCall]) -> str:
    """Return calls as people read them: `name {"argument": 1}`, one per line."""
    return "\n".join(f"{call.name} {call.arguments}" for call in calls)


def tools_text(tools: Sequence[Action]) -> str:
    """Return the exact text that identifies a set of tools, for the digest of a question that offers them."""
    offered = [{"name": each.name, "says": each.says, "schema": schema(each)} for each in tools]
    return msgspec.json.encode(offered, order="sorted").decode() if offered else ""
