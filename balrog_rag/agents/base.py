"""What every language agent shares: an instruction, a history, and a turn of ask, answer and read.

An agent is a subclass that defines the format of its answers. A wrapper is an agent around an agent that
changes one of the three steps; only the outermost one's `act` is called.
"""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Protocol

from balrog_rag.agents.answers import TAGS, TAGS_OR_LETTERS, Reading, Style, read
from balrog_rag.agents.prompts import Prompts, of_kind
from balrog_rag.agents.prompts.conversation import Conversation
from balrog_rag.agents.prompts.history import History
from balrog_rag.agents.prompts.prompt import Prompt
from balrog_rag.agents.tool_answers import Tools, read_written, tools_of
from balrog_rag.config.agent_schema import AgentConfig
from balrog_rag.contracts.behaviour import LLM, Knowledge
from balrog_rag.contracts.data import Decision, Message, Observation, Reply, Role, TaskView
from balrog_rag.contracts.kinds import kind_of

CUT = "length"
"""How a reply finishes that its provider or a limit of tokens has cut short."""


class Wrappable(Protocol):
    """An agent that can be wrapped."""

    style: Style
    prompts: Prompts
    view: TaskView
    tools: Tools | None
    """The tools it calls, with `agent.answers=tools`."""

    async def act(self, observation: Observation) -> Decision:
        """Decide on the next action."""
        ...

    async def ask(self, observation: Observation) -> Prompt:
        """Process the observation and return the prompt about it."""
        ...

    async def answer(self, prompt: Prompt) -> Reply:
        """Get the model's answer."""
        ...

    def read(self, reply: Reply) -> Decision:
        """Parse the action in the answer, and remember it."""
        ...

    def recall(self, observation: Observation, decision: Decision) -> None:
        """Add a turn that was decided elsewhere to the memory."""
        ...


class BaseAgent:
    """An agent that asks the model once per step; subclasses choose the style and prompt of its answers."""

    style: Style = TAGS
    order: ClassVar[str] = "answer_robust_cot"
    """The prompt that specifies the answer format."""
    closing: ClassVar[str] = "closing"
    """The prompt that ends the instruction."""
    own_prompts: ClassVar[Mapping[str, str]] = {}
    """Prompts that come with the agent, by name; a plug-in defines its own here."""
    append_only: ClassVar[bool] = True
    """Whether `history.window=append` works with it."""

    def __init__(self, config: AgentConfig, view: TaskView, llm: LLM, knowledge: Knowledge) -> None:
        """`view` is everything that the agent knows of its task before the first observation."""
        self.config, self.view, self.llm, self.knowledge = config, view, llm, knowledge
        kind = kind_of(view.env)
        self.prompts = Prompts(config.prompts, kind, {**of_kind(kind), **self.own_prompts})
        self.appends = config.history.window == "append"
        """Whether every message stays in the prompt as it was sent."""
        signals = kind.hints.signals
        self.history: History | Conversation = (
            Conversation(config, signals) if self.appends else History(config, self.prompts, signals)
        )
        if config.fallback == "letters" and self.style is TAGS:
            self.style = TAGS_OR_LETTERS
        self.tools = tools_of(config, view)
        self._answer = self.tools.form if self.tools else self.style.answer(view)
        self._order = self._ordered()
        if self.tools is not None:
            self.style = TAGS
        self._raw: Reply | None = None
        """The newest answer as it came, without its calls written into its text."""
        self._head = self.head()

    def _ordered(self) -> str:
        """Return the words that specify the answer format."""
        words = in_words(self.config.reason_words)
        if self.tools is not None:
            return self.prompts.fixed("answer_tools", reasoning=self.style.reasoning, reason_words=words)
        example = self.config.example or example_action(self.view)
        return self.prompts.fixed(self.order, example=example, reason_words=words)

    def instruction(self) -> str:
        """Return the text at the top of every prompt."""
        env, actions = self.view.env, self.view.actions
        advised, warned = self.config.system != "balrog", self.config.system == "paper"
        return self.prompts.fixed(
            self._instruction_name(),
            actions=actions,
            goal=self.view.goal,
            task=self.view.task,
            advice=self._if_there(f"advice_{env}") if advised else "",
            warning=self._if_there(f"warning_{env}") if warned else "",
            closing=self.prompts.fixed(self.closing),
        )

    def _instruction_name(self) -> str:
        """Return the most specific instruction: the user's for this game, the agent's own, the game's."""
        of_game = f"instruction_{self.view.env}"
        own = "instruction" in self.own_prompts and not {of_game} & {*self.own_prompts, *self.config.prompts}
        return "instruction" if own or not self.prompts.has(of_game) else of_game

    def _if_there(self, name: str) -> str:
        return self.prompts.fixed(name) if self.prompts.has(name) else ""

    def head(self) -> tuple[Message, ...]:
        """Return the messages before the history, which are the same at every step."""
        if self.appends:
            return (Message("system", f"{self.instruction()}\n\n{self._order}", stable=True),)
        role: Role = "system" if self.config.instruction_role == "system" else "user"
        return (Message(role, self.instruction(), stable=True),)

    async def act(self, observation: Observation) -> Decision:
        """Decide on the next action."""
        return self.read(await self.answer(await self.ask(observation)))

    async def ask(self, observation: Observation) -> Prompt:
        """Process the observation and return the prompt about it."""
        self.history.see(observation)
        return self.history.prompt(self._head, self._order, self._answer)

    async def answer(self, prompt: Prompt) -> Reply:
        """Get the model's answer."""
        reply = await self._asked(prompt)
        if self.tools is None:
            return reply
        if not reply.calls:
            prompt.more.append(self.prompts.fixed("tool_reminder"))
            reply = await self._asked(prompt)
        self._raw = reply
        return self.tools.written(reply)

    async def _asked(self, prompt: Prompt) -> Reply:
        reply = await self.llm.complete(prompt.messages(), "act", prompt.answer)
        prompt.answered(prompt, reply)
        return reply

    def read(self, reply: Reply) -> Decision:
        """Parse the action in the answer, and remember it."""
        if self.tools is not None:
            found = read_written(reply.text, self.view)
        else:
            found = read(reply.text, self.style, self.view, self.config.lenient)
        if reply.finish == CUT and found.call is not None:
            # `play_on 20` may be the beginning of `play_on 200`.
            found = Reading("", "cut")
        self._remember(found.action, reply)
        notes: dict[str, Any] = {"read": found.how}
        if self.tools is not None and self.tools.wrong:
            notes["wrong"] = self.tools.wrong
        if isinstance(self.history, Conversation):
            notes["segment"] = self.history.segment
        return Decision(found.action, reply.text, reply.reasoning, notes, call=found.call)

    def _remember(self, action: str, reply: Reply) -> None:
        if not isinstance(self.history, History):
            self.history.do(action, reply.text)
        elif self._raw is not None and self._raw.calls:
            self.history.called(self._raw)
        else:
            self.history.answered(action, reply.text)

    def invalid_notice(self, taken: str) -> str:
        """Return the notice before the next observation after an answer without a valid action."""
        if self.tools is not None and self.tools.wrong:
            return self.prompts.repeated("invalid_call", why=self.tools.wrong, action=taken)
        return self.prompts.repeated("invalid", action=taken)

    def recall(self, observation: Observation, decision: Decision) -> None:
        """Add a turn that was decided elsewhere to the memory."""
        self.history.see(observation)
        self.history.do(decision.action, decision.answer)


class Wrapper:
    """An agent around an agent: changes some steps and passes the others to the inner one."""

    def __init__(self, inner: Wrappable) -> None:
        """`inner` may itself be a wrapper."""
        self.inner = inner
        self.style, self.prompts, self.view = inner.style, inner.prompts, inner.view
        self.tools: Tools | None = getattr(inner, "tools", None)
        self.signals = kind_of(inner.view.env).hints.signals

    async def act(self, observation: Observation) -> Decision:
        """Decide on the next action."""
        return self.read(await self.answer(await self.ask(observation)))

    async def ask(self, observation: Observation) -> Prompt:
        """Return the inner agent's prompt."""
        return await self.inner.ask(observation)

    async def answer(self, prompt: Prompt) -> Reply:
        """Return the answer that the inner agent gets."""
        return await self.inner.answer(prompt)

    def read(self, reply: Reply) -> Decision:
        """Return the inner agent's decision."""
        return self.inner.read(reply)

    def invalid_notice(self, taken: str) -> str:
        """Return the notice before the next observation after an answer without a valid action."""
        own: Callable[[str], str] | None = getattr(self.inner, "invalid_notice", None)
        return own(taken) if own is not None else self.prompts.repeated("invalid", action=taken)

    def recall(self, observation: Observation, decision: Decision) -> None:
        """Add a turn that was decided elsewhere to the memory."""
        self.inner.recall(observation, decision)


def example_action(view: TaskView) -> str:
    """Return the action that a prompt gives as an example: the first of two words, else the first."""
    return next((name for name in view.plain if " " in name), next(iter(view.plain), ""))


def in_words(number: int | None) -> str:
    """Return a number of words as written in a prompt; "" for None."""
    return "" if number is None else {15: "fifteen", 20: "twenty", 30: "thirty"}.get(number, str(number))
