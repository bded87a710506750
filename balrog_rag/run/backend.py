"""Back ends that play the episodes of a process's runs; the local one uses game worker processes."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from balrog_rag.config.schema import RunnerConfig
from balrog_rag.contracts import registry
from balrog_rag.contracts.behaviour import Watcher
from balrog_rag.episode.journal import End
from balrog_rag.episode.play import Services
from balrog_rag.episode.spec import EpisodeSpec
from balrog_rag.models.budget import RunBudget
from balrog_rag.models.pace import Pace
from balrog_rag.results.run_folder import frozen_config
from balrog_rag.run.episode_runner import EpisodePlayer, GameSource
from balrog_rag.run.plan import PlannedRun
from balrog_rag.run.provenance import versions
from balrog_rag.run.services import LiveServices
from balrog_rag.run.shared_prefix import SharedPrefixes
from balrog_rag.workers.inline import InlineGames
from balrog_rag.workers.pool import WorkerPool

PlaysEpisode = Callable[[EpisodeSpec], Awaitable[End]]


class Backend(Protocol):
    """Plays the episodes of several runs, wherever their games and agents are."""

    async def start(self, runs: Sequence[PlannedRun]) -> list[list[str]]:
        """Start slow services; return for each run the notes that the user should see before it starts."""
        ...

    def player(
        self, run: PlannedRun, budget: RunBudget, watcher: Watcher, stopping: Callable[[], bool]
    ) -> PlaysEpisode:
        """Return the function that plays episodes of one run."""
        ...

    def trouble(self, run: PlannedRun) -> str:
        """Return why the run's model does not answer now; "" if it answers or this is unknown."""
        ...

    def troubles(self) -> list[str]:
        """Return why models do not answer now (calls are being retried)."""
        ...

    def retried(self) -> int:
        """Return the number of failed attempts that were retried, over all calls."""
        ...

    def paces(self) -> Sequence[Pace]:
        """Return the pace of each model's calls."""
        ...

    async def close(self) -> None:
        """Release all resources."""
        ...


class LocalBackend:
    """Runs all agents in this process's event loop and the games in a few worker processes."""

    def __init__(self, runner: RunnerConfig, services: LiveServices) -> None:
        self._pool = WorkerPool(runner.workers, runner.step_deadline, runner.worker_memory)
        self._services = services
        self.shared = SharedPrefixes(self._pool)

    async def start(self, runs: Sequence[PlannedRun]) -> list[list[str]]:
        """Start the workers and, meanwhile, the models and indexes."""
        # Games registered only in this process run in this process, so they need no workers.
        elsewhere = sum(len(run.specs) for run in runs if not known_here_alone(run.specs))
        games = min(runs[0].config.runner.concurrency, elsewhere)
        for run in runs:
            if self._shares(run):
                self.shared.expect(run.specs)
        _, notes = await asyncio.gather(self._pool.start(games), warm(self._services, runs))
        return notes

    def player(
        self, run: PlannedRun, budget: RunBudget, watcher: Watcher, stopping: Callable[[], bool]
    ) -> PlaysEpisode:
        """Return the function that plays episodes of one run."""
        return self.player_with(self._services, run, budget, watcher, stopping)

    def player_with(
        self,
        services: Services,
        run: PlannedRun,
        budget: RunBudget,
        watcher: Watcher,
        stopping: Callable[[], bool],
    ) -> EpisodePlayer:
        """Return the player of one run's episodes that uses these services."""
        return EpisodePlayer(
            run.folder,
            # The file's digest, which the journals have: a resume may have changed `config` in memory.
            frozen_config(run.folder).digest,
            versions(run.kinds),
            self.games(run.specs),
            services,
            budget,
            watcher,
            stopping,
            run.config.run.ttyrec,
            self.shared if self._shares(run) else None,
        )

    @staticmethod
    def _shares(run: PlannedRun) -> bool:
        """Whether its forked episodes may share replays: a recording has to begin with its game."""
        return not run.config.run.ttyrec and not known_here_alone(run.specs)

    def games(self, specs: Sequence[EpisodeSpec]) -> GameSource:
        """Return where the games of these episodes are played."""
        return InlineGames() if known_here_alone(specs) else self._pool

    def trouble(self, run: PlannedRun) -> str:
        """Return why the run's model does not answer now."""
        return self._services.trouble_of(run.specs[0].last_player)

    def troubles(self) -> list[str]:
        """Return why models do not answer now."""
        return self._services.troubles()

    def retried(self) -> int:
        """Return the number of failed attempts that were retried, over all calls."""
        return self._services.retried()

    def paces(self) -> Sequence[Pace]:
        """Return the pace of each model's calls."""
        return self._services.model_paces()

    async def close(self) -> None:
        """End the workers; the caller owns the services."""
        await self._pool.close()


def known_here_alone(specs: Sequence[EpisodeSpec]) -> bool:
    """Whether a kind of game or a program is registered only in this process, so workers cannot load it."""
    games = [spec.game for spec in specs]
    kinds, programs = {game.env for game in games}, {name for game in games for name in game.programs}
    programs |= {str(spec.last_player.agent.get("name")) for spec in specs}
    return any(map(registry.environments.added, kinds)) or any(map(registry.programs.added, programs))


async def warm(services: LiveServices, runs: Sequence[PlannedRun]) -> list[list[str]]:
    """Start each slow model and index once; return for each run the notes that the user should see."""
    players = [[run.specs[0].last_player] if run.specs else [] for run in runs]
    return [[note for player in own for note in await services.warm(player)] for own in players]
