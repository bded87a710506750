"""NetPlay's agent: reads a description of its surroundings, keeps a short memory, chooses one skill."""

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, NamedTuple

import msgspec

from balrog_rag.agents.agent_options import options_as
from balrog_rag.agents.answers import TAGS, WHOLE, Style
from balrog_rag.agents.prompts import Prompts, of_kind
from balrog_rag.agents.prompts.prompt import Prompt
from balrog_rag.agents.retrieval import bare_query, listed
from balrog_rag.agents.skill_answers import THOUGHTS, Skill, WrongAnswer, fenced, read_skill
from balrog_rag.agents.tool_answers import Tools
from balrog_rag.agents.untrusted import neutralised
from balrog_rag.config.agent_schema import AgentConfig
from balrog_rag.contracts.behaviour import LLM, Knowledge
from balrog_rag.contracts.data import (
    Action,
    AnswerFormat,
    Call,
    Decision,
    GameSpec,
    Message,
    Observation,
    Parameter,
    Reply,
    TaskView,
)
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.contracts.kinds import kind_of
from balrog_rag.contracts.programs import ProgramKind
from balrog_rag.util.tokens import count_text

NO_SKILL = "no skill could be read from the answer"
"""The action recorded for such an answer; never a valid one."""
IN_POPUPS = frozenset(("press_key", "type_text", "finish_task"))
"""Skills available while the game waits for an answer."""
NO_SKILLS = "plays by skills, which these games do not offer; add env.actions=skills"
_LOOK_UP = Action(
    "look_up",
    "look something up in a guide to the game; you are asked again at once",
    (Parameter("query", "text"),),
)


def _has_skills(programs: Iterable[Action | ProgramKind]) -> bool:
    return any(each.name in IN_POPUPS for each in programs)


class NetPlayOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The options that agent.options may set."""

    task: str = ""
    """Replaces the game's own goal."""
    memory_tokens: int = 500
    censored: bool = False
    """Whether the game's name is removed from all prompts."""
    look_up: bool = False
    """Whether the skill look_up is available."""
    look_ups: int = 3
    """How often it may be used before another skill must be chosen."""


def options_of(config: AgentConfig) -> NetPlayOptions:
    """Parse agent.options."""
    return options_as(config, NetPlayOptions)


class MemoryEntry(NamedTuple):
    """An entry of the memory."""

    role: Literal["system", "assistant", "user"]
    text: str


class Memory:
    """The newest entries that fit in a number of tokens."""

    def __init__(self, tokens: int) -> None:
        """`tokens` are estimated by a fixed rule."""
        self._most = tokens
        self._entries: deque[MemoryEntry] = deque()

    def add(self, entry: MemoryEntry) -> None:
        """Add an entry, cut if it is too long by itself; drop the oldest ones beyond the limit."""
        text = entry.text.strip()
        while text and count_text(text) > self._most:
            text = text[: len(text) * self._most // count_text(text)].rstrip()
        if text:
            self._entries.append(entry._replace(text=text))
        while sum(count_text(each.text) for each in self._entries) > self._most:
            self._entries.popleft()

    def messages(self) -> list[Message]:
        """Return the entries as turns, the oldest first."""
        return [Message(entry.role, entry.text) for entry in self._entries]


class OneAnswer(Style):
    """An answer that is parsed as a whole, with a single action."""

    def several(self, text: str, view: TaskView) -> list[str]:
        """Return the answer as the only one."""
        return [text]

    def first(self, text: str, view: TaskView) -> str:
        """Return the answer."""
        return text


@dataclass
class SkillPrompt(Prompt):
    """The memory, followed by the whole question in one system message."""

    censored: str = ""
    """The name to remove."""

    def messages(self) -> list[Message]:
        """Return the turns to send."""
        head = [message.text for message in self.head]
        words = [*head, *self.guide, *self.before, self.now, *self.after, self.order, *self.more]
        turns = [*self.past, Message("system", "\n\n".join(words), self.images)]
        if not self.censored:
            return turns
        return [Message(each.role, each.text.replace(self.censored, "CENSORED")) for each in turns]


class NetPlay:
    """Chooses one skill at a time."""

    guided: ClassVar[bool] = False
    """Whether it gets the guide."""

    def __init__(self, config: AgentConfig, view: TaskView, llm: LLM, knowledge: Knowledge) -> None:
        """`view` is everything that the agent knows of its task before the first observation."""
        self.config, self.view, self.llm, self.knowledge = config, view, llm, knowledge
        self.options = options_of(config)
        if not _has_skills(view.programs):
            raise ConfigError(f"agent={config.name}: {NO_SKILLS}")
        kind = kind_of(view.env)
        self.prompts = Prompts(config.prompts, kind, of_kind(kind))
        tools = config.answers == "tools"
        self.style: Style = TAGS if tools else OneAnswer(*WHOLE)
        self.tools = Tools(view, config.batch.size > 1) if tools else None
        self._name = kind.hints.guide
        self._skills = self._offered()
        self._head = (Message("system", self._context(), stable=True),)
        self._memory = Memory(self.options.memory_tokens)
        self._memory.add(MemoryEntry("user", self._task))
        self._popup = self._wrong = False
        self._looked_up: list[str] = []

    @staticmethod
    def refuses(game: GameSpec) -> str:
        """Return why it cannot play the game; "" if the game offers NetPlay's skills."""
        return "" if _has_skills(kind_of(game.env).hints.programs(game)) else NO_SKILLS

    @staticmethod
    def looks_up(config: AgentConfig) -> bool:
        """Whether it may ever look something up."""
        return options_of(config).look_up

    @property
    def _task(self) -> str:
        return self.options.task or self.view.goal

    def _offered(self) -> tuple[Action, ...]:
        finish = (Action("finish_task", self.view.actions["finish_task"]),) if self._finishes else ()
        return (*self.view.programs, *finish, *((_LOOK_UP,) if self.options.look_up else ()))

    @property
    def _finishes(self) -> bool:
        return "finish_task" in self.view.accepted

    def _context(self) -> str:
        env = self.view.env
        name = "a game" if self.options.censored else self._name
        context = self.prompts.render(f"netplay_context_{env}", game=name, finish=self._finishes)
        return f"{context}\n\n{self.prompts.render(f'netplay_guide_{env}')}" if self.guided else context

    async def act(self, observation: Observation) -> Decision:
        """Decide on the next action."""
        return self.read(await self.answer(await self.ask(observation)))

    async def ask(self, observation: Observation) -> Prompt:
        """Process what happened and return the prompt about it."""
        self._see(observation)
        text = observation.text
        now = self.prompts.render(
            "netplay_now",
            you=text("you"),
            message=text("message").strip(),
            question=text("open question"),
            rooms=text("rooms"),
            close=text("close monsters"),
            distant=text("distant monsters"),
            exploration=text("exploration"),
            memory=text("memory"),
            advice=text("advice"),
            inventory=text("inventory"),
            statistics=text("statistics"),
            task=self._task,
        )
        return SkillPrompt(
            self._head,
            self._memory.messages(),
            now,
            self._order(text("popup")),
            self._form(),
            censored=self._name if self.options.censored else "",
        )

    def _see(self, observation: Observation) -> None:
        """Remember what happened since the last decision."""
        text = observation.text
        self._popup = bool(text("popup"))
        notice = "" if self._wrong else observation.notice.strip()
        self._wrong = False
        happened = (notice, text("message").strip(), text("events").strip())
        self._memory.add(MemoryEntry("system", "\n".join(filter(None, happened))))

    def _now_offered(self) -> list[Action]:
        return [each for each in self._skills if not self._popup or each.name in IN_POPUPS]

    def _order(self, popup: str) -> str:
        if self.tools is not None:
            return self.prompts.render("netplay_tools", popup=popup)
        skills = {each.form: each.says for each in self._now_offered()}
        return self.prompts.render("netplay_order", popup=popup, skills=skills)

    def _form(self) -> AnswerFormat:
        offered = self._now_offered()
        if self.tools is not None:
            return self.tools.offering(offered)
        plain = tuple(each.name for each in offered if not each.parameters)
        calls = tuple(each for each in offered if each.parameters)
        return AnswerFormat(plain, "{", "}", True, calls, THOUGHTS)

    async def answer(self, prompt: Prompt) -> Reply:
        """Get the model's answer; each look-up it chooses is answered by asking again with the result."""
        self._looked_up = []
        reply = await self._asked(prompt)
        while self.options.look_up and len(self._looked_up) < self.options.look_ups:
            chosen = self._read(reply)
            if not isinstance(chosen, Skill) or chosen.name != _LOOK_UP.name:
                break
            prompt = await self._with_found(prompt, bare_query(str(chosen.arguments["query"])))
            reply = await self._asked(prompt)
        return self.tools.written(reply) if self.tools is not None else reply

    async def _asked(self, prompt: Prompt) -> Reply:
        reply = await self.llm.complete(prompt.messages(), "act", prompt.answer)
        if self.tools is not None and not reply.calls:
            prompt = replace(prompt, more=[*prompt.more, self.prompts.fixed("tool_reminder")])
            reply = await self.llm.complete(prompt.messages(), "act", prompt.answer)
        return reply

    async def _with_found(self, prompt: Prompt, query: str) -> Prompt:
        self._looked_up.append(query)
        retrieval = self.config.retrieval
        passages = await self.knowledge.search(query, retrieval.k)
        text = listed(passages, retrieval.chars, retrieval.titles) or "Nothing was found."
        found = self.prompts.render("netplay_found", query=neutralised(query), text=text)
        return replace(prompt, after=[*prompt.after, found])

    def _read(self, reply: Reply) -> Skill | WrongAnswer:
        try:
            if self.tools is not None:
                return self.tools.skill(reply)
            return read_skill(reply.text, self._now_offered())
        except WrongAnswer as wrong:
            return wrong

    def read(self, reply: Reply) -> Decision:
        """Return the chosen skill; the next call tells the model what is wrong with an unusable answer."""
        chosen = self._read(reply)
        if isinstance(chosen, Skill) and chosen.name == _LOOK_UP.name:
            chosen = WrongAnswer("nothing more can be looked up now; choose another skill")
        taken = self.view.read(chosen.text) if isinstance(chosen, Skill) else None
        if isinstance(chosen, Skill) and taken is None:
            chosen = WrongAnswer(f"{chosen.name} cannot be called so")
        looked: Mapping[str, Any] = {"looked_up": list(self._looked_up)} if self._looked_up else {}
        if isinstance(chosen, WrongAnswer):
            self._memory.add(MemoryEntry("system", f"Your last answer was not used: {chosen}."))
            self._wrong = True
            notes = {"read": "none", "wrong": str(chosen), **looked}
            return Decision(NO_SKILL, reply.text, reply.reasoning, notes)
        self._memory.add(MemoryEntry("assistant", chosen.speak))
        call = taken if isinstance(taken, Call) else None
        how = "lenient" if self.tools is None and fenced(reply.text) else "strict"
        return Decision(chosen.text, reply.text, reply.reasoning, {"read": how, **looked}, call=call)

    def recall(self, observation: Observation, decision: Decision) -> None:
        """Add a turn that was decided elsewhere to the memory."""
        self._see(observation)
        chosen = self._read(Reply(decision.answer))
        said = chosen.speak if isinstance(chosen, Skill) else f"I do {decision.action}."
        self._memory.add(MemoryEntry("assistant", said))


class GuidedNetPlay(NetPlay):
    """NetPlay with a guide to the game in its instruction."""

    guided = True
