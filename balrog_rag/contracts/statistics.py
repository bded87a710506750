"""User-defined statistics: a figure of every episode, or one figure of all episodes together."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from balrog_rag.contracts.data import GameSpec
from balrog_rag.contracts.errors import ConfigError


class EpisodeResult(Protocol):
    """A finished episode as passed to statistics: the contents of its journal, already counted."""

    name: str
    """ENV/TASK/NUMBER."""
    outcome: str
    """How it ended: died, solved, steps, ..."""
    progression: float
    """From 0 to 1."""
    steps: int
    """Decisions of the agent."""
    keys: int
    """Key presses, or other smallest actions of the game."""
    invalid: int
    """Answers without a valid action."""
    actions: dict[str, int]
    """How often each action was taken."""
    failed_candidates: list[str]
    """What the invalid answers asked for."""
    total_reward: float
    last: dict[str, int]
    """The last value of every number of the game's observations."""
    most: dict[str, int]
    """The highest value of each."""
    milestones: dict[str, list[str]]
    """What was reached, in order."""
    agent: Mapping[str, Any]
    """The agent's settings."""
    model: Mapping[str, Any]
    """The model's settings."""
    facts: Mapping[str, Any]
    """What the game itself reported at its end."""

    @property
    def game(self) -> GameSpec:
        """The game that was played: env, task, seeds, options."""
        ...

    @property
    def env(self) -> str:
        """The kind of game."""
        ...

    @property
    def task(self) -> str:
        """The task."""
        ...

    @property
    def percent(self) -> float:
        """Progression in percent."""
        ...

    @property
    def seconds(self) -> float:
        """Time spent waiting for answers and searches."""
        ...

    @property
    def total(self) -> Any:
        """All model calls together: count, input, output, dollars, seconds, repeats, empty, cut."""
        ...


@dataclass(frozen=True, kw_only=True)
class Statistic:
    """A figure that summaries, reports and comparisons show beside their own.

    Give exactly one of `episode` and `episodes`:

    >>> Statistic(name="kinds_of_action", episode=lambda episode: len(episode.actions), high=100)
    >>> Statistic(name="best", episodes=lambda episodes: max(each.percent for each in episodes))
    """

    name: str
    """An identifier: the column of episodes.csv, the key in summary.json and `compare --measure NAME`."""
    title: str = ""
    """Its heading in tables; empty: the name."""
    unit: str = ""
    """The unit of differences, such as "steps" or "points"."""
    episode: Callable[[EpisodeResult], float | None] | None = None
    """Computes the figure of one episode, or None if it is unknown; means, intervals and tests use it."""
    episodes: Callable[[Sequence[EpisodeResult]], float | None] | None = None
    """Computes one figure of all episodes of a kind of game, such as a median; shown without an interval."""
    low: float = 0.0
    """The lowest possible figure of an episode."""
    high: float = math.inf
    """The highest possible figure; intervals depend on both bounds."""
    counted: bool = False
    """Whether it counts events, so that single episodes may have much larger values than the others."""
    env: str = ""
    """The kind of game to which it applies; empty: all."""

    def __post_init__(self) -> None:
        if not self.name.isidentifier():
            raise ConfigError(f"statistic {self.name!r}: not an identifier; use letters, digits and _")
        if (self.episode is None) == (self.episodes is None):
            raise ConfigError(f"statistic {self.name}: give either episode=FUNCTION or episodes=FUNCTION")
        if not self.low < self.high:
            raise ConfigError(
                f"statistic {self.name}: low={self.low:g} is not below high={self.high:g}; correct one"
            )
