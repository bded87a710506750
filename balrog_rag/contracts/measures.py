"""How far a game has come and what else is measured: progress, measures, and others' rules."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from balrog_rag.contracts.data import GameSpec, Rise

Numbers = Mapping[str, int]


class Progress(Protocol):
    """How far one game has come: fed with every moment in order, including the first."""

    value: float
    """From 0 to 1; never falls, unless the end of the game takes it away."""
    reached: str
    """What the kind calls the last achievement; "" if it has no names for them."""

    def milestones(self) -> Mapping[str, list[str]]:
        """Return what was reached in order, by the names of such lists in BALROG's record."""
        ...

    def see(self, numbers: Numbers, reward: float, ended: str) -> None:
        """Process a moment: its numbers, the reward that led to it, and how the game ended, if it did.

        The reward is that of a single action or press, never a sum over a program's presses.
        """
        ...


class ScoredStep(Protocol):
    """A step with its reward: `data.Transition`, or `journal.Step`."""

    @property
    def reward(self) -> float:
        """Its total reward."""
        ...

    @property
    def rises(self) -> tuple[Rise, ...]:
        """The presses within it at which the progression rose."""
        ...

    @property
    def by_press(self) -> bool:
        """Whether scoring uses `rises` alone."""
        ...


def follow(progress: Progress, step: ScoredStep, numbers: Numbers, ended: str = "") -> None:
    """Feed a step to a progress: each press that raised it, then the moment after the last one."""
    for rise in step.rises:
        progress.see(rise.numbers, rise.reward, "")
    progress.see(numbers, 0.0 if step.by_press else step.reward, ended)


class Share:
    """A progress that is only a number, without named achievements or milestones."""

    def __init__(self) -> None:
        self.value = 0.0
        self.reached = ""

    def milestones(self) -> Mapping[str, list[str]]:
        """Return {}."""
        return {}


class EpisodeCounter(Protocol):
    """A metric that needs the whole episode, not one number."""

    def see(self, numbers: Numbers, gap: bool) -> None:
        """Process a moment; `gap`: the place may have changed unseen since the previous one."""
        ...

    def result(self, facts: Mapping[str, Any]) -> float | None:
        """Return the result, given the facts of the end; None if the journal lacks what it needs."""
        ...


@dataclass(frozen=True)
class Timeline:
    """Which numbers plot the course of games over the game's own time."""

    clock: str
    """The number that serves as time."""
    height: str
    """The number that is plotted over it."""
    clock_title: str
    height_title: str
    deaths: tuple[str, ...]
    """Outcomes that end a life; any other merely ends the observation of it (censoring)."""


@dataclass(frozen=True)
class Measure:
    """A quantity besides progression that is measured in every episode of the kind."""

    name: str
    title: str
    unit: str
    number: str = ""
    """The number of an observation that it is taken from."""
    taken: Literal["last", "highest"] = "highest"
    """Which value within an episode counts."""
    low: float = 0.0
    """Its minimum."""
    high: float = math.inf
    """Its maximum."""
    counted: bool = False
    """Whether it counts events, so that single episodes can be far above the others."""
    follow: Callable[[], EpisodeCounter] | None = None
    """Makes the counter of a measure that is not taken from a single number."""
    drawn: bool = True
    """Whether reports plot it beside progression; plain counts of events are never plotted."""
    downwards: bool = False
    """Whether it grows downwards, as depth does; the viewer draws it so."""
    present: str = ""
    """The title of its value at a moment, if `title` names the highest or the last one."""
    needs: str = ""
    """What a journal must contain for it, for users whose journals do not."""


@dataclass(frozen=True)
class Column:
    """A column of the dashboard for games of the kind."""

    title: str
    width: int
    text: Callable[[Numbers], str]


class PlayedEpisode(Protocol):
    """One episode, as others' rules score it."""

    @property
    def percent(self) -> float:
        """Progression in percent."""
        ...

    @property
    def outcome(self) -> str:
        """How it ended."""
        ...

    @property
    def game(self) -> GameSpec:
        """The game that was played."""
        ...

    @property
    def keys(self) -> int:
        """Number of key presses."""
        ...

    @property
    def last(self) -> Numbers:
        """The last value of every number of the game."""
        ...

    @property
    def most(self) -> Numbers:
        """The highest value of each number."""
        ...


@dataclass(frozen=True)
class Rules:
    """Figures that others report for games of the kind, by their own rules."""

    title: str
    headings: tuple[str, ...]
    """The heading of each figure."""
    figures: Callable[[Sequence[Sequence[PlayedEpisode]]], Sequence[str]]
    """Computes the figures of one player from the ended episodes of its runs, in order."""
    note: str
    published: str = ""
    """The part of `measured` in eval/published.yaml whose rows are shown beside ours; "": none."""
    names: tuple[str, ...] = ()
    """The keys of the figures in those rows."""
    apart: bool = False
    """Whether a board also shows each task's figures in a row of its own."""


def numbers_of(episodes: Sequence[PlayedEpisode], taken: Literal["last", "most"], name: str) -> list[int]:
    """The last or the highest value of a number in each of these episodes; 0 where the game has none.

    A sequence that stores its episodes in columns has the method `numbers_of`, which makes no mapping of all
    numbers per episode.
    """
    stored = getattr(episodes, "numbers_of", None)
    if stored is not None:
        return list(stored(taken, name))
    return [getattr(each, taken).get(name, 0) for each in episodes]
