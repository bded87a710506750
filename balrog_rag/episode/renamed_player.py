"""An agent in a world with other names: everything that it reads is renamed, what it writes is put back.

The game, its journal and its scores keep the original names. The agent's handles and its observations
have the invented ones, so no original name reaches a model, whatever prompt it would have come from.
"""

from collections.abc import Sequence
from typing import Any

import msgspec

from balrog_rag.contracts.behaviour import LLM, Agent, Knowledge
from balrog_rag.contracts.data import (
    Action,
    AnswerFormat,
    Decision,
    Message,
    Observation,
    Parameter,
    Passage,
    Purpose,
    Reply,
    TaskView,
)
from balrog_rag.contracts.renaming import Renaming

replace = msgspec.structs.replace


class RenamedLLM:
    """Renames every text of a prompt; the answer stays in the language of the prompt."""

    def __init__(self, llm: LLM, names: Renaming) -> None:
        self._llm, self._names = llm, names

    async def complete(
        self, messages: Sequence[Message], purpose: Purpose = "act", answer: AnswerFormat | None = None
    ) -> Reply:
        """Ask the model."""
        return await self._llm.complete([self._renamed(each) for each in messages], purpose, answer)

    def _renamed(self, message: Message) -> Message:
        if not isinstance(getattr(message, "text", None), str):
            return message  # refused where the question is checked
        text = self._names.rename(message.text)
        return message if text == message.text else replace(message, text=text)


class RenamedKnowledge:
    """Searches for the original names, and renames the passages."""

    def __init__(self, knowledge: Knowledge, names: Renaming) -> None:
        self._knowledge, self._names = knowledge, names

    async def search(self, query: str, k: int) -> Sequence[Passage]:
        """Search."""
        return [self._renamed(each) for each in await self._knowledge.search(self._names.restore(query), k)]

    def _renamed(self, passage: Passage) -> Passage:
        rename = self._names.rename
        return replace(passage, title=rename(passage.title), text=rename(passage.text))


class RenamedAgent:
    """Shows an agent renamed observations, and puts the names in its decisions back."""

    def __init__(self, agent: Agent, names: Renaming, view: TaskView) -> None:
        self._agent, self._names = agent, names
        self._code = {
            each.name
            for each in view.programs
            if any(parameter.kind == "code" for parameter in each.parameters)
        }
        """Actions whose code stays as it was written: it meets the renamed world where it runs."""

    def __getattr__(self, name: str) -> Any:
        """Return what the agent itself has, such as its own words for a notice."""
        return getattr(self._agent, name)

    async def act(self, observation: Observation) -> Decision:
        """Decide on the next action."""
        decision = await self._agent.act(renamed_observation(observation, self._names))
        if not isinstance(getattr(decision, "action", None), str):
            return decision  # refused where decisions are checked
        return decision if self._is_code(decision.action) else self._restored(decision)

    def _is_code(self, action: str) -> bool:
        return action.partition(" ")[0] in self._code

    def recall(self, observation: Observation, decision: Decision) -> None:
        """Add a turn that was decided elsewhere to the memory."""
        action = decision.action
        renamed = replace(
            decision, action=action if self._is_code(action) else self._names.rename(action), call=None
        )
        self._agent.recall(renamed_observation(observation, self._names), renamed)

    def _restored(self, decision: Decision) -> Decision:
        restore = self._names.restore
        call = decision.call
        if call is not None:
            words = [restore(each) if isinstance(each, str) else each for each in call.arguments]
            named = restore(call.name)
            call = replace(call, name=named, arguments=tuple(words), attached=restore(call.attached))
        return replace(decision, action=restore(decision.action), call=call)


def renamed_observation(observation: Observation, names: Renaming) -> Observation:
    """Return what an agent sees of a moment."""
    parts = tuple(replace(part, text=names.rename(part.text)) for part in observation.parts)
    return replace(observation, parts=parts, notice=names.rename(observation.notice))


def renamed_view(view: TaskView, names: Renaming) -> TaskView:
    """Return what an agent is told of its task."""
    rename = names.rename
    return replace(
        view,
        goal=rename(view.goal),
        actions={rename(name): rename(says) for name, says in view.actions.items()},
        accepted=frozenset(map(rename, view.accepted)),
        default_action=rename(view.default_action),
        programs=tuple(_renamed_action(each, names) for each in view.programs),
    )


def _renamed_action(action: Action, names: Renaming) -> Action:
    parameters = tuple(_renamed_parameter(each, names) for each in action.parameters)
    return Action(names.rename(action.name), names.rename(action.says), parameters)


def _renamed_parameter(parameter: Parameter, names: Renaming) -> Parameter:
    choices = tuple(map(names.rename, parameter.choices))
    return replace(parameter, says=names.rename(parameter.says), choices=choices)
