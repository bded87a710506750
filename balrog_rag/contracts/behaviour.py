"""The contracts: what an agent, a policy, a model, a retriever and an environment are.

A language agent reaches the outside world through two handles only, `LLM.complete` and
`Knowledge.search`; both journal every effect before the agent sees it. Everything else it does must be a
pure function of what it was given: no clock, no unseeded randomness, no file, no network.

How each kind is made (the factory that a registry holds):

    agent        factory(config: AgentConfig, view: TaskView, llm: LLM, knowledge: Knowledge) -> Agent
    policy       factory(config: AgentConfig, view: TaskView, seed: int) -> Policy
    model        factory(config: ModelConfig) -> Model
    environment  factory(spec: GameSpec, ttyrec: str | None) -> Environment
    embedder, index, corpus, reranker: see balrog_rag.knowledge
"""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from balrog_rag.contracts.data import (
    AnswerFormat,
    Decision,
    Message,
    Observation,
    Passage,
    Purpose,
    Reply,
    Request,
    TaskView,
    Transition,
    Turn,
)
from balrog_rag.contracts.events import Event


class Agent(Protocol):
    """A language agent: a coroutine between an observation and a decision, with memory of its own."""

    async def act(self, observation: Observation) -> Decision:
        """Decide what to do now."""
        ...

    def recall(self, observation: Observation, decision: Decision) -> None:
        """Take into memory a turn that somebody else decided (a fork, a demonstration)."""
        ...


class Policy(Protocol):
    """A player without a language model; runs next to the environment at its speed.

    One whose class says `needs_raw = False` also plays environments that show no raw arrays, and gets none.
    """

    def act(self, raw: Mapping[str, Any]) -> str:
        """Name an action, given NLE's raw observation arrays."""
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


class Game(Protocol):
    """A running game as the play loop holds it, wherever it lives."""

    view: TaskView
    start: Transition
    """The first observation."""

    async def play(self, actions: Sequence[str]) -> Sequence[Transition]:
        """Take the actions one after the other; stops early where the game ends."""
        ...

    async def run_policy(self, name: str, config: Mapping[str, Any], seed: int, steps: int) -> Sequence[Turn]:
        """Let a policy play up to that many steps next to the environment; goes on where it stopped."""
        ...

    async def close(self) -> None:
        """End the game and give its place back."""
        ...


class Environment(Protocol):
    """A game in the process that holds it: synchronous, one a thread, text out."""

    view: TaskView

    def reset(self) -> Transition:
        """Start the game that the spec describes."""
        ...

    def step(self, action: str) -> Transition:
        """Take one accepted action."""
        ...

    def close(self) -> None:
        """Give back everything the game holds."""
        ...
