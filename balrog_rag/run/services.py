"""Makes models, indexes and agents from a player's settings, once for all episodes of a process."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from balrog_rag import agents, knowledge
from balrog_rag import models as llm
from balrog_rag.agents.demonstration_choice import for_game
from balrog_rag.config.agent_schema import AgentConfig
from balrog_rag.config.frozen import plain, thaw, tree_digest
from balrog_rag.config.schema import Config, KnowledgeConfig, ModelConfig
from balrog_rag.contracts.behaviour import LLM, Agent, Knowledge, Model, Retriever
from balrog_rag.contracts.data import Message, ProgramPlayer, Reply, Request, TaskView
from balrog_rag.contracts.errors import JournalError
from balrog_rag.contracts.programs import program_of
from balrog_rag.episode.effects import Fit
from balrog_rag.episode.spec import PlayerSpec
from balrog_rag.knowledge.progress import end_bars
from balrog_rag.models.fit import fit
from balrog_rag.models.pace import Hold, Pace
from balrog_rag.run.sharding import shared_rates
from balrog_rag.util import stopping
from balrog_rag.util.terminal_safe import one_line

T = TypeVar("T")


def resolved(config: Config) -> Config:
    """Add the content of the files that a configuration names, as a run freezes it."""
    agent = agents.resolve(config.agent)
    if not agents.retrieves(agent):
        return replace(config, agent=agent)
    knowledge.check_named(config.knowledge, agents.passages_named(agent))
    return replace(config, agent=agent, knowledge=knowledge.resolve(config.knowledge))


UNREAD = "unread"
"""Stands for the digest of a corpus that was not read."""


def unread(config: Config) -> Config:
    """Name the corpus without reading it, which may fetch or write files; never for a run."""
    named = replace(config.knowledge, corpus_digest=config.knowledge.corpus_digest or UNREAD)
    return replace(config, knowledge=named)


def player_spec(config: Config) -> PlayerSpec:
    """Return the player that a configuration describes, resolved to plain settings."""
    return player_of(resolved(config))


def player_of(config: Config) -> PlayerSpec:
    """Return the player of a resolved configuration."""
    return PlayerSpec(
        agent=plain(config.agent),
        model=plain(config.model),
        knowledge=plain(config.knowledge),
        prompt_tokens=llm.prompt_limit(config.model, config.agent.max_prompt_tokens),
    )


class LiveServices:
    """The services of a run that may go live."""

    def __init__(self, hold: Hold | None = None) -> None:
        """`hold` is awaited before every model call and retry, so that a paused run spends nothing."""
        self.hold = hold
        self.shards = 1
        """How many processes share the model's rates."""
        self._models: dict[str, Model] = {}
        self._retrievers: dict[str, Retriever] = {}
        self._agent_configs: dict[str, AgentConfig] = {}

    def agent(
        self, player: PlayerSpec, view: TaskView, llm: LLM, knowledge: Knowledge, seed: int, since: int
    ) -> Agent:
        """Make an agent, or a program that takes over at step `since`, seeded with `seed`."""
        # The agent's own limit becomes that of its prompts: an append-only history must not exceed it.
        config = replace(self._agent_config(player), max_prompt_tokens=player.prompt_tokens)
        config = for_game(config, view.env, view.task, seed)
        return agents.build(config, view, llm, knowledge, seed, since)

    def _agent_config(self, player: PlayerSpec) -> AgentConfig:
        return _once(self._agent_configs, player.agent, lambda: thaw(player.agent, AgentConfig))

    def model(self, player: PlayerSpec) -> Model | None:
        """Return the model, shared by all episodes."""
        model = self._bare_model(player)
        if self.hold is None:
            return model
        pace = getattr(model, "pace", None)
        # The pace also waits between the attempts of a call, which the wrapper below cannot see.
        if isinstance(pace, Pace):
            pace.hold = self.hold
        return PausableModel(model, self.hold)

    def _bare_model(self, player: PlayerSpec) -> Model:
        make = lambda: llm.build(shared_rates(thaw(player.model, ModelConfig), self.shards))  # noqa: E731
        return _once(self._models, player.model, make)

    def retriever(self, player: PlayerSpec) -> Retriever | None:
        """Return the knowledge base, shared by all episodes; None if the agent retrieves nothing."""
        if not agents.retrieves(self._agent_config(player)):
            return None
        make = lambda: knowledge.build(thaw(player.knowledge, KnowledgeConfig))  # noqa: E731
        return _once(self._retrievers, player.knowledge, make)

    def runs(self, player: ProgramPlayer) -> bool:
        """Return True: in a live run every program may run."""
        return True

    def fit(self, player: PlayerSpec) -> Fit:
        """Return the function that drops the oldest turns of a prompt that is too long."""
        return fitting(player.prompt_tokens)

    async def warm(self, player: PlayerSpec) -> list[str]:
        """Start slow services; return the notes that the user should see about them."""
        needs = agents.needs(thaw(player.agent, AgentConfig))
        if not (needs.model or needs.knowledge):
            return []
        model = self._bare_model(player) if needs.model else None
        await _warm(model)  # before an index build of minutes: a missing key or model must fail first
        retriever = await in_thread(lambda: self.retriever(player))
        await _warm(retriever)
        return [note for service in (retriever, model) for note in getattr(service, "notes", ())]

    def troubles(self) -> list[str]:
        """Return why models do not answer now (calls are being retried)."""
        return [trouble for model in self._models.values() if (trouble := getattr(model, "trouble", ""))]

    def model_paces(self) -> list[Pace]:
        """Return the pace of each model's calls."""
        found = [getattr(model, "pace", None) for model in self._models.values()]
        return [pace for pace in found if isinstance(pace, Pace)]

    def trouble_of(self, player: PlayerSpec) -> str:
        """Return why this player's model does not answer now; "" if it answers or was not asked here."""
        return self.trouble_at(tree_digest(player.model))

    def trouble_at(self, model: str) -> str:
        """Return the same for a model given by the digest of its settings."""
        return getattr(self._models.get(model), "trouble", "")

    def retried(self) -> int:
        """Return the number of failed attempts that were retried, over all calls."""
        return sum(getattr(model, "retried", 0) for model in self._models.values())

    async def close(self) -> None:
        """Close all models and indexes."""
        for service in (*self._models.values(), *self._retrievers.values()):
            close = getattr(service, "close", None)  # optional for plug-ins
            if close is not None:
                await close()


class ServicesOfOneModel:
    """The services of one rollout: its own model, and what all rollouts share."""

    def __init__(self, shared: LiveServices, model: Model | None) -> None:
        """`model` None: the one that the spec describes."""
        self._shared, self._model = shared, model

    def agent(
        self, player: PlayerSpec, view: TaskView, llm: LLM, knowledge: Knowledge, seed: int, since: int
    ) -> Agent:
        """Make the agent."""
        return self._shared.agent(player, view, llm, knowledge, seed, since)

    def model(self, player: PlayerSpec) -> Model | None:
        """Return the episode's model."""
        return self._model or self._shared.model(player)

    def retriever(self, player: PlayerSpec) -> Retriever | None:
        """Return the shared knowledge base."""
        return self._shared.retriever(player)

    def runs(self, player: ProgramPlayer) -> bool:
        """Return True: every program may run."""
        return True

    def fit(self, player: PlayerSpec) -> Fit:
        """Return the function that trims prompts."""
        return self._shared.fit(player)


class PausableModel:
    """A model that is not called while the run is paused."""

    def __init__(self, model: Model, hold: Hold) -> None:
        self.name = model.name
        self._model, self._hold = model, hold

    async def complete(self, request: Request) -> Reply:
        """Wait while the run is paused, then answer."""
        await self._hold()
        return await self._model.complete(request)

    async def close(self) -> None:
        """Do nothing: the services close the model."""


class ReplayServices(LiveServices):
    """The services of a replay: agents are made, but no model and no knowledge base."""

    def __init__(self, trusted: bool = False) -> None:
        """`trusted`: the code that the journal names is this user's own and may run."""
        super().__init__()
        self._trusted = trusted

    def agent(
        self, player: PlayerSpec, view: TaskView, llm: LLM, knowledge: Knowledge, seed: int, since: int
    ) -> Agent:
        """Make an agent, unless that would run a file which an untrusted journal names."""
        if not self._trusted and agents.runs_own_file(str(player.agent.get("name"))):
            options = player.agent.get("options")
            file = str(options.get("path")) if isinstance(options, Mapping) else "a file"
            raise JournalError(
                f"played by a class in {one_line(file)[:200]}, and its run was not made by you on this "
                "machine: a replay would run that file; check it, then `balrog-rag resume RUN --trust` once"
            )
        return super().agent(player, view, llm, knowledge, seed, since)

    def runs(self, player: ProgramPlayer) -> bool:
        """Whether a program may run: not if it is untrusted."""
        return self._trusted or not program_of(player.name).foreign

    def model(self, player: PlayerSpec) -> Model | None:
        """Return None: every answer is in the journal."""
        return None

    def retriever(self, player: PlayerSpec) -> Retriever | None:
        """Return None: every search is in the journal."""
        return None


def fitting(limit: int | None) -> Fit:
    """Return the trimming function for a limit on prompt tokens."""
    if limit is None:
        return lambda messages: (messages, 0)

    def fit_to_limit(messages: Sequence[Message]) -> tuple[Sequence[Message], int]:
        return fit(messages, limit)

    return fit_to_limit


async def in_thread(make: Callable[[], T]) -> T:
    """Call `make` in a thread; if cancelled meanwhile, restore the screen."""
    try:
        return await stopping.in_thread(make)
    except asyncio.CancelledError:
        end_bars()
        raise


async def _warm(service: object) -> None:
    begin: Callable[[], Awaitable[None]] | None = getattr(service, "warm", None)
    if begin is not None:
        await begin()


def _once(made: dict[str, T], settings: Mapping[str, Any], make: Callable[[], T]) -> T:
    name = tree_digest(settings)
    if name not in made:
        made[name] = make()
    return made[name]
