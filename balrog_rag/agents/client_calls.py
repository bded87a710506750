"""Calls of a client with its own loop: the tools it has, and how a call is written into a journal."""

from collections.abc import Mapping
from typing import Any

import msgspec

from balrog_rag.agents.skill_answers import WrongAnswer, skill_of
from balrog_rag.contracts.data import Action, TaskView
from balrog_rag.contracts.registry import nearest
from balrog_rag.contracts.tool_calls import schema

LONGEST_CALL = 20_000
"""Longest call that is kept, in characters of its JSON; a longer one is journaled as its length."""
LONGEST_SHOWN = 80
TOO_LONG = "too_long"
TOOLS = ("next_game", "observe", "act", "search", "give_up", "report_usage")
"""Tools of every game; a skill of the same name is offered as `skill_NAME`."""


class ClientCall(msgspec.Struct, frozen=True):
    """A tool by name, with its arguments."""

    tool: str
    arguments: Mapping[str, Any] = {}


def written_call(tool: str, arguments: Mapping[str, Any] | None = None) -> str:
    """Return a call as its journal has it."""
    text = msgspec.json.encode(ClientCall(tool, arguments or {})).decode("utf-8", "replace")
    if len(text) <= LONGEST_CALL:
        return text
    return written_call(TOO_LONG, {"tool": tool[:LONGEST_SHOWN], "characters": len(text)})


def read_client_call(text: str) -> ClientCall:
    """Return the call of a journaled answer; a plain text is an action."""
    try:
        return msgspec.json.decode(text, type=ClientCall)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return ClientCall("act", {"action": text})


class ClientTool(msgspec.Struct, frozen=True):
    """A tool as a client sees it."""

    name: str
    says: str
    schema: Mapping[str, Any]


def skill_tools(view: TaskView) -> dict[str, Action]:
    """Return the skills of a task by the names of their tools."""
    return {f"skill_{each.name}" if each.name in TOOLS else each.name: each for each in view.programs}


def skill_tool(name: str, skill: Action) -> ClientTool:
    """Return a skill as a tool."""
    return ClientTool(name, skill.says or skill.form, schema(skill))


def actions_of(call: ClientCall, view: TaskView, most: int) -> list[str]:
    """Return the actions of a call that takes a step, as texts; raise WrongAnswer if it has none."""
    if call.tool == "act":
        return _listed(call.arguments, most)
    skills = skill_tools(view)
    if call.tool in skills:
        skill = skills[call.tool]
        return [skill_of({**call.arguments, "name": skill.name}, [skill], "").text]
    if call.tool == TOO_LONG:
        length = call.arguments.get("characters")
        raise WrongAnswer(f"the call has {length} characters; at most {LONGEST_CALL} are read")
    name = call.tool[:LONGEST_SHOWN]
    known = [each for each in TOOLS if each != "search"]
    raise WrongAnswer(f"there is no tool {name!r}{nearest(name, [*known, *skills])}")


def _listed(arguments: Mapping[str, Any], most: int) -> list[str]:
    given = arguments.get("action")
    listed = given if isinstance(given, list) else [given]
    others = [name for name in arguments if name != "action"]
    if others:
        raise WrongAnswer(f"act has no parameter {others[0][:LONGEST_SHOWN]!r}; it takes action")
    texts = [each.strip() for each in listed if isinstance(each, str)]
    if not texts or len(texts) < len(listed):
        raise WrongAnswer("act needs action: a text, or a list of texts")
    if len(listed) > most:
        raise WrongAnswer(f"act takes at most {most} actions in one call, this one has {len(listed)}")
    return texts
