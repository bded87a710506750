"""Floors: players that have a game's actions and skills, and no model.

What a model is worth is what it adds to them. One chooses at random, the other follows a fixed rule that
reads only the observation that a model would read.
"""

import re
from collections.abc import Iterator
from string import ascii_letters
from typing import ClassVar

from balrog_rag.code_actions.code_program import NAME as CODE
from balrog_rag.config.agent_schema import AgentConfig
from balrog_rag.contracts.behaviour import LLM, Knowledge
from balrog_rag.contracts.data import Action, Call, Decision, Observation, Parameter, TaskView, digest
from balrog_rag.contracts.errors import ConfigError

MOST_COLUMN = 79
MORTAL, FEW, PAUSE = 7, 6, 1000
"""Hit points below a seventh, or below six, are a reason to pray; turns between two prayers."""
HUNGRY, WEAK = 2, 3
"""NetHack's numbers of these states."""
REST = 25
"""Calls for which the rule leaves out what has failed or took no game time."""
STAIRS = re.compile(r"stairs down at \((\d+), (\d+)\)")
ENEMY = re.compile(
    r"^- (?!tame|peaceful|.*(?:shopkeeper|priest|watch|guard)).* at \((\d+), (\d+)\)", re.MULTILINE
)
WAYS = ("far east", "far south", "far west", "far north", "down", "search")
DEEP = 40


class Floor:
    """A player of one kind, which acts by keys and skills, or by code if `agent.options.code` is set."""

    asks_model: ClassVar[bool] = False
    programs: ClassVar[tuple[str, ...]] = (CODE,)

    def __init__(self, config: AgentConfig, view: TaskView, llm: LLM, knowledge: Knowledge) -> None:
        """`view` is everything that the player knows of its task before the first observation."""
        known = {"code": False, **config.options}
        if {*known} != {"code"} or not isinstance(known["code"], bool):
            raise ConfigError(f"agent.options of {config.name}: use code=true, code=false or nothing")
        self._code: bool = known["code"]
        self._view = view
        self._skills = {each.name: each for each in view.programs if each.name != CODE}
        self._turn = 0

    async def act(self, observation: Observation) -> Decision:
        """Return the next action."""
        self._turn += 1
        chosen = self.choose(observation)
        return self._by_code(chosen) if self._code else _decided(chosen)

    def choose(self, observation: Observation) -> str | Call:
        """Return a plain action or a call of a skill."""
        raise NotImplementedError

    def recall(self, observation: Observation, decision: Decision) -> None:
        """Count a turn that was decided elsewhere."""
        self._turn += 1

    def _by_code(self, chosen: str | Call) -> Decision:
        if isinstance(chosen, Call):
            source = f"print({chosen.name}({', '.join(map(repr, chosen.arguments))}))"
        else:
            source = f"print(press({chosen!r}))"
        return _decided(Call(CODE, (source,)))


def _decided(chosen: str | Call) -> Decision:
    call = chosen if isinstance(chosen, Call) else None
    return Decision(chosen if isinstance(chosen, str) else chosen.text, call=call)


class RandomFloor(Floor):
    """Chooses among the plain actions and the skills, each as often, with random arguments."""

    def choose(self, observation: Observation) -> str | Call:
        """Return an action drawn by the observation and the number of the turn."""
        plain = [name for name in self._view.plain if name not in self._skills]
        names = [*plain, *self._skills]
        name = names[self._drawn(observation, "name", len(names))]
        if name not in self._skills:
            return name
        given = [self._argument(observation, each) for each in self._skills[name].parameters]
        return Call(name, tuple(given))

    def _drawn(self, observation: Observation, what: str, count: int) -> int:
        return int(digest(f"{self._turn} {what} {observation.digest}"), 16) % count

    def _argument(self, observation: Observation, parameter: Parameter) -> int | str:
        if parameter.choices:
            return parameter.choices[self._drawn(observation, parameter.name, len(parameter.choices))]
        if parameter.kind != "integer":
            return ascii_letters[self._drawn(observation, parameter.name, len(ascii_letters))]
        low = parameter.least or 0
        high = MOST_COLUMN if parameter.most is None else parameter.most
        return low + self._drawn(observation, parameter.name, high - low + 1)


class RuleFloor(Floor):
    """Does the first thing of a fixed order that is offered and was not just in vain."""

    def __init__(self, config: AgentConfig, view: TaskView, llm: LLM, knowledge: Knowledge) -> None:
        """`view` is everything that the player knows of its task before the first observation."""
        super().__init__(config, view, llm, knowledge)
        self._failed: dict[str, int] = {}
        self._last, self._time, self._prayed = "", -1, 300 - PAUSE

    def choose(self, observation: Observation) -> str | Call:
        """Return the first choice that may work; close an open question."""
        if observation.text("popup") and (closing := self._view.read("press_key ESC")):
            return closing
        before, self._time = self._time, observation.numbers.get("turn", -1)
        if "failed" in observation.notice or before == self._time != -1:
            self._failed[self._last] = self._turn
        for choice in self._wishes(observation):
            name = choice.partition(" ")[0] if self._skill(choice) else choice
            if self._turn - self._failed.get(name, -REST) >= REST and (taken := self._view.read(choice)):
                self._last = name
                self._prayed = self._time if name == "pray" else self._prayed
                return taken
        return self._view.default_action

    def _skill(self, choice: str) -> Action | None:
        return self._skills.get(choice.partition(" ")[0])

    def _wishes(self, seen: Observation) -> Iterator[str]:
        """Yield what to do, the most urgent first: the whole rule."""
        now = seen.numbers
        hp, most, hunger = now.get("hp", FEW), now.get("max_hp", 1), now.get("hunger", 0)
        may_pray = self._time - self._prayed > PAUSE
        if may_pray and (hp < FEW or hp * MORTAL < most or hunger >= WEAK):
            yield "pray"
        if hunger >= HUNGRY:
            yield "eat"
        yield from ("fetch_digger", f"dive {DEEP}", "play_on 200")
        if enemy := ENEMY.search(seen.text("close monsters")):
            yield from ("strike", f"melee_attack {enemy[1]} {enemy[2]}")
        if hp * 2 < most:
            yield "rest 20"
        if stairs := STAIRS.search(seen.text("rooms")):
            yield f"down {stairs[1]} {stairs[2]}"
        yield from ("down", "explore_level", "search_hidden 30")
        yield from (WAYS[self._turn % len(WAYS)], WAYS[-1], "rest 20")
