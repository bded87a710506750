"""A run whose episodes are played by clients: each is handed out once, and kept for whoever comes back."""

import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import NamedTuple

import msgspec

from balrog_rag.clients.exchange import ClientExchange, ClientGone
from balrog_rag.config.schema import RunnerConfig
from balrog_rag.contracts.behaviour import Watcher
from balrog_rag.contracts.data import TaskView
from balrog_rag.contracts.errors import BalrogError, ConfigError
from balrog_rag.contracts.outcome import in_words
from balrog_rag.episode import journal
from balrog_rag.episode.journal import End
from balrog_rag.episode.spec import EpisodeSpec
from balrog_rag.models.budget import RunBudget
from balrog_rag.results.run_folder import journal_path
from balrog_rag.results.tally import read_episode
from balrog_rag.run.backend import Backend, LocalBackend, PlaysEpisode
from balrog_rag.run.plan import PlannedRun
from balrog_rag.run.run import InPlay, RunOutcome, play_runs
from balrog_rag.run.services import LiveServices, ServicesOfOneModel
from balrog_rag.run.watchers import CompositeWatcher
from balrog_rag.util.wording import many

IDLE = 600.0
"""Seconds without a call after which a game of a client without a name may be continued by another one."""
STOPPING = "the run is stopping; the game is kept and continues when the run is resumed"


class EpisodeScore(NamedTuple):
    """What became of an episode."""

    episode: str
    outcome: str
    steps: int
    progression: float

    @property
    def line(self) -> str:
        """One line about it."""
        percent = 100 * self.progression
        how, steps = in_words(self.outcome), many(self.steps, "steps")
        return f"{self.episode}: {how} after {steps}, progression {percent:.2f} %"


class ClientRun:
    """The episodes of one run and who plays them."""

    def __init__(self, run: PlannedRun) -> None:
        if run.config.runner.backend != "local":
            raise ConfigError(
                f"runner.backend={run.config.runner.backend}: clients play on this machine; use local"
            )
        # Every game that a client has begun keeps its place, however many others there are.
        runner = replace(run.config.runner, concurrency=max(len(run.specs), run.config.runner.concurrency))
        self.run = msgspec.structs.replace(run, config=replace(run.config, runner=runner))
        model = run.config.model.name
        self.exchanges = {spec.episode: ClientExchange(spec.episode, model) for spec in run.specs}
        self.scores: dict[str, EpisodeScore] = {}
        self._playing: InPlay | None = None
        self._backend: ClientBackend | None = None
        self._views: dict[str, TaskView] = {}
        self._find_begun()

    def _find_begun(self) -> None:
        """Look up what earlier attempts played."""
        self._begun = {name for name in self.exchanges if journal.exists(journal_path(self.run.folder, name))}

    # --- playing ---

    async def play(self) -> RunOutcome:
        """Play until every episode has ended, or the run is stopped."""
        services = LiveServices()
        try:
            (outcome,) = await play_runs([self.run], services, self._display, self._backend_of)
            return outcome
        finally:
            await services.close()

    def stop(self, number: int, by: str) -> None:
        """Stop the run; games in play are kept."""
        if self._playing is not None:
            self._playing.interrupts.stop(number, by)

    @asynccontextmanager
    async def _display(self, playing: InPlay) -> AsyncIterator[Watcher]:
        self._playing = playing
        playing.interrupts.on_stop = self._stopped
        yield CompositeWatcher([])

    def _stopped(self) -> None:
        for exchange in self.exchanges.values():
            exchange.fail(STOPPING)

    def _backend_of(self, runner: RunnerConfig, services: LiveServices) -> Backend:
        self._backend = ClientBackend(runner, services, self)
        return self._backend

    def ended(self, spec: EpisodeSpec) -> None:
        """Take note of an episode's end."""
        episode = read_episode(journal_path(self.run.folder, spec.episode))
        assert episode is not None
        score = EpisodeScore(spec.episode, episode.outcome, episode.steps, episode.progression)
        self.scores[spec.episode] = score
        self.exchanges[spec.episode].end(f"The game is over. {score.line}.")

    # --- handing out ---

    def next_game(self, client: str, episode: str | None = None) -> ClientExchange | None:
        """Return the game that a client is to play; None if every game is over."""
        if episode is not None:
            return self._again(client, episode)
        games = list(self.exchanges.values())
        wanted: Sequence[Callable[[ClientExchange], bool]] = (
            lambda game: bool(client) and game.holder == client,
            lambda game: game.holder is None and game.episode in self._begun,
            lambda game: game.holder is None,
            lambda game: not game.holder and time.monotonic() - game.last_call > IDLE,
        )
        open_games = [game for game in games if game.playable]
        for fits in wanted:
            if found := next(filter(fits, open_games), None):
                return self._held(found, client)
        if open_games:
            raise ClientGone(
                "every game that is left is being played by another client; to continue one of yours, pass "
                "its episode to next_game"
            )
        return None

    def _again(self, client: str, episode: str) -> ClientExchange:
        game = self.exchanges.get(episode)
        if game is None or not (game.over or game.episode in self._begun):
            raise ClientGone(f"episode {episode[:80]!r} was not begun; call next_game without an episode")
        return game if game.over else self._held(game, client)

    def _held(self, game: ClientExchange, client: str) -> ClientExchange:
        game.holder, game.last_call = client, time.monotonic()
        self._begun.add(game.episode)
        return game

    def current(self, client: str, episode: str | None = None) -> ClientExchange:
        """Return the game that a client's call is about."""
        if episode is not None:
            return self._again(client, episode)
        held = [game for game in self.exchanges.values() if game.holder == client]
        if not held:
            raise ClientGone("no game was begun; call next_game first")
        in_play = [game for game in held if game.playable]
        if len(in_play) > 1:
            names = ", ".join(game.episode for game in in_play)
            raise ClientGone(f"several games are in play ({names}); pass the episode that next_game gave")
        return in_play[0] if in_play else max(held, key=lambda game: game.last_call)

    async def views(self) -> list[TaskView]:
        """Return a task of each kind of game of the run, as its games present themselves."""
        for spec in self.run.specs:
            if spec.game.env not in self._views and self._backend is not None:
                game = await self._backend.games(self.run.specs).open(spec.game)
                self._views[spec.game.env] = game.view
                await game.close()
        return list(self._views.values())


class ClientBackend(LocalBackend):
    """Plays each episode once a client has claimed it."""

    def __init__(self, runner: RunnerConfig, services: LiveServices, clients: ClientRun) -> None:
        super().__init__(runner, services)
        self._clients = clients

    def player(
        self, run: PlannedRun, budget: RunBudget, watcher: Watcher, stopping: Callable[[], bool]
    ) -> PlaysEpisode:
        """Return the function that plays episodes of one run."""

        async def play(spec: EpisodeSpec) -> End:
            exchange = self._clients.exchanges[spec.episode]
            services = ServicesOfOneModel(self._services, exchange)
            watching = CompositeWatcher([watcher, exchange])
            player = self.player_with(services, run, budget, watching, stopping)
            if not finished(run, spec):
                await exchange.claimed()
            try:
                end = await player(spec)
            except BalrogError as error:
                exchange.fail(f"the game failed: {error}")
                raise
            self._clients.ended(spec)
            return end

        return play


def finished(run: PlannedRun, spec: EpisodeSpec) -> bool:
    """Whether an episode ended in an earlier attempt."""
    path = journal_path(run.folder, spec.episode)
    return journal.exists(path) and journal.read(path).end is not None
