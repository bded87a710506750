"""Players whose decisions come from outside the harness: a client with its own loop, or a person.

They are asked through the model handle, and their calls are journaled as its answers. So such an episode is
resumed, verified, shown and scored like any other. What a call does not need a step for (a look-up, another
look at the observation) is answered at once, and the player is asked again.
"""

from collections import deque
from itertools import takewhile
from typing import Any, ClassVar

from balrog_rag.agents.answers import TAGS_OR_WHOLE, read
from balrog_rag.agents.base import BaseAgent
from balrog_rag.agents.client_calls import (
    LONGEST_SHOWN,
    ClientCall,
    actions_of,
    read_client_call,
    skill_tools,
)
from balrog_rag.agents.noticing import danger
from balrog_rag.agents.retrieval import bare_query, listed
from balrog_rag.agents.skill_answers import WrongAnswer
from balrog_rag.agents.untrusted import neutralised
from balrog_rag.config.agent_schema import AgentConfig
from balrog_rag.contracts.behaviour import LLM, Knowledge
from balrog_rag.contracts.data import Decision, Message, Observation, TaskView
from balrog_rag.contracts.errors import ConfigError, GivenUp
from balrog_rag.contracts.kinds import kind_of
from balrog_rag.contracts.registry import nearest

NO_ACTION = "no action could be read from the call"
"""The action recorded for a wrong call; never a valid one."""
LONGEST_NAME = 100
MOST_CALLS = 200
"""Calls without an action at one step, after which the default action is taken."""


class OwnLoop(BaseAgent):
    """A client with its own loop."""

    handles: ClassVar[frozenset[str]] = frozenset({"retrieval", "batch"})
    """Settings that this agent carries out itself instead of a wrapper."""
    options: ClassVar[tuple[str, ...]] = ("client",)
    rules: ClassVar[str] = "client_tools"
    """The prompt that says how a decision is written."""
    append_only = False

    def __init__(self, config: AgentConfig, view: TaskView, llm: LLM, knowledge: Knowledge) -> None:
        """`view` is everything that the player is told of the task before the first observation."""
        super().__init__(config, view, llm, knowledge)
        self._signals = kind_of(view.env).hints.signals
        self._plan: deque[str] = deque()
        self._unknown: list[str] = []
        """The end of the last list, from the first action that the game does not have."""
        self._last: Observation | None = None
        self._wrong = ""

    @classmethod
    def check_settings(cls, config: AgentConfig) -> None:
        """Refuse options that do not exist, and settings that would need a model of the harness."""
        for name in config.options:
            if name not in cls.options:
                known = nearest(name, cls.options)
                raise ConfigError(f"agent.options.{name}: agent={config.name} has no such option{known}")
        sees: Any = config.options.get("sees", "prompt")
        if sees not in ("prompt", "screen"):
            raise ConfigError(f"agent.options.sees={sees}: use prompt or screen")
        client = config.options.get("client")
        if client is not None and not 0 < len(_printed(client)) <= LONGEST_NAME:
            raise ConfigError(f"agent.options.client: expected a name of 1 to {LONGEST_NAME} characters")
        if config.retrieval.enabled and config.retrieval.context == "summary":
            raise ConfigError(
                f"agent.retrieval.context=summary: agent={config.name} has no model to write it; "
                "use whole or cut"
            )
        for name, on in (("loops", config.loops.enabled), ("notebook", config.notebook.enabled)):
            if on:
                raise ConfigError(f"agent.{name}.enabled: agent={config.name} decides outside; leave it off")

    def head(self) -> tuple[Message, ...]:
        """Return the instruction and the rules of the player's tools."""
        rules = self.prompts.render(
            self.rules,
            size=self.config.batch.size,
            skills=bool(skill_tools(self.view)),
            search=self.config.retrieval.enabled,
        )
        return (Message("system", f"{self.instruction()}\n\n{rules}", stable=True),)

    async def act(self, observation: Observation) -> Decision:
        """Return the next action of the player's last call, or ask for a new call."""
        before, self._last = self._last, observation
        reason = self._reason_to_stop(before, observation)
        if self._plan and not reason:
            return Decision(self._plan.popleft(), notes={"batch": "queued"})
        remark = self._stopped(reason)
        seen = self.shown(observation)
        answer = f"{remark}\n\n{seen}" if remark else seen
        for _ in range(MOST_CALLS):
            reply = await self.llm.complete([*self._head, Message("user", answer)], "act")
            call = read_client_call(reply.text)
            if (found := await self._without_a_step(call, seen)) is None:
                return self._decided(call, reply.text)
            answer = found
        return self._refused(f"{MOST_CALLS} calls without an action", "")

    def shown(self, observation: Observation) -> str:
        """Return the text of a moment."""
        seen = self._signals.trimmed(observation) if self.config.observation.map == "trimmed" else observation
        return "\n".join(filter(None, (seen.long_term, seen.short_term))).strip("\n")

    def invalid_notice(self, taken: str) -> str:
        """Return the one line about a wrong call."""
        stop = "" if self._wrong.endswith("?") else "."  # it may end in a suggestion
        return f"Wrong call: {self._wrong}{stop} It cost a step, at which the default was taken: {taken}\n\n"

    def recall(self, observation: Observation, decision: Decision) -> None:
        """Drop the plan, since somebody else has decided."""
        self._plan.clear()
        self._unknown.clear()
        self._last = observation

    async def _without_a_step(self, call: ClientCall, seen: str) -> str | None:
        """Answer a call that takes no step; None for any other call."""
        if call.tool == "give_up":
            raise GivenUp
        if call.tool == "observe":
            return seen
        if call.tool == "report_usage":
            return "Noted."
        query = call.arguments.get("query")
        if call.tool != "search" or not self.config.retrieval.enabled or not isinstance(query, str):
            return None
        asked = bare_query(query)
        return await self._searched(asked) if asked else None

    async def _searched(self, query: str) -> str:
        settings = self.config.retrieval
        passages = await self.knowledge.search(query, settings.k)
        kept = [each for each in passages if settings.floor is None or each.score >= settings.floor]
        if not kept:
            return self.prompts.render("lookup_failed", query=neutralised(query))
        text = listed(kept, settings.chars if settings.context == "cut" else None, settings.titles)
        return self.prompts.render("reference", query=neutralised(query), text=text)

    def _decided(self, call: ClientCall, text: str) -> Decision:
        """Return the decision of a call that takes a step; its further actions are planned."""
        if call.tool == "search" and self.config.retrieval.enabled:
            return self._refused("search needs query: a text", text)
        try:
            first, *rest = actions_of(call, self.view, self.config.batch.size)
        except WrongAnswer as wrong:
            return self._refused(str(wrong), text)
        found = read(first, TAGS_OR_WHOLE, self.view, self.config.lenient)
        action, notes = found.action[:LONGEST_SHOWN], {"read": found.how}
        if not self.view.takes(found.action):
            self._wrong = f"{action!r} is not an action of this game{nearest(action, self.view.actions)}"
            return Decision(action, text, notes=notes)
        self._wrong = "the game does not take it now"
        self._plan.extend(takewhile(self.view.takes, rest))
        self._unknown = rest[len(self._plan) :]
        plan = {"batch": 1 + len(self._plan)} if rest else {}
        return Decision(found.action, text, notes={**notes, **plan}, call=found.call)

    def _refused(self, wrong: str, text: str) -> Decision:
        self._wrong = wrong
        return Decision(NO_ACTION, text, notes={"read": "none", "wrong": wrong})

    def _reason_to_stop(self, before: Observation | None, now: Observation) -> str:
        return danger(self._signals, before, now, self.config.batch.low) if before and self._plan else ""

    def _stopped(self, reason: str) -> str:
        """Drop the plan, and return a remark on what was left out of it."""
        left = [action[:LONGEST_SHOWN] for action in (*self._plan, *self._unknown)]
        if not left:
            return ""
        if not self._plan:
            reason = f"{left[0]!r} is not an action of this game"
        self._plan.clear()
        self._unknown.clear()
        return self.prompts.render("batch_stopped", reason=reason, actions=left)


class Human(OwnLoop):
    """A person."""

    options = ("client", "sees")
    rules = "person_answers"

    def shown(self, observation: Observation) -> str:
        """Return the text that a model is given, or the screen."""
        if self.config.options.get("sees", "prompt") != "screen":
            return super().shown(observation)
        numbers = kind_of(self.view.env).display.headline(observation.numbers)
        return "\n".join(filter(None, (observation.notice.strip(), observation.screen, numbers)))


def _printed(name: Any) -> str:
    """Return a name as tables show it; "" for a list or a mapping."""
    return str(name).strip() if isinstance(name, str | int | float) else ""
