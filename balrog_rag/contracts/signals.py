"""Signals that agents' wrappers use instead of parsing a game's screen."""

from collections.abc import Hashable, Mapping
from typing import NamedTuple

from balrog_rag.contracts.data import GameSpec, Observation, TaskView
from balrog_rag.contracts.measures import Numbers


class Concern(NamedTuple):
    """Something that bears on the next decision, as a query."""

    query: str
    asked: bool = False
    """The game waits for an answer to a question about it."""
    lasting: bool = False
    """It matters as long as it is reported, so what was found about it stays in the prompt."""


class EnvironmentSignals:
    """Signals that agents' wrappers use instead of parsing a screen. A kind overrides those it supports.

    Any part or number may be missing: a screen without a map shows none, and logs keep few of them. A missing
    number is unknown, and nothing is reported about it.
    """

    def message(self, seen: Observation) -> str:
        """Return the game's current message."""
        return ""

    def news(self, seen: Observation) -> str:
        """Return the message if it is worth a look-up; "" for messages that appear all the time."""
        return self.message(seen)

    def states(self, seen: Observation) -> list[str]:
        """Return lasting conditions that the player should know about, each as a query."""
        return []

    def questions(self, seen: Observation) -> list[str]:
        """Return what a player should look up now, each as a query, the most urgent first."""
        return [each for each in (self.news(seen).strip(), *self.states(seen), *self.things(seen)) if each]

    def concerns(self, seen: Observation, done: Mapping[str, int]) -> list[Concern]:
        """Return what to look up before the next decision, the most urgent first, with how long it matters.

        `done` has the last time of each of the episode's `deeds` so far.
        """
        lasting = set(self.states(seen))
        return [Concern(each, lasting=each in lasting) for each in self.questions(seen)]

    def deeds(self, seen: Observation) -> Mapping[str, int]:
        """Return recent actions that affect the rest of the episode, by name, with the game's own time."""
        return {}

    def truth(self, seen: Observation, done: Mapping[str, int]) -> list[str]:
        """Return everything in the game's state that knowledge could help with, as names or queries.

        `done` has the last time of each of the episode's `deeds` so far.
        """
        return self.questions(seen)

    def things(self, seen: Observation) -> list[str]:
        """Return descriptions of things in view that a player would want to know about."""
        return []

    def health(self, numbers: Numbers) -> float:
        """Return hit points as a fraction of their maximum; 1 if the game has none or they are unknown."""
        return 1.0

    def hurt(self, before: Numbers, now: Numbers) -> bool:
        """Whether hit points fell."""
        return False

    def ailments(self, before: Numbers, now: Numbers) -> list[str]:
        """Return what has become worse, such as sickness. `before` is empty at first."""
        return []

    def deed(self, action: str) -> str:
        """Return a name for an action that readers of the episode may want to find; "" for most."""
        return ""

    def press(self, press: int | str) -> str:
        """Return a name for a program's press, for readers of the episode."""
        return str(press)

    def answer(self, press: int | str, seen: Observation, game: GameSpec, view: TaskView) -> str | None:
        """Return the answer with which a model makes a program's press at a moment.

        "" if the game itself makes the press as part of a model's action before; None if no answer makes it.
        """
        return press if isinstance(press, str) and view.takes(press) else None

    def place(self, numbers: Numbers) -> Hashable:
        """Return the level or room; a change of it is a reason to look up again. None if unknown."""
        return None

    def square(self, numbers: Numbers) -> tuple[str, int, int] | None:
        """Return the level's name, and the player's row and column on the displayed screen.

        None if they are unknown, or if the game has no map.
        """
        return None

    def moved(self, before: Numbers, now: Numbers) -> bool:
        """Whether the place is known to have changed."""
        left, entered = self.place(before), self.place(now)
        return left is not None and entered is not None and left != entered

    def time(self, numbers: Numbers) -> str:
        """Return the game's own time in words, such as `turn 12`; "" if it has none or it is unknown."""
        return ""

    def clock(self, numbers: Numbers) -> int | None:
        """Return the game's own time as a number that never falls; None if it has none or it is unknown."""
        return None

    def screen(self, seen: Observation) -> Hashable:
        """Return a key that is equal when two screens look the same, ignoring counters such as the turn."""
        return seen.long_term, seen.short_term

    def trimmed(self, seen: Observation) -> Observation:
        """Return the moment without insignificant whitespace."""
        return seen

    def without_map(self, seen: Observation, notice: str) -> Observation:
        """Return the moment with `notice` instead of its map; unchanged if there is none."""
        return seen

    def map(self, seen: Observation) -> str:
        """Return the map alone; "" if there is none."""
        return ""
