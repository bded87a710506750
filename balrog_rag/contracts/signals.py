"""What agents' wrappers may notice of a moment without reading it."""

from collections.abc import Hashable, Mapping

from balrog_rag.contracts.data import Observation
from balrog_rag.contracts.measures import Numbers


class EnvironmentSignals:
    """What agents' wrappers may notice of a moment without reading it. A kind overrides what it can tell.

    Any part or number may be missing: a screen without a map shows none, and logs keep few of them. A number
    that is missing is unknown, and nothing unknown is reported.
    """

    def message(self, seen: Observation) -> str:
        """What the game says just now."""
        return ""

    def news(self, seen: Observation) -> str:
        """The message where it is worth a look-up; empty where the game says such things all the time."""
        return self.message(seen)

    def states(self, seen: Observation) -> list[str]:
        """What holds for longer than this moment and should be known, each as a query."""
        return []

    def questions(self, seen: Observation) -> list[str]:
        """What a player should look up just now, each as a query, the most pressing first."""
        return [each for each in (self.news(seen).strip(), *self.states(seen), *self.things(seen)) if each]

    def deeds(self, seen: Observation) -> Mapping[str, int]:
        """What was just done that bears on the rest of the episode; by name, the game's own time."""
        return {}

    def truth(self, seen: Observation, done: Mapping[str, int]) -> list[str]:
        """Everything of the game's state that knowledge could bear on, each as a name or a query.

        `done` holds the last of each of the episode's `deeds` so far.
        """
        return self.questions(seen)

    def things(self, seen: Observation) -> list[str]:
        """What is in view that a player would want to know of, in words."""
        return []

    def health(self, numbers: Numbers) -> float:
        """Hit points as a share of their most; 1 where a game has none or they are unknown."""
        return 1.0

    def hurt(self, before: Numbers, now: Numbers) -> bool:
        """Whether hit points fell."""
        return False

    def ailments(self, before: Numbers, now: Numbers) -> list[str]:
        """What has become worse: sickness and the like. At first there is nothing before."""
        return []

    def deed(self, action: str) -> str:
        """What an action is called where a reader of the episode wants to find it again; empty for most."""
        return ""

    def press(self, press: int | str) -> str:
        """What a program's press is called for a reader of the episode."""
        return str(press)

    def place(self, numbers: Numbers) -> Hashable:
        """The level or room; another one is a reason to think again. None where it is unknown."""
        return None

    def moved(self, before: Numbers, now: Numbers) -> bool:
        """Whether the place is known to have changed."""
        left, entered = self.place(before), self.place(now)
        return left is not None and entered is not None and left != entered

    def time(self, numbers: Numbers) -> str:
        """The game's own time in words, such as `turn 12`; empty where it has none or it is unknown."""
        return ""

    def clock(self, numbers: Numbers) -> int | None:
        """The game's own time as a number that never falls; None where it has none or it is unknown."""
        return None

    def screen(self, seen: Observation) -> Hashable:
        """What makes two moments the same to a player: all that is shown but what counts on by itself."""
        return seen.long_term, seen.short_term

    def trimmed(self, seen: Observation) -> Observation:
        """The same moment without blanks that say nothing."""
        return seen

    def without_map(self, seen: Observation, notice: str) -> Observation:
        """The same moment with a word in the place of its map; as it is where there is none."""
        return seen

    def map(self, seen: Observation) -> str:
        """The map alone; empty where there is none."""
        return ""
