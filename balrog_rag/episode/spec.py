"""The spec of an episode: everything that determines it, apart from its journaled effects."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import msgspec

from balrog_rag.contracts.data import CONNECTION_KEYS, GameSpec, Seeds, digest

_sorted_json = msgspec.json.Encoder(order="sorted").encode


class PlayerSpec(msgspec.Struct, frozen=True, dict=True):
    """The player: resolved settings of the agent, its model and its knowledge."""

    agent: Mapping[str, Any]
    model: Mapping[str, Any]
    knowledge: Mapping[str, Any]
    prompt_tokens: int | None = None
    """Most tokens of a prompt, beyond which old turns are dropped; null: no limit."""

    def identity(self) -> "PlayerSpec":
        """Drop the settings that only say how services are reached."""
        # Addresses and timeouts are left out of the digest, so a run may resume against another server.
        model = {name: value for name, value in self.model.items() if name not in CONNECTION_KEYS["model"]}
        knowledge = {
            name: value for name, value in self.knowledge.items() if name not in CONNECTION_KEYS["knowledge"]
        }
        return msgspec.structs.replace(self, model=model, knowledge=knowledge)

    @cached_property
    def encoded_identity(self) -> msgspec.Raw:
        """Its identity as part of a digest; all episodes of a run share one player."""
        return msgspec.Raw(_sorted_json(self.identity()))


class Fork(msgspec.Struct, frozen=True):
    """From step `at` on, another player plays."""

    at: int
    player: PlayerSpec


class EpisodeSpec(msgspec.Struct, frozen=True):
    """One episode, by name: same spec and same effects, same episode.

    Encoded with all defaults: omitting them would make the digest depend on how a value came about.
    """

    episode: str
    """env/task/NN"""
    game: GameSpec
    player: PlayerSpec
    steps: int | None = None
    """Agent steps after which it ends; null: only the game's own limit."""
    forks: tuple[Fork, ...] = ()
    turns: int | msgspec.UnsetType = msgspec.UNSET
    """The game's own time after the last fork at which it ends. Omitted when encoded if unset: older digests
    stay the same."""

    @property
    def digest(self) -> str:
        """Digest that identifies the spec."""
        forks = tuple(Fork(fork.at, fork.player.identity()) for fork in self.forks)
        bare = msgspec.structs.replace(self, player=self.player.encoded_identity, forks=forks)
        return digest(_sorted_json(bare))

    @property
    def last_player(self) -> PlayerSpec:
        """The player after all forks."""
        return self.forks[-1].player if self.forks else self.player

    def player_at(self, step: int) -> PlayerSpec:
        """Return the player who decides at a step."""
        return msgspec.structs.replace(self, forks=tuple(f for f in self.forks if f.at <= step)).last_player

    def with_last_player(self, player: PlayerSpec) -> "EpisodeSpec":
        """Replace the last player, e.g. by one with the server's current address."""
        if not self.forks:
            return msgspec.structs.replace(self, player=player)
        last = msgspec.structs.replace(self.forks[-1], player=player)
        return msgspec.structs.replace(self, forks=(*self.forks[:-1], last))


MOST_EPISODES = 1_000_000
"""Most episodes that a run may plan."""


def episode_name(task: str, number: int) -> str:
    """Return the name of an episode: its task (env/task) and number."""
    return f"{task}/{number:02d}"


def episode_seeds(run_seed: int, episode: str) -> Seeds:
    """Return the game seeds of an episode, a function of the run's seed and the episode's name alone.

    The agent is not part of the name, so all agents of a comparison play the same games.
    """
    half = digest(f"{run_seed}/{episode}")
    return Seeds(core=int(half[:8], 16) & 0x7FFFFFFF, disp=int(half[8:16], 16) & 0x7FFFFFFF)
