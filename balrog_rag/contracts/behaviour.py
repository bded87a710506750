"""The contracts: what an agent, a model, a retriever and an environment are.

A language agent reaches the outside world through two handles only, `LLM.complete` and
`Knowledge.search`; both journal every effect before the agent sees it. Everything else it does must be a
pure function of what it was given: no clock, no unseeded randomness, no file, no network.

How each kind is made (the factory that a registry holds):

    agent        factory(config: AgentConfig, view: TaskView, llm: LLM, knowledge: Knowledge) -> Agent
    program      a ProgramKind, see contracts/programs.py
    model        factory(config: ModelConfig) -> Model
    environment  an EnvironmentKind, see contracts/kinds.py
    embedder, index, corpus, reranker: see balrog_rag.knowledge
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from balrog_rag.contracts.data import (
    AnswerFormat,
    Burst,
    Decision,
    Message,
    Observation,
    Passage,
    ProgramPlayer,
    Purpose,
    Reply,
    Request,
    TaskView,
    Transition,
)
from balrog_rag.contracts.events import Event
from balrog_rag.contracts.programs import Press


class Agent(Protocol):
    """A language agent: a coroutine between an observation and a decision, with memory of its own."""

    async def act(self, observation: Observation) -> Decision:
        """Decide what to do now."""
        ...

    def recall(self, observation: Observation, decision: Decision) -> None:
        """Take into memory a turn that somebody else decided (a fork, a demonstration)."""
        ...


class Model(Protocol):
    """A language model behind any provider."""

    name: str

    async def complete(self, request: Request) -> Reply:
        """Answer, or raise a ModelError; retries happen inside, within their bounds."""
        ...

    async def close(self) -> None:
        """Give back connections and processes."""
        ...


class Retriever(Protocol):
    """A searchable knowledge base."""

    name: str

    async def search(self, query: str, k: int) -> Sequence[Passage]:
        """The best k passages for the query, best first; fewer or none where there are no more."""
        ...

    async def close(self) -> None:
        """Give back threads and mapped files."""
        ...


class LLM(Protocol):
    """An agent's handle to its model; journaled and counted."""

    async def complete(
        self, messages: Sequence[Message], purpose: Purpose = "act", answer: AnswerFormat | None = None
    ) -> Reply:
        """Ask the model."""
        ...


class Knowledge(Protocol):
    """An agent's handle to the knowledge base; journaled and counted."""

    async def search(self, query: str, k: int) -> Sequence[Passage]:
        """Look something up."""
        ...


class Meter(Protocol):
    """Counts what an episode and its run spend; the play loop asks it before every call."""

    def admit(self) -> None:
        """Raise LimitReached where a cap leaves no room for another call."""
        ...

    def charge(self, reply: Reply, purpose: Purpose) -> None:
        """Count a call, live or replayed."""
        ...


class Watcher(Protocol):
    """Sees an episode go by: displays, logs, CSV files, exporters. Must not change anything."""

    def see(self, event: Event) -> None:
        """Take one event in; those that do not matter to it are passed over."""
        ...


class RunningGame(Protocol):
    """A running game as the play loop holds it, wherever it lives."""

    view: TaskView
    start: Transition
    """The first observation."""

    async def play(self, actions: Sequence[str]) -> Sequence[Transition]:
        """Take the actions one after the other; stops early where the game ends."""
        ...

    async def run(self, player: ProgramPlayer, most: int, recorded: Burst | None = None) -> Transition:
        """Let a program play on, for so many presses at most, or as recorded; goes on where it stopped."""
        ...

    async def close(self) -> None:
        """End the game and give its place back."""
        ...


class Environment(Protocol):
    """A game in the process that holds it: synchronous, one a thread, text out.

    One that can do so cheaply also offers what programs need: `screen`, `press` and `look` of `Pressable`.
    """

    view: TaskView

    def reset(self) -> Transition:
        """Start the game that the spec describes."""
        ...

    def step(self, action: str) -> Transition:
        """Take one plain action."""
        ...

    def close(self) -> None:
        """Give back everything the game holds."""
        ...


class Pressed(NamedTuple):
    """What one press of a program did."""

    reward: float = 0.0
    keys: int = 1
    ended: str = ""
    message: str = ""
    """What the game said of it."""


class Pressable(Environment, Protocol):
    """An environment that programs can play without an observation being made at every press."""

    @property
    def screen(self) -> Any:
        """What programs see: the raw screen of this moment, which the next press may fill anew."""
        ...

    @property
    def numbers(self) -> Mapping[str, int]:
        """The numbers of this moment."""
        ...

    def press(self, press: Press) -> Pressed:
        """Press a plain action or a key."""
        ...

    def event(self) -> str:
        """What happened at the last press that a player would want to know of; empty where nothing did."""
        ...

    def look(self, message: str, ended: str) -> Transition:
        """The present moment as an observation, with this message; of a game that is over its last."""
        ...
