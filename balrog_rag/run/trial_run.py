"""Short episodes in a temporary folder, played and replayed: how plug-ins are tried out."""

import asyncio
import tempfile
from collections.abc import Coroutine, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from balrog_rag import agents
from balrog_rag.config.compose import compose
from balrog_rag.contracts import registry
from balrog_rag.contracts.behaviour import Watcher
from balrog_rag.contracts.errors import BalrogError, ConfigError, PlayerFailed
from balrog_rag.contracts.kinds import kind_of
from balrog_rag.models.budget import RunBudget
from balrog_rag.results.episodes import Episode
from balrog_rag.results.run_folder import journal_path
from balrog_rag.results.tally import read_episode
from balrog_rag.run.episode_runner import EpisodePlayer
from balrog_rag.run.plan import plan
from balrog_rag.run.replay import replay
from balrog_rag.run.services import LiveServices, player_spec
from balrog_rag.run.watchers import NullWatcher
from balrog_rag.workers.inline import InlineGames

T = TypeVar("T")

SMALL_GAMES: tuple[list[str], ...] = (["env=corridor"], ["env=corridor", "env.actions=skills"], [])
"""What agents and programs are tried in, if they play it."""
SHORT = ("env.episodes=1", "limits.steps=10", "run.seed=1")


def trial(*words: str) -> list[Episode]:
    """Play the episodes that these overrides describe, replay their journals, and return their results.

    Raises the first BalrogError, as a run would report it.
    """
    return waited(played(NullWatcher(), *words))


async def played(watcher: Watcher, *words: str) -> list[Episode]:
    """Do the same in a running event loop, in front of a watcher."""
    with tempfile.TemporaryDirectory(prefix="balrog_rag-check-") as folder:
        return await _played(Path(folder), [*SHORT, *words], watcher)


def waited(playing: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end, also where an event loop is running, as in a notebook."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(playing)
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, playing).result()


async def _played(run: Path, words: list[str], watcher: Watcher) -> list[Episode]:
    config = compose(words)
    services, episodes = LiveServices(), []
    budget = RunBudget(config.limits)
    player = EpisodePlayer(run, "", {}, InlineGames(), services, budget, watcher, lambda: False)
    try:
        for spec in plan(config, player_spec(config)):
            if why := agents.refusal(config.agent.name, spec.game):
                raise ConfigError(why)
            await player(spec)
            path = journal_path(run, spec.episode)
            await replay(path, NullWatcher(), trusted=True)
            episodes.append(read_episode(path))
    finally:
        await services.close()
    return [episode for episode in episodes if episode is not None]


def small_game(agent: str) -> list[str]:
    """Return the overrides of a small game that an agent plays; raise ConfigError if it plays none."""
    why = ""
    for words in SMALL_GAMES:
        config = compose([*SHORT, *words])
        why = agents.refusal(agent, plan(config, player_spec(config))[0].game)
        if not why:
            return words
    raise ConfigError(f"{why}; it plays none of the games in which agents are checked; play a run with it")


def game_among(kinds: Sequence[str]) -> str:
    """Return the override of a small game of one of these kinds; of any kind if there are none."""
    (small,) = SMALL_GAMES[0]
    config = compose([*SHORT, small])
    if not kinds or config.env.tasks[0].partition("/")[0] in kinds:
        return small
    return f"env.tasks=[{kinds[0]}/{kind_of(kinds[0]).tasks()[0]}]"


@contextmanager
def registered(kinds: "registry.Registry[Any]", name: str, plugin: Any) -> Iterator[str]:
    """Register a plug-in while the body runs, unless it is registered; yield its name."""
    known = [each for each in kinds.plugged() if kinds.added_as(each) is plugin]
    if known:
        yield known[0]
        return
    if name in kinds.names() and kinds.get(name) is plugin:
        yield name
        return
    if name in kinds.names():
        raise ConfigError(f"{kinds.kind} {name!r} already exists; choose another name")
    kinds.add(name)(plugin)
    try:
        yield name
    finally:
        kinds.remove(name)


def line_of(error: BalrogError) -> str:
    """Return an error as a finding: without the place in the trial, and where the plug-in's code failed."""
    return error.blame if isinstance(error, PlayerFailed) else str(error)


def joined(words: Sequence[str]) -> str:
    """Return texts as a list in an override."""
    return "[" + ",".join(f"'{word}'" for word in words) + "]"
