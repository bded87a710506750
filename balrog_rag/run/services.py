"""Makes what a player's settings name, once for all episodes of a process: models, indexes, agents."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from balrog_rag import agents, knowledge
from balrog_rag import models as llm
from balrog_rag.agents.demonstration_choice import for_game
from balrog_rag.config.frozen import plain, thaw, tree_digest
from balrog_rag.config.schema import AgentConfig, Config, KnowledgeConfig, ModelConfig
from balrog_rag.contracts.behaviour import LLM, Agent, Knowledge, Model, Retriever
from balrog_rag.contracts.data import Message, ProgramPlayer, Reply, Request, TaskView
from balrog_rag.contracts.programs import program_of
from balrog_rag.episode.effects import Fit
from balrog_rag.episode.spec import PlayerSpec
from balrog_rag.knowledge.progress import end_bars
from balrog_rag.models.fit import fit
from balrog_rag.models.pace import Hold, Pace
from balrog_rag.util import stopping

T = TypeVar("T")


def resolved(config: Config) -> Config:
    """The configuration complete with the content of the files it names, as a run freezes it."""
    retrieves = agents.retrieves(config.agent)
    return replace(
        config,
        agent=agents.resolve(config.agent),
        knowledge=knowledge.resolve(config.knowledge) if retrieves else config.knowledge,
    )


def player_spec(config: Config) -> PlayerSpec:
    """The player that a configuration names, resolved to plain settings."""
    config = resolved(config)
    return PlayerSpec(
        agent=plain(config.agent),
        model=plain(config.model),
        knowledge=plain(config.knowledge),
        prompt_tokens=llm.prompt_limit(config.model, config.agent.max_prompt_tokens),
    )


class LiveServices:
    """The services of a run that may go live."""

    def __init__(self, hold: Hold | None = None) -> None:
        """`hold` is awaited before every call of a model and between its attempts: a pause spends nothing."""
        self.hold = hold
        self._models: dict[str, Model] = {}
        self._retrievers: dict[str, Retriever] = {}
        self._agent_configs: dict[str, AgentConfig] = {}

    def agent(
        self, player: PlayerSpec, view: TaskView, llm: LLM, knowledge: Knowledge, seed: int, since: int
    ) -> Agent:
        """A fresh agent, or a program that plays from step `since` on with dice of this seed."""
        config = for_game(self._agent_config(player), view.env, view.task, seed)
        return agents.build(config, view, llm, knowledge, seed, since)

    def _agent_config(self, player: PlayerSpec) -> AgentConfig:
        return _once(self._agent_configs, player.agent, lambda: thaw(player.agent, AgentConfig))

    def model(self, player: PlayerSpec) -> Model | None:
        """The model, shared by all episodes."""
        model = self._bare_model(player)
        if self.hold is None:
            return model
        pace = getattr(model, "pace", None)
        if isinstance(pace, Pace):
            pace.hold = self.hold
        return PausableModel(model, self.hold)

    def _bare_model(self, player: PlayerSpec) -> Model:
        return _once(self._models, player.model, lambda: llm.build(thaw(player.model, ModelConfig)))

    def retriever(self, player: PlayerSpec) -> Retriever | None:
        """The knowledge base, shared by all episodes; None where the agent retrieves nothing."""
        if not agents.retrieves(self._agent_config(player)):
            return None
        make = lambda: knowledge.build(thaw(player.knowledge, KnowledgeConfig))  # noqa: E731
        return _once(self._retrievers, player.knowledge, make)

    def runs(self, player: ProgramPlayer) -> bool:
        """Every program is run again."""
        return True

    def fit(self, player: PlayerSpec) -> Fit:
        """Leaves out the oldest turns of a prompt that is too long."""
        return fitting(player.prompt_tokens)

    async def warm(self, player: PlayerSpec) -> list[str]:
        """Begin what is slow to begin; returns what a user should know of the model beforehand."""
        if not agents.asks_model(thaw(player.agent, AgentConfig)):
            return []
        model = self._bare_model(player)
        await _begun(model)  # before an index is built, which takes minutes: this is what may be missing
        retriever = await in_thread(lambda: self.retriever(player))
        await _begun(retriever)
        return [note for service in (retriever, model) for note in getattr(service, "notes", ())]

    def troubles(self) -> list[str]:
        """Why models do not answer now, though they are asked again."""
        return [trouble for model in self._models.values() if (trouble := getattr(model, "trouble", ""))]

    def model_paces(self) -> list[Pace]:
        """How fast the calls of each model go out."""
        found = [getattr(model, "pace", None) for model in self._models.values()]
        return [pace for pace in found if isinstance(pace, Pace)]

    def trouble_of(self, player: PlayerSpec) -> str:
        """Why its model does not answer now; empty where it does, or was not asked here."""
        return self.trouble_at(tree_digest(player.model))

    def trouble_at(self, model: str) -> str:
        """The same of a model by the digest of its settings."""
        return getattr(self._models.get(model), "trouble", "")

    def retried(self) -> int:
        """Attempts of all calls that failed and were made again."""
        return sum(getattr(model, "retried", 0) for model in self._models.values())

    async def close(self) -> None:
        """Give back what was made."""
        for service in (*self._models.values(), *self._retrievers.values()):
            close = getattr(service, "close", None)  # a plug-in may have nothing to give back
            if close is not None:
                await close()


class PausableModel:
    """A model that is asked nothing while the run pauses."""

    def __init__(self, model: Model, hold: Hold) -> None:
        self.name = model.name
        self._model, self._hold = model, hold

    async def complete(self, request: Request) -> Reply:
        """Answer once the run goes on."""
        await self._hold()
        return await self._model.complete(request)

    async def close(self) -> None:
        """The services closes the model itself."""


class ReplayServices(LiveServices):
    """The services of a replay: agents are made, but no model and no knowledge base."""

    def __init__(self, trusted: bool = False) -> None:
        """`trusted`: code that the journal names is this user's own, and may be run."""
        super().__init__()
        self._trusted = trusted

    def runs(self, player: ProgramPlayer) -> bool:
        """A stranger's programs are not run."""
        return self._trusted or not program_of(player.name).foreign

    def model(self, player: PlayerSpec) -> Model | None:
        """None: every answer is in the journal."""
        return None

    def retriever(self, player: PlayerSpec) -> Retriever | None:
        """None: every search is in the journal."""
        return None


def fitting(limit: int | None) -> Fit:
    """The fit for a limit on prompt tokens."""
    if limit is None:
        return lambda messages: (messages, 0)

    def fit_to_limit(messages: Sequence[Message]) -> tuple[Sequence[Message], int]:
        return fit(messages, limit)

    return fit_to_limit


async def in_thread(make: Callable[[], T]) -> T:
    """Have it made in a thread of its own; if cancelled meanwhile, give the screen back."""
    try:
        return await stopping.in_thread(make)
    except asyncio.CancelledError:
        end_bars()
        raise


async def _begun(service: object) -> None:
    begin: Callable[[], Awaitable[None]] | None = getattr(service, "warm", None)
    if begin is not None:
        await begin()


def _once(made: dict[str, T], settings: Mapping[str, Any], make: Callable[[], T]) -> T:
    name = tree_digest(settings)
    if name not in made:
        made[name] = make()
    return made[name]
