"""The spec of an episode: everything, besides its journaled effects, that decides how it goes."""

from collections.abc import Mapping
from typing import Any

import msgspec

from balrog_rag.contracts.data import CONNECTION_KEYS, GameSpec, Seeds, digest


class PlayerSpec(msgspec.Struct, frozen=True):
    """Who plays: the resolved settings of the agent, its model and its knowledge."""

    agent: Mapping[str, Any]
    model: Mapping[str, Any]
    knowledge: Mapping[str, Any]
    prompt_tokens: int | None = None
    """Tokens a prompt may have before old turns are left out; null: no limit."""

    def identity(self) -> "PlayerSpec":
        """The same without what only says how services are reached."""
        model = {name: value for name, value in self.model.items() if name not in CONNECTION_KEYS["model"]}
        knowledge = {
            name: value for name, value in self.knowledge.items() if name not in CONNECTION_KEYS["knowledge"]
        }
        return msgspec.structs.replace(self, model=model, knowledge=knowledge)


class Fork(msgspec.Struct, frozen=True):
    """From step `at` on, somebody else plays."""

    at: int
    player: PlayerSpec


class EpisodeSpec(msgspec.Struct, frozen=True):
    """One episode, by name: same spec and same effects, same episode.

    Written out whole: leaving out defaults would make the digest depend on how a value came about.
    """

    episode: str
    """env/task/NN"""
    game: GameSpec
    player: PlayerSpec
    steps: int | None = None
    """Agent steps after which it ends; null: the game's own limit alone."""
    forks: tuple[Fork, ...] = ()

    @property
    def digest(self) -> str:
        """Identity of the spec."""
        forks = tuple(Fork(fork.at, fork.player.identity()) for fork in self.forks)
        bare = msgspec.structs.replace(self, player=self.player.identity(), forks=forks)
        return digest(msgspec.json.encode(bare, order="sorted"))

    @property
    def last_player(self) -> PlayerSpec:
        """Who plays behind every fork."""
        return self.forks[-1].player if self.forks else self.player

    def player_at(self, step: int) -> PlayerSpec:
        """Who decides at a step."""
        return msgspec.structs.replace(self, forks=tuple(f for f in self.forks if f.at <= step)).last_player

    def carried_on_by(self, player: PlayerSpec) -> "EpisodeSpec":
        """The same episode with another last player, e.g. one that knows where the server is now."""
        if not self.forks:
            return msgspec.structs.replace(self, player=player)
        last = msgspec.structs.replace(self.forks[-1], player=player)
        return msgspec.structs.replace(self, forks=(*self.forks[:-1], last))


MOST_EPISODES = 1_000_000
"""Most episodes that a run may plan."""


def episode_name(task: str, number: int) -> str:
    """What the episode of that number is called among those of a task, which is named env/task."""
    return f"{task}/{number:02d}"


def episode_seeds(run_seed: int, episode: str) -> Seeds:
    """The game seeds of a named episode: a function of the run's seed and the name alone.

    The agent is no part of the name, so every agent of a comparison meets the same games.
    """
    half = digest(f"{run_seed}/{episode}")
    return Seeds(core=int(half[:8], 16) & 0x7FFFFFFF, disp=int(half[8:16], 16) & 0x7FFFFFFF)
