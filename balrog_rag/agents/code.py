"""Code as action: the model writes a short program each step, and keeps the functions that it defines."""

import ast
import re
from typing import Any, ClassVar

import msgspec

from balrog_rag.agents.agent_options import options_as
from balrog_rag.agents.answers import UNREADABLE, WHOLE
from balrog_rag.agents.base import BaseAgent, example_action
from balrog_rag.agents.prompts.prompt import Prompt
from balrog_rag.agents.untrusted import neutralised
from balrog_rag.code_actions.builtin_functions import BUILTINS
from balrog_rag.code_actions.code_program import NAME, attached
from balrog_rag.code_actions.code_syntax import (
    LONGEST_CODE,
    CodeRefused,
    called_names,
    checked,
    functions,
    searches,
)
from balrog_rag.config.agent_schema import AgentConfig
from balrog_rag.contracts.behaviour import LLM, Knowledge
from balrog_rag.contracts.data import Action, AnswerFormat, Call, Decision, Observation, Reply, TaskView
from balrog_rag.contracts.programs import ProgramKind

MOST_FUNCTIONS = 20
"""Functions kept; the ones defined longest ago go first."""
LONGEST_PASSAGE = 1500
_BLOCK = re.compile(r"```(?:python|py)?[ \t]*\n(.*?)(?:\n[ \t]*```|$)", re.DOTALL)


class CodeOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The options that agent.options may set."""

    search: bool = False
    """Whether code may search the knowledge base."""
    passages: int = 3
    """How many passages a search returns."""


def options_of(config: AgentConfig) -> CodeOptions:
    """Parse agent.options."""
    return options_as(config, CodeOptions)


class Code(BaseAgent):
    """The first block of code in the answer is the action."""

    style, order = WHOLE, "answer_code"
    programs: ClassVar[tuple[str, ...]] = (NAME,)
    """Programs that its games offer, whatever env.programs says."""

    def __init__(self, config: AgentConfig, view: TaskView, llm: LLM, knowledge: Knowledge) -> None:
        """`view` is everything that the agent knows of its task before the first observation."""
        self._options = options_of(config)
        self._skills = tuple(each for each in view.programs if each.name != NAME)
        self._library: dict[str, str] = {}
        self._found: dict[str, list[str]] = {}
        self._call: Call | None = None
        super().__init__(config, _without_code(view), llm, knowledge)
        if self.tools is not None:
            self._answer = self.tools.offering(self.view.programs)
        else:
            self._answer = AnswerFormat((), reasoning=True)

    @staticmethod
    def looks_up(config: AgentConfig) -> bool:
        """Whether it may ever search."""
        return options_of(config).search

    def instruction(self) -> str:
        """Return the game's instruction and the functions that code may call."""
        api = self.prompts.fixed(
            "code_api",
            example=example_action(self.view),
            parts="as the observations show them",
            search=self._options.search,
            skills={_form(each): each.says for each in self._skills},
            builtins=", ".join(sorted(BUILTINS)),
        )
        return f"{super().instruction()}\n\n{api}"

    async def ask(self, observation: Observation) -> Prompt:
        """Return the prompt, with the functions defined so far."""
        prompt = await super().ask(observation)
        if self._library:
            forms = [source.partition("\n")[0] for source in self._library.values()]
            prompt.before.append(self.prompts.render("code_library", functions=forms))
        return prompt

    async def answer(self, prompt: Prompt) -> Reply:
        """Get the model's code, and search for what it searches for."""
        reply = await super().answer(prompt)
        source = code_of(reply)
        self._call = None
        if source:
            self._found = await self._searched(source)
            self._call = Call(NAME, (source,), attached(self._used(source), self._found))
        return reply

    async def _searched(self, source: str) -> dict[str, list[str]]:
        if not self._options.search:
            return {}
        try:
            queries = searches(checked(source))
        except CodeRefused:
            return {}  # the program says what is wrong with it
        found = {}
        for query in queries:
            passages = await self.knowledge.search(query, self._options.passages)
            found[query] = [neutralised(each.text)[:LONGEST_PASSAGE] for each in passages]
        return found

    def _used(self, source: str) -> dict[str, str]:
        """Return the kept functions that the code uses, also through others; keep those that it defines."""
        try:
            tree = checked(source)
        except CodeRefused:
            return {}
        wanted, used = called_names(tree), dict[str, str]()
        while new := {name for name in wanted if name in self._library and name not in used}:
            for name in sorted(new):
                used[name] = self._library[name]
                wanted |= called_names(ast.parse(self._library[name]))
        for name, text in functions(tree).items():
            self._library.pop(name, None)
            self._library[name] = text
        while len(self._library) > MOST_FUNCTIONS:
            del self._library[next(iter(self._library))]
        return used

    def read(self, reply: Reply) -> Decision:
        """Return the code as the action."""
        call = self._call
        action = UNREADABLE if call is None else call.text
        self._remember(f"```python\n{call.arguments[0]}\n```" if call else UNREADABLE, reply)
        notes: dict[str, Any] = {"read": "none" if call is None else "strict"}
        return Decision(action, reply.text, reply.reasoning, notes, call=call)


def _without_code(view: TaskView) -> TaskView:
    """Return the task without the action that the agent itself takes, for the instruction's list of actions.

    With native tools it stays, as the only tool.
    """
    own = tuple(each for each in view.programs if each.name == NAME)
    forms = {each.form for each in view.programs}
    actions = {name: says for name, says in view.actions.items() if name not in forms}
    return msgspec.structs.replace(view, programs=own, actions=actions)


def code_of(reply: Reply) -> str:
    """Return the code of an answer: of its first call, of its first block, or the whole answer."""
    for call in reply.calls:
        if call.name == NAME:
            return _argument(call.arguments)
    block = _BLOCK.search(reply.text)
    source = block.group(1) if block else reply.text if not reply.calls else ""
    return source.strip("\n")[:LONGEST_CODE] if source.strip() else ""


def _argument(arguments: str) -> str:
    try:
        found = msgspec.json.decode(arguments)
    except msgspec.DecodeError:
        return ""
    code = found.get("code") if isinstance(found, dict) else None
    return code[:LONGEST_CODE] if isinstance(code, str) and code.strip() else ""


def _form(skill: Action | ProgramKind) -> str:
    """Return how code calls a skill."""
    names = [f"{each.name}=None" if each.optional else each.name for each in skill.parameters]
    return f"{skill.name}({', '.join(names)})"
