"""Who plays the episodes of a process's runs: here, this process with its game workers."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

import msgspec

from balrog_rag.config.schema import Config, RunnerConfig
from balrog_rag.contracts import registry
from balrog_rag.contracts.behaviour import Watcher
from balrog_rag.episode.journal import End
from balrog_rag.episode.spec import EpisodeSpec
from balrog_rag.models.budget import RunBudget
from balrog_rag.models.pace import Pace
from balrog_rag.results.run_folder import frozen_config
from balrog_rag.run.episode_runner import EpisodePlayer
from balrog_rag.run.plan import kinds_in
from balrog_rag.run.provenance import versions
from balrog_rag.run.services import LiveServices
from balrog_rag.workers.inline import InlineGames
from balrog_rag.workers.pool import WorkerPool

PlaysEpisode = Callable[[EpisodeSpec], Awaitable[End]]


class PlannedRun(msgspec.Struct):
    """One run to be played: its folder, its frozen configuration, its episodes."""

    folder: Path
    config: Config
    specs: list[EpisodeSpec]
    label: str = ""
    """Tells it from the other runs of a sweep on a display."""
    watch: Sequence[Any] = ()
    """Watchers passed from Python, besides those that run.watch names."""


class Backend(Protocol):
    """Plays the episodes of several runs, wherever its games and agents live."""

    async def start(self, runs: Sequence[PlannedRun]) -> list[list[str]]:
        """Begin what is slow to begin; returns what a user should know of each run before it goes on."""
        ...

    def player(
        self, run: PlannedRun, budget: RunBudget, watcher: Watcher, stopping: Callable[[], bool]
    ) -> PlaysEpisode:
        """Plays the episodes of one run."""
        ...

    def trouble(self, run: PlannedRun) -> str:
        """Why the run's model does not answer now; empty where it does, or where that is not known here."""
        ...

    def troubles(self) -> list[str]:
        """Why models do not answer now, though they are asked again."""
        ...

    def retried(self) -> int:
        """Attempts of all calls that failed and were made again."""
        ...

    def paces(self) -> Sequence[Pace]:
        """How fast the calls of each model go out."""
        ...

    async def close(self) -> None:
        """Give everything back."""
        ...


class LocalBackend:
    """All agents in this process's loop, the games in a few worker processes."""

    def __init__(self, runner: RunnerConfig, services: LiveServices) -> None:
        self._pool = WorkerPool(runner.workers, runner.step_deadline, runner.worker_memory)
        self._services = services

    async def start(self, runs: Sequence[PlannedRun]) -> list[list[str]]:
        """Start the workers, and meanwhile the models and indexes."""
        elsewhere = sum(len(run.specs) for run in runs if not known_here_alone(run.specs))
        games = min(runs[0].config.runner.concurrency, elsewhere)
        _, notes = await asyncio.gather(self._pool.start(games), warm(self._services, runs))
        return notes

    def player(
        self, run: PlannedRun, budget: RunBudget, watcher: Watcher, stopping: Callable[[], bool]
    ) -> PlaysEpisode:
        """Plays the episodes of one run."""
        return EpisodePlayer(
            run.folder,
            frozen_config(run.folder).digest,  # also where a resume has changed how it is run
            versions(kinds_in(run.config)),
            InlineGames() if known_here_alone(run.specs) else self._pool,
            self._services,
            budget,
            watcher,
            stopping,
            run.config.run.ttyrec,
        )

    def trouble(self, run: PlannedRun) -> str:
        """Why the run's model does not answer now."""
        return self._services.trouble_of(run.specs[0].last_player)

    def troubles(self) -> list[str]:
        """Why models do not answer now."""
        return self._services.troubles()

    def retried(self) -> int:
        """Attempts of all calls that failed and were made again."""
        return self._services.retried()

    def paces(self) -> Sequence[Pace]:
        """How fast the calls of each model go out."""
        return self._services.model_paces()

    async def close(self) -> None:
        """End the workers; the services belong to whoever made them."""
        await self._pool.close()


def known_here_alone(specs: Sequence[EpisodeSpec]) -> bool:
    """Whether a kind of game or a program was registered in this process, so that no worker knows it."""
    games = [spec.game for spec in specs]
    kinds, programs = {game.env for game in games}, {name for game in games for name in game.programs}
    programs |= {str(spec.last_player.agent.get("name")) for spec in specs}
    return any(map(registry.environments.added, kinds)) or any(map(registry.programs.added, programs))


async def warm(services: LiveServices, runs: Sequence[PlannedRun]) -> list[list[str]]:
    """Begin what is slow to begin, each model and index once; returns what a user should know of each run."""
    players = [[run.specs[0].last_player] if run.specs else [] for run in runs]
    return [[note for player in own for note in await services.warm(player)] for own in players]
