"""What a run folder says of each episode: every score, cost and count, made from its journal alone."""

from collections.abc import Iterable, Mapping
from functools import cached_property
from math import nan
from typing import Any

import msgspec

from balrog_rag.contracts.data import GameSpec
from balrog_rag.contracts.kinds import Measure, kind_of
from balrog_rag.episode.outcome import Outcome

ENDED_BY_GAME = frozenset(
    {
        Outcome.DIED,
        Outcome.ASCENDED,
        Outcome.ESCAPED,
        Outcome.QUIT,
        Outcome.SOLVED,
        Outcome.FAILED,
        Outcome.NO_PROGRESS,
    }
)
"""Outcomes by which the environment itself ended the episode."""
ENDED_BY_ITSELF = ENDED_BY_GAME - {Outcome.NO_PROGRESS}
"""Outcomes that end a game; after any other it could have gone on."""


IN_THE_PROMPT = ("fresh", "reused", "kept")
"""Words by which an agent notes that reference material stood in its prompt."""


class Calls(msgspec.Struct):
    """Model calls of one purpose, summed."""

    count: int = 0
    input: int = 0
    output: int = 0
    cached: int = 0
    reasoning: int = 0
    dollars: float = 0.0
    unpriced: int = 0
    """Calls whose price is unknown, and which `dollars` therefore leaves out."""
    seconds: float = 0.0
    repeats: int = 0
    """Attempts beyond the first."""
    empty: int = 0
    cut: int = 0
    """Answers that ended at the token limit."""
    trimmed: int = 0
    """Calls whose prompt had to lose old turns."""

    def add(self, other: "Calls") -> None:
        """Count these in."""
        for name in self.__struct_fields__:
            setattr(self, name, getattr(self, name) + getattr(other, name))


class Lookups(msgspec.Struct):
    """Searches in the knowledge base, summed."""

    count: int = 0
    hits: int = 0
    """Searches that found anything."""
    passages: int = 0
    queries: int = 0
    """Different queries."""
    steps: int = 0
    """Steps with a search."""
    seconds: float = 0.0
    ends: dict[str, int] = {}
    """What became of each look-up that was due, as the agent noted it: steps by word."""

    @property
    def used(self) -> int:
        """Steps whose prompt held what retrieval found."""
        return sum(self.ends.get(word, 0) for word in IN_THE_PROMPT)

    def add(self, other: "Lookups") -> None:
        """Count these in."""
        for name in ("count", "hits", "passages", "queries", "steps", "seconds"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for word, steps in other.ends.items():
            self.ends[word] = self.ends.get(word, 0) + steps


class Point(msgspec.Struct, frozen=True, array_like=True):
    """Progression at a moment of an episode: after so many steps, tokens and dollars."""

    step: int
    tokens: int
    dollars: float
    progression: float


class Episode(msgspec.Struct, dict=True):
    """One finished episode."""

    name: str
    game: GameSpec
    agent: Mapping[str, Any]
    model: Mapping[str, Any]
    knowledge: Mapping[str, Any]
    spec_digest: str
    config_digest: str
    outcome: str = ""
    progression: float = 0.0
    """BALROG's, from 0 to 1."""
    highest: str | None = None
    """What gave it, in the words of the kind of game."""
    milestones: dict[str, list[str]] = {}
    """What was reached in turn, by the names that BALROG's record has for such lists."""
    last: dict[str, int] = {}
    """Every number of the game as it last stood."""
    most: dict[str, int] = {}
    """The highest that each of them was."""
    followed: dict[str, float | None] = {}
    """The kind's measures that no single number tells; null where the journal lacks what they need."""
    course: list[tuple[int, int]] = []
    """The kind's timeline: the game's own time and what was reached, wherever that rose, and at the end."""
    steps: int = 0
    keys: int = 0
    invalid: int = 0
    total_reward: float = 0.0
    actions: dict[str, int] = {}
    failed_candidates: list[str] = []
    calls: dict[str, Calls] = {}
    answered_by: list[str] = []
    """What the models that answered called themselves."""
    asked_again: Calls = msgspec.field(default_factory=Calls)
    """Those of `calls` that asked for an action once more, since the first answer wanted a look-up."""
    lookups: Lookups = msgspec.field(default_factory=Lookups)
    readings: dict[str, int] = {}
    """How answers were read: steps by strict, lenient, none."""
    loops: int = 0
    """Steps at which the agent was told that it repeats itself."""
    curve: list[Point] = []
    facts: Mapping[str, Any] = {}
    cut: bool = False
    """Whether a cap of the whole run cut it off."""
    forked: str = ""
    """Who decided the first steps, and how many, where that was another player."""

    @property
    def env(self) -> str:
        """The environment, by its registered name."""
        return self.name.partition("/")[0]

    @property
    def task(self) -> str:
        """The task."""
        return self.name.partition("/")[2].rpartition("/")[0]

    @property
    def number(self) -> str:
        """Its number within the task, e.g. 03."""
        return self.name.rpartition("/")[2]

    @property
    def percent(self) -> float:
        """Progression in percent."""
        return 100 * self.progression

    @property
    def game_name(self) -> str:
        """Names the game played: equal names are the same world."""
        return kind_of(self.game.env).sampling.identity(self.game)

    @property
    def world_name(self) -> str:
        """Names the world that its game shares with others; empty where the kind declares none."""
        shared = kind_of(self.game.env).sampling.world
        return "" if shared is None else shared(self.game)

    def measured(self, measure: Measure) -> float:
        """One of the kind's own measures; not a number where the journal does not tell it."""
        if measure.follow is not None:
            told = self.followed.get(measure.name)
            return nan if told is None else told
        return (self.last if measure.taken == "last" else self.most).get(measure.number, 0)

    @property
    def ended_by(self) -> str:
        """How the game ended in its own words, such as what killed the player."""
        return kind_of(self.game.env).display.ending(self.facts)

    @property
    def cause(self) -> str:
        """The class of what ended the game, as its kind has it; empty where nothing did."""
        return kind_of(self.game.env).retrospect.cause(self.outcome, self.facts)

    @property
    def preventable(self) -> bool:
        """Whether a paragraph read in time would have prevented that end."""
        return self.cause in kind_of(self.game.env).retrospect.preventable

    @property
    def seconds(self) -> float:
        """Spent waiting for answers and searches, in all attempts: what a journal knows of time."""
        return self.total.seconds + self.lookups.seconds

    @property
    def agent_name(self) -> str:
        """The name of its arm."""
        return agent_name(self.agent)

    @property
    def asked_model(self) -> Mapping[str, Any]:
        """The settings of the model that was asked; empty where a program played without one."""
        return self.model if self.calls else {}

    @property
    def model_name(self) -> str:
        """The model's name."""
        return str(self.model.get("name", "?"))

    @cached_property
    def total(self) -> Calls:
        """All calls together; not to be asked before the last is counted."""
        together = Calls()
        for calls in self.calls.values():
            together.add(calls)
        return together


def agent_name(agent: Mapping[str, Any]) -> str:
    """An agent's registered name by its settings, with `_rag` where retrieval is on."""
    retrieval = agent.get("retrieval")
    enabled = isinstance(retrieval, Mapping) and bool(retrieval.get("enabled"))
    return str(agent.get("name", "?")) + ("_rag" if enabled else "")


NO_MODEL = "no model"
"""Stands for the model's name where none was asked anything."""


def any_asked(episodes: Iterable[Episode]) -> bool:
    """Whether any model was asked anything: a policy plays without one."""
    return any(episode.calls for episode in episodes)


def answering(episodes: Iterable[Episode]) -> list[str]:
    """What the models that answered in these episodes called themselves."""
    return sorted({name for episode in episodes for name in episode.answered_by})
