"""What every language agent shares: an instruction, a history, and a turn in three verbs: ask, answer, read.

An agent is a subclass that says how its answers are written. A wrapper is an agent around an agent that
changes one of the verbs; only the outermost one's `act` is called.
"""

from collections.abc import Mapping
from typing import ClassVar, Protocol

from balrog_rag.agents.answers import TAGS, TAGS_OR_LETTERS, Style, read
from balrog_rag.agents.prompts import Prompts, of_kind
from balrog_rag.agents.prompts.history import History
from balrog_rag.agents.prompts.prompt import Prompt
from balrog_rag.config.schema import AgentConfig
from balrog_rag.contracts.behaviour import LLM, Knowledge
from balrog_rag.contracts.data import Decision, Message, Observation, Reply, Role, TaskView
from balrog_rag.contracts.kinds import kind_of


class Wrappable(Protocol):
    """An agent that can be wrapped."""

    style: Style
    prompts: Prompts
    view: TaskView

    async def act(self, observation: Observation) -> Decision:
        """Decide what to do now."""
        ...

    async def ask(self, observation: Observation) -> Prompt:
        """Take in the moment, and say what the model is to be asked about it."""
        ...

    async def answer(self, prompt: Prompt) -> Reply:
        """Have the model answer."""
        ...

    def read(self, reply: Reply) -> Decision:
        """Find the action in the answer, and remember it."""
        ...

    def recall(self, observation: Observation, decision: Decision) -> None:
        """Take into memory a turn that somebody else decided."""
        ...


class BaseAgent:
    """An agent that is asked once a step; subclasses name the style and the prompt of its answers."""

    style: Style = TAGS
    order: ClassVar[str] = "answer_robust_cot"
    """The prompt that says how to answer."""
    closing: ClassVar[str] = "closing"
    """The prompt that ends the instruction."""
    own_prompts: ClassVar[Mapping[str, str]] = {}
    """Prompts that come with the agent itself, by name; a plug-in keeps its words here."""

    def __init__(self, config: AgentConfig, view: TaskView, llm: LLM, knowledge: Knowledge) -> None:
        """`view` is all that the agent knows of its task before the first observation."""
        self.config, self.view, self.llm, self.knowledge = config, view, llm, knowledge
        kind = kind_of(view.env)
        self.prompts = Prompts(config.prompts, kind, {**of_kind(kind), **self.own_prompts})
        self.history = History(config, self.prompts, kind.hints.signals)
        self._head = self.head()
        if config.fallback == "letters" and self.style is TAGS:
            self.style = TAGS_OR_LETTERS
        self._order = self.prompts.fixed(
            self.order,
            example=config.example or example_action(view),
            reason_words=in_words(config.reason_words),
        )
        self._answer = self.style.answer(view)

    def instruction(self) -> str:
        """What stands at the top of every prompt."""
        env, actions = self.view.env, self.view.actions
        advised, warned = self.config.system != "balrog", self.config.system == "paper"
        name = f"instruction_{env}" if self.prompts.has(f"instruction_{env}") else "instruction"
        return self.prompts.fixed(
            name,
            actions=actions,
            goal=self.view.goal,
            task=self.view.task,
            advice=self._if_there(f"advice_{env}") if advised else "",
            warning=self._if_there(f"warning_{env}") if warned else "",
            closing=self.prompts.fixed(self.closing),
        )

    def _if_there(self, name: str) -> str:
        return self.prompts.fixed(name) if self.prompts.has(name) else ""

    def head(self) -> tuple[Message, ...]:
        """The messages before the history; the same at every step."""
        role: Role = "system" if self.config.instruction_role == "system" else "user"
        return (Message(role, self.instruction(), stable=True),)

    async def act(self, observation: Observation) -> Decision:
        """Decide what to do now."""
        return self.read(await self.answer(await self.ask(observation)))

    async def ask(self, observation: Observation) -> Prompt:
        """Take in the moment, and say what the model is to be asked about it."""
        history = self.history
        history.see(observation)
        return Prompt(
            self._head, history.past(), history.current(), self._order, self._answer, history.picture()
        )

    async def answer(self, prompt: Prompt) -> Reply:
        """Have the model answer."""
        return await self.llm.complete(prompt.messages(), "act", prompt.answer)

    def read(self, reply: Reply) -> Decision:
        """Find the action in the answer, and remember it."""
        found = read(reply.text, self.style, self.view, self.config.lenient)
        self.history.do(found.action, reply.text)
        return Decision(found.action, reply.text, reply.reasoning, {"read": found.how})

    def invalid_notice(self, taken: str) -> str:
        """What precedes the next observation after an answer without a valid action."""
        return self.prompts.exact("invalid", action=taken)

    def recall(self, observation: Observation, decision: Decision) -> None:
        """Take into memory a turn that somebody else decided."""
        self.history.see(observation)
        self.history.do(decision.action, decision.answer)


class Wrapper:
    """An agent around an agent: changes one of the verbs and leaves the others to the one inside."""

    def __init__(self, inner: Wrappable) -> None:
        """`inner` may be a wrapper itself."""
        self.inner = inner
        self.style, self.prompts, self.view = inner.style, inner.prompts, inner.view
        self.signals = kind_of(inner.view.env).hints.signals

    async def act(self, observation: Observation) -> Decision:
        """Decide what to do now."""
        return self.read(await self.answer(await self.ask(observation)))

    async def ask(self, observation: Observation) -> Prompt:
        """What the inner agent asks."""
        return await self.inner.ask(observation)

    async def answer(self, prompt: Prompt) -> Reply:
        """The answer that the inner agent gets."""
        return await self.inner.answer(prompt)

    def read(self, reply: Reply) -> Decision:
        """What the inner agent reads."""
        return self.inner.read(reply)

    def invalid_notice(self, taken: str) -> str:
        """What precedes the next observation after an answer without a valid action."""
        return self.prompts.exact("invalid", action=taken)

    def recall(self, observation: Observation, decision: Decision) -> None:
        """Take into memory a turn that somebody else decided."""
        self.inner.recall(observation, decision)


def example_action(view: TaskView) -> str:
    """The action that a prompt gives as an example: the first of two words, else the first."""
    return next((name for name in view.plain if " " in name), next(iter(view.plain), ""))


def in_words(number: int | None) -> str:
    """A number of words as a prompt says it; empty for None."""
    return "" if number is None else {15: "fifteen", 20: "twenty", 30: "thirty"}.get(number, str(number))
