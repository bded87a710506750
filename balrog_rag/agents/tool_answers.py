"""Answers that are native tool calls (`agent.answers=tools`), for any agent.

A call is written into the answer's text in the form of tagged actions, so that wrappers and records work with
it as with any other answer. Only calls become tags: what a model writes beside them cannot.
"""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from msgspec.structs import replace

from balrog_rag.agents.answers import CLOSE, OPEN, UNREADABLE, Reading, sections
from balrog_rag.agents.skill_answers import Skill, WrongAnswer, skill_of
from balrog_rag.config.agent_schema import AgentConfig
from balrog_rag.contracts.data import Action, AnswerFormat, Parameter, Reply, TaskView, ToolCall
from balrog_rag.contracts.surrogates import cleaned
from balrog_rag.contracts.tool_calls import tool_name

LOOK_UP = "look_up"
LOOK_UP_TOOL = Action(LOOK_UP, "Look something up in a guide before you act.", (Parameter("query", "text"),))
LOOKUP_OPEN = "<|LOOKUP|>"
PLAIN, PLAIN_ELSE = "act", "take_action"
"""The tool for plain actions; the second name if the game has a skill of the first."""
MOST_AT_ONCE = 8
"""Calls of one answer that are handled as a list if `agent.batch.size` is 1, which asks for one."""
NO_CALL = "it called no tool"


class Tools:
    """The tools of a task, and how their calls are read."""

    def __init__(self, view: TaskView, several: bool = False, more: Iterable[Action] = ()) -> None:
        """`more` are tools of the agent itself; `several`: ask for a list of calls."""
        self._view = view
        skills = (*view.programs, *more)
        self.plain = PLAIN if all(each.name != PLAIN for each in skills) else PLAIN_ELSE
        self.offered = (*_plain_tool(self.plain, view), *skills)
        self.form = AnswerFormat((), tools=self.offered, several=several)
        self.wrong = ""
        """What was wrong with the calls of the newest answer; "" if nothing was."""

    def offering(self, tools: Sequence[Action]) -> AnswerFormat:
        """Return the format of an answer that calls one of these tools only."""
        self.offered = tuple(tools)
        self.form = replace(self.form, tools=self.offered)
        return self.form

    def written(self, reply: Reply) -> Reply:
        """Return the answer with its calls in its text."""
        self.wrong = "" if reply.calls else NO_CALL
        calls = [self._tagged(call) for call in reply.calls]
        return replace(reply, text="\n".join(filter(None, (beside(reply.text), *calls))))

    def _tagged(self, call: ToolCall) -> str:
        try:
            action = self.action(call)
        except WrongAnswer as wrong:
            self.wrong = self.wrong or str(wrong)
            return f"{OPEN}{UNREADABLE}{CLOSE}"
        name, _, rest = action.partition(" ")
        return f"{LOOKUP_OPEN}{rest}{CLOSE}" if name == LOOK_UP else f"{OPEN}{action}{CLOSE}"

    def skill(self, reply: Reply) -> Skill:
        """Return the skill that an answer calls first; raise WrongAnswer if it calls none."""
        if not reply.calls:
            raise WrongAnswer(NO_CALL)
        return skill_of(self._chosen(reply.calls[0]), self.offered, " ".join(beside(reply.text).split()))

    def action(self, call: ToolCall) -> str:
        """Return the action that a call is; raise WrongAnswer if it is none."""
        chosen = self._chosen(call)
        if call.name == self.plain:
            return self._plain_action(chosen)
        return skill_of(chosen, self.offered, "").text

    def _chosen(self, call: ToolCall) -> dict[str, Any]:
        known = {tool_name(each.name): each.name for each in self.offered}
        return {**_arguments(call), "name": known.get(call.name, call.name)}

    def _plain_action(self, chosen: dict[str, Any]) -> str:
        action = chosen.get("action")
        if not isinstance(action, str) or self._view.read(action) is None:
            raise WrongAnswer(f"{self.plain}: action must be one of the listed actions")
        return action


def beside(text: str) -> str:
    """Return what a model wrote beside its calls, without tags that would look like calls."""
    return sections(text.replace(LOOKUP_OPEN, ""), OPEN)[1].replace(OPEN, "")


def tools_of(config: AgentConfig, view: TaskView) -> Tools | None:
    """Return the tools of an agent; None if it answers in text."""
    if config.answers != "tools":
        return None
    asked = config.retrieval.enabled and config.retrieval.when == "asked"
    return Tools(view, config.batch.size > 1, [LOOK_UP_TOOL] if asked else [])


def _plain_tool(name: str, view: TaskView) -> tuple[Action, ...]:
    """Return the tool that takes a plain action; none if the task has none."""
    if view.anything:
        return (Action(name, "Take an action in the game.", (Parameter("action", "text"),)),)
    others = sorted(view.accepted - set(view.plain))
    choices = tuple(each for each in (*view.plain, *others) if each.strip() == each != "")
    says = "Take a plain action of the game; the instruction describes them."
    return (Action(name, says, (Parameter("action", "text", choices=choices),)),) if choices else ()


def _arguments(call: ToolCall) -> dict[str, Any]:
    """Parse the arguments of a call."""
    try:
        found = cleaned(json.loads(call.arguments or "{}"))
    except (ValueError, RecursionError) as error:
        raise WrongAnswer(f"the arguments of {call.name[:40]} are not correct JSON") from error
    if not isinstance(found, dict):
        raise WrongAnswer(f"the arguments of {call.name[:40]} are not a JSON object")
    if "name" in found:
        raise WrongAnswer(f"{call.name[:40]} has no parameter 'name'")
    return found


def read_written(text: str, view: TaskView) -> Reading:
    """Parse the first action of an answer's written calls."""
    found, _ = sections(text, OPEN)
    taken = view.read(found[0]) if found and found[0] != UNREADABLE else None
    return Reading(UNREADABLE, "none") if taken is None else Reading.of(taken, "strict")
