"""How far a game has come, and what else is counted of it: progress, measures, and the rules of others."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from balrog_rag.contracts.data import GameSpec, Rise

Numbers = Mapping[str, int]


class Progress(Protocol):
    """How far one game has come: fed with every moment in turn, the first one's too."""

    value: float
    """From 0 to 1; never falls, but where the end of the game takes it away."""
    reached: str
    """What gave it, in the kind's own words; empty where nothing is named."""

    def milestones(self) -> Mapping[str, list[str]]:
        """What was reached in turn, by the names that BALROG's record has for such lists."""
        ...

    def see(self, numbers: Numbers, reward: float, ended: str) -> None:
        """Take in a moment: its numbers, the reward that led to it, and how the game ended, if it did.

        The reward is that of a single action or press, never a sum over the presses of a program.
        """
        ...


class ScoredStep(Protocol):
    """A step with what it was worth: `data.Transition`, or `journal.Step`."""

    @property
    def reward(self) -> float:
        """What it was worth in all."""
        ...

    @property
    def rises(self) -> tuple[Rise, ...]:
        """The presses within it at which the progression rose."""
        ...

    @property
    def by_press(self) -> bool:
        """Whether the reward counts by `rises` alone."""
        ...


def follow(progress: Progress, step: ScoredStep, numbers: Numbers, ended: str = "") -> None:
    """Let a progress take in a step: each press that raised it, then the moment after the last one."""
    for rise in step.rises:
        progress.see(rise.numbers, rise.reward, "")
    progress.see(numbers, 0.0 if step.by_press else step.reward, ended)


class Share:
    """A progress that is a share alone: nothing is named as reached, and there are no milestones."""

    def __init__(self) -> None:
        self.value = 0.0
        self.reached = ""

    def milestones(self) -> Mapping[str, list[str]]:
        """None."""
        return {}


class EpisodeCounter(Protocol):
    """Counts over a whole episode what no single number of it tells."""

    def see(self, numbers: Numbers, gap: bool) -> None:
        """Take in a moment in turn; with a gap, the place may have changed unseen since the one before."""
        ...

    def told(self, facts: Mapping[str, Any]) -> float | None:
        """What it came to, with the facts of the end; None where the journal lacks what it takes."""
        ...


@dataclass(frozen=True)
class Timeline:
    """Which numbers draw how games went over the game's own time."""

    clock: str
    """The number that is the time."""
    height: str
    """The number of what was reached."""
    clock_title: str
    height_title: str
    deaths: tuple[str, ...]
    """Outcomes that end a life; all others only end what was seen of it."""


@dataclass(frozen=True)
class Measure:
    """Something besides progression that is counted of every episode of the kind."""

    name: str
    title: str
    unit: str
    number: str = ""
    """The number of an observation that it is made of."""
    taken: Literal["last", "highest"] = "highest"
    """Which value of an episode counts."""
    low: float = 0.0
    """The least it can be."""
    high: float = math.inf
    """The most it can be."""
    counted: bool = False
    """Whether it counts events and so may be much larger in one episode than in others."""
    follow: Callable[[], EpisodeCounter] | None = None
    """What counts it, where it is made of no single number."""
    drawn: bool = True
    """Whether reports draw it beside progression; plain counts of events never are."""
    needs: str = ""
    """What a journal must hold for it, in words for whoever has one that does not."""


@dataclass(frozen=True)
class Column:
    """A column of the dashboard for games of the kind."""

    title: str
    width: int
    text: Callable[[Numbers], str]


class PlayedEpisode(Protocol):
    """One episode, as the rules of others score it."""

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
        """Key presses that it took."""
        ...

    @property
    def last(self) -> Numbers:
        """Every number of the game as it last stood."""
        ...

    @property
    def most(self) -> Numbers:
        """The highest that each number has been."""
        ...


@dataclass(frozen=True)
class Rules:
    """Figures that others report of games of the kind, by rules of their own."""

    title: str
    headings: tuple[str, ...]
    """What each figure is called."""
    figures: Callable[[Sequence[Sequence[PlayedEpisode]]], Sequence[str]]
    """Figures of one player, from the ended episodes of its runs in order."""
    note: str
    published: str = ""
    """The part of `measured` in eval/published.yaml whose rows stand beside ours; empty: none."""
    names: tuple[str, ...] = ()
    """What those rows call each figure."""
    apart: bool = False
    """Whether a board shows each task's figures in a row of its own, too."""
