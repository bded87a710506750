"""What a rollout returns, read from its journal."""

from pathlib import Path
from typing import Any

import msgspec

from balrog_rag.contracts.data import GameSpec
from balrog_rag.results.episodes import Episode

HELD = "held"
"""The measure of a kind of game that counts only the progression that the player survived."""


class PurposeUsage(msgspec.Struct, frozen=True):
    """Calls and tokens of one purpose."""

    calls: int = 0
    input: int = 0
    output: int = 0
    cached: int = 0
    reasoning: int = 0


class RolloutResult(msgspec.Struct, frozen=True):
    """The result of one rollout. One that failed has an `error` and no reward: it is unscorable, not 0."""

    id: str
    task: str
    seed: int
    reward: float | None = None
    """The progression, from 0 to 1; None if the rollout failed."""
    progression: float | None = None
    progression_held: float | None = None
    """The part that the player survived long enough to keep; None if the game has no such measure."""
    episode_return: float | None = None
    """The sum of the game's own rewards."""
    outcome: str = ""
    cause: str = ""
    """The class of the game's end, if it has one, such as what killed the player."""
    steps: int = 0
    usage: dict[str, PurposeUsage] = {}
    """By purpose: act, query, summary."""
    segments: int = 0
    """Sequences that a trainer needs for its prompts (`episode.segments`)."""
    error: str | None = None
    """What went wrong, in one line."""
    journal: str = ""
    seconds: float = 0.0
    split: str | None = None
    index: int | None = None

    @property
    def failed(self) -> bool:
        """Whether it has no score."""
        return self.error is not None

    def json(self) -> bytes:
        """Encode it as one line of JSON."""
        return msgspec.json.encode(self)


def of_episode(
    name: str, game: GameSpec, episode: Episode, journal: Path, segments: int, **more: Any
) -> RolloutResult:
    """Return the result of an episode that ended."""
    held = episode.followed.get(HELD)
    return RolloutResult(
        name,
        f"{game.env}/{game.task}",
        game.seeds.core,
        reward=episode.progression,
        progression=episode.progression,
        progression_held=None if held is None else held / 100,
        episode_return=episode.total_reward,
        outcome=episode.outcome,
        cause=episode.cause,
        steps=episode.steps,
        usage={
            purpose: PurposeUsage(calls.count, calls.input, calls.output, calls.cached, calls.reasoning)
            for purpose, calls in episode.calls.items()
        },
        segments=segments or episode.segments,
        journal=str(journal),
        **more,
    )
