"""Shared by the tests of agents: configurations, a recorded game, and substitutes for the two effects."""

import asyncio
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import msgspec

from balrog_rag.agents import build
from balrog_rag.config.agent_schema import AgentConfig
from balrog_rag.config.compose import compose
from balrog_rag.contracts.behaviour import Agent
from balrog_rag.contracts.data import (
    AnswerFormat,
    Decision,
    Message,
    Observation,
    Part,
    Passage,
    Purpose,
    Reply,
    Request,
    TaskView,
)
from tests.support import numbers

GOLDEN = Path(__file__).parent / "golden"


@cache
def agent_config(option: str, *overrides: str) -> AgentConfig:
    """conf/agent/<option>.yaml with overrides such as agent.lenient=true."""
    return compose([f"agent={option}", "model=scripted", *overrides]).agent


class Recorded(msgspec.Struct, frozen=True):
    """A recorded part of a real game: how it was made, the task, and the observations."""

    game: dict[str, object]
    actions: tuple[str, ...]
    env: str
    task: str
    goal: str
    advertised: dict[str, str]
    accepted: tuple[str, ...]
    default_action: str
    moments: tuple[Observation, ...]

    @property
    def view(self) -> TaskView:
        """The task as an agent sees it."""
        return TaskView(
            self.env, self.task, self.goal, self.advertised, frozenset(self.accepted), self.default_action
        )


def recorded(name: str) -> Recorded:
    """golden/<name>.json"""
    return msgspec.json.decode((GOLDEN / f"{name}.json").read_bytes(), type=Recorded)


class Script:
    """A language model that answers by purpose and records every question."""

    def __init__(self, act: str | Callable[[Request], str] = "", query: str = "", summary: str = "") -> None:
        self.answers = {"act": act, "query": query, "summary": summary}
        self.requests: list[Request] = []

    async def complete(
        self, messages: Sequence[Message], purpose: Purpose = "act", answer: AnswerFormat | None = None
    ) -> Reply:
        request = Request(tuple(messages), purpose, answer)
        self.requests.append(request)
        text = self.answers[purpose]
        return Reply(text if isinstance(text, str) else text(request))

    def asked(self, purpose: Purpose) -> list[Request]:
        return [request for request in self.requests if request.purpose == purpose]

    def last(self, purpose: Purpose = "act") -> str:
        """The newest turn of the newest question with that purpose."""
        return self.asked(purpose)[-1].messages[-1].text


class Guide:
    """A knowledge base that finds the same passages for every query and records the queries."""

    def __init__(self, *passages: Passage) -> None:
        self.passages = passages
        self.queries: list[str] = []

    async def search(self, query: str, k: int) -> Sequence[Passage]:
        self.queries.append(query)
        return self.passages[:k]


NEWT = Passage("1", "Newt", "A newt is a harmless lizard. Its bite does 1d3.", 0.9)
STAIRS = Passage("2", "Stairs", "Stairs down are shown as >. Go down with the command down.", 0.4)


def made(config: AgentConfig, view: TaskView, script: Script, guide: Guide | None = None) -> Agent:
    """Create the agent of this configuration with these effects."""
    return build(config, view, script, guide or Guide(NEWT, STAIRS))


def perform(agent: Agent, moments: Sequence[Observation]) -> list[Decision]:
    """Let the agent act at every moment."""

    async def play() -> list[Decision]:
        return [await agent.act(moment) for moment in moments]

    return asyncio.run(play())


VIEW = TaskView(
    "nle",
    "NetHackChallenge-v0",
    "Go down.",
    {"north": "step north", "far east": "run east", "eat": "eat something", "search": "look for doors"},
    frozenset({"north", "south", "east", "far east", "eat", "search", "esc", "a", "b", "A", "7", "more"}),
    "esc",
)


def moment(
    turn: int = 1,
    message: str = "",
    language: str = "newt near east",
    hp: int = 10,
    screen: str = "@.",
    image: bytes | None = None,
    layout: str = "hybrid",
    notice: str = "",
) -> Observation:
    """Make an observation; equal arguments make equal ones."""
    status = f"Agent the Digger St:18\nDlvl:1 HP:{hp}(10) T:{turn}\n"
    parts = (
        Part("message", message),
        Part("language observation", language),
        Part("cursor", "Yourself a digger\n(x=1, y=1)"),
        Part("map", f"{screen}\n{status}", "history" if layout == "hybrid" else "never"),
        *([] if layout == "hybrid" else [Part("statistics", "HP: 10/10", "now")]),
        Part("inventory", "a: a pick-axe", "now"),
    )
    return Observation(
        parts,
        numbers(hp=hp, max_hp=10, turn=turn, depth=1, hunger=1),
        f"{turn} {message} {language} {hp} {screen}",
        notice,
        () if image is None else (image,),
    )
