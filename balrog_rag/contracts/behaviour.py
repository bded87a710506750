"""The contracts: what an agent, a model, a retriever and an environment are.

A language agent reaches the outside world through two handles only, `LLM.complete` and
`Knowledge.search`; both journal every effect before the agent sees it. Everything else it does must be a
pure function of its inputs: no clock, no unseeded randomness, no file, no network.

Factories that the registries expect:

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
    Call,
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
    """A language agent: a coroutine from an observation to a decision, with its own memory."""

    async def act(self, observation: Observation) -> Decision:
        """Decide on the next action."""
        ...

    def recall(self, observation: Observation, decision: Decision) -> None:
        """Add a turn that was decided elsewhere (a fork, a demonstration) to the memory."""
        ...


class Model(Protocol):
    """A language model behind any provider."""

    name: str

    async def complete(self, request: Request) -> Reply:
        """Answer, or raise a ModelError; retries happen inside, within their limits."""
        ...

    async def close(self) -> None:
        """Release connections and processes."""
        ...


class Retriever(Protocol):
    """A searchable knowledge base."""

    name: str

    async def search(self, query: str, k: int) -> Sequence[Passage]:
        """Return the best k passages for the query, best first; fewer if there are no more."""
        ...

    async def close(self) -> None:
        """Release threads and mapped files."""
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
        """Search the knowledge base."""
        ...


class Meter(Protocol):
    """Counts what an episode and its run spend; consulted before every call."""

    def admit(self) -> None:
        """Raise LimitReached if a cap leaves no room for another call."""
        ...

    def charge(self, reply: Reply, purpose: Purpose) -> None:
        """Count a call, live or replayed."""
        ...


class Watcher(Protocol):
    """Receives the events of episodes: displays, logs, CSV files, exporters. Must not change anything."""

    def see(self, event: Event) -> None:
        """Handle one event; ignore kinds of event that do not matter."""
        ...


class RunningGame(Protocol):
    """A running game as the play loop sees it, in whatever process it runs."""

    view: TaskView
    start: Transition
    """The first observation."""

    async def play(self, actions: Sequence[str | Call]) -> Sequence[Transition]:
        """Take the actions in order, up to the end of the game."""
        ...

    async def run(self, player: ProgramPlayer, most: int, recorded: Burst | None = None) -> Transition:
        """Let a program press up to `most` keys, or those recorded; the next call continues it."""
        ...

    async def close(self) -> None:
        """End the game and free its place."""
        ...


class Environment(Protocol):
    """A game in the process that runs it: synchronous, one per thread, text out.

    If it can do so cheaply, it is also a `PressableEnvironment`, which offers what programs need.
    """

    @property
    def view(self) -> TaskView:
        """The task, which stays the same throughout the game."""
        ...

    def reset(self) -> Transition:
        """Start the game that the spec describes."""
        ...

    def step(self, action: str) -> Transition:
        """Take one plain action."""
        ...

    def close(self) -> None:
        """Release all resources."""
        ...


class Pressed(NamedTuple):
    """The result of one press of a program."""

    reward: float = 0.0
    keys: int = 1
    ended: str = ""
    message: str = ""
    """The game's message after the press."""


class PressableEnvironment(Environment, Protocol):
    """An environment that programs can play without building an observation at every press."""

    @property
    def screen(self) -> Any:
        """The raw current screen, as programs see it; the next press may overwrite it."""
        ...

    @property
    def numbers(self) -> Mapping[str, int]:
        """The current numbers."""
        ...

    def press(self, press: Press) -> Pressed:
        """Press a plain action or a key."""
        ...

    def event(self) -> str:
        """Return what happened at the last press that a player would want to know; "" if nothing did."""
        ...

    def look(self, message: str, ended: str) -> Transition:
        """Return the current observation with this message, or the last one of a finished game."""
        ...
