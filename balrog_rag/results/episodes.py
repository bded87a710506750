"""The results of an episode: every score, cost and count, derived from its journal only."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from math import nan
from typing import TYPE_CHECKING, Any

import msgspec

from balrog_rag.config.agent_schema import OWN_LOOPS
from balrog_rag.contracts.data import GameSpec
from balrog_rag.contracts.kinds import Measure, kind_of
from balrog_rag.contracts.outcome import Outcome
from balrog_rag.results.statistics.draw_keys import DrawKeys, ListedDrawKeys

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from balrog_rag.results.episode_arrays import EpisodeArrays

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
"""Outcomes for which the environment itself ended the episode."""
ENDED_BY_ITSELF = ENDED_BY_GAME - {Outcome.NO_PROGRESS}
"""Outcomes that end a game; after any other outcome it could have continued."""


IN_THE_PROMPT = ("fresh", "reused", "kept")
"""Values of an agent's note that mean that its prompt contained reference material."""


class Calls(msgspec.Struct):
    """Totals of the model calls of one purpose."""

    count: int = 0
    input: int = 0
    output: int = 0
    cached: int = 0
    reasoning: int = 0
    dollars: float = 0.0
    unpriced: int = 0
    """Calls of unknown price, which `dollars` therefore excludes."""
    seconds: float = 0.0
    repeats: int = 0
    """Attempts after the first."""
    empty: int = 0
    cut: int = 0
    """Answers that were cut at the token limit."""
    trimmed: int = 0
    """Calls whose prompt was trimmed by old turns."""
    uncounted: int = 0
    """Calls whose tokens nobody reported."""

    @property
    def unseen(self) -> bool:
        """Whether the tokens of all calls are unknown, as those of a client with its own loop."""
        return 0 < self.count == self.uncounted

    @property
    def tokens(self) -> int:
        """Tokens, input and output, as far as they were reported."""
        return self.input + self.output

    def add(self, other: "Calls") -> None:
        """Add these totals."""
        for name in self.__struct_fields__:
            setattr(self, name, getattr(self, name) + getattr(other, name))


class Lookups(msgspec.Struct):
    """Totals of searches in the knowledge base."""

    count: int = 0
    hits: int = 0
    """Searches with results."""
    passages: int = 0
    queries: int = 0
    """Distinct queries."""
    steps: int = 0
    """Steps with a search."""
    seconds: float = 0.0
    ends: dict[str, int] = {}
    """The result of each due look-up as noted by the agent: steps by word."""

    @property
    def used(self) -> int:
        """Steps whose prompt contained retrieved passages."""
        return sum(self.ends.get(word, 0) for word in IN_THE_PROMPT)

    def add(self, other: "Lookups") -> None:
        """Add these totals."""
        for name in ("count", "hits", "passages", "queries", "steps", "seconds"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for word, steps in other.ends.items():
            self.ends[word] = self.ends.get(word, 0) + steps


class Point(msgspec.Struct, frozen=True, array_like=True):
    """Progression at a moment of an episode: after this many steps, tokens and dollars."""

    step: int
    tokens: int
    dollars: float
    progression: float


class EpisodeProperties:
    """What follows from the fields of an episode, however they are stored."""

    name: str
    game: GameSpec
    agent: Mapping[str, Any]
    model: Mapping[str, Any]
    outcome: str
    progression: float
    last: dict[str, int]
    most: dict[str, int]
    followed: dict[str, float | None]
    calls: dict[str, Calls]
    lookups: Lookups
    facts: Mapping[str, Any]
    total: Calls
    """Totals of all calls."""

    @property
    def env(self) -> str:
        """The environment, by its registered name."""
        return self.name.partition("/")[0]

    @property
    def task(self) -> str:
        """The task, with its version unless that is the first."""
        return self.game.versioned(self.name.partition("/")[2].rpartition("/")[0])

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
        """Identifies the game: equal names are the same game."""
        return kind_of(self.game.env).sampling.identity(self.game)

    @property
    def world_name(self) -> str:
        """Identifies the world that its game shares with others; empty if the kind defines none."""
        shared = kind_of(self.game.env).sampling.world
        return "" if shared is None else shared(self.game)

    @property
    def draw_key(self) -> tuple[str, str, str, str]:
        """Environment, task, game and world: what says which scores are independent draws."""
        return self.env, self.task, self.game_name, self.world_name

    def measured(self, measure: Measure) -> float:
        """The value of one of the kind's measures; NaN if the journal lacks it."""
        if measure.follow is not None:
            value = self.followed.get(measure.name)
            return nan if value is None else value
        return (self.last if measure.taken == "last" else self.most).get(measure.number, 0)

    @property
    def ended_by(self) -> str:
        """How the game ended in its own words, e.g. what killed the player."""
        return kind_of(self.game.env).display.ending(self.facts)

    @property
    def cause(self) -> str:
        """The class of the game's end according to its kind; empty if there is none."""
        return kind_of(self.game.env).retrospect.cause(self.outcome, self.facts)

    @property
    def preventable(self) -> bool:
        """Whether a passage read in time would have prevented that end."""
        return self.cause in kind_of(self.game.env).retrospect.preventable

    @property
    def seconds(self) -> float:
        """Seconds spent waiting for answers and searches, over all attempts."""
        return self.total.seconds + self.lookups.seconds

    @property
    def agent_name(self) -> str:
        """The agent's name for display."""
        return agent_name(self.agent)

    @property
    def asked_model(self) -> Mapping[str, Any]:
        """The settings of the model; empty for a program that plays without one."""
        return self.model if self.calls else {}

    @property
    def model_name(self) -> str:
        """The model's name."""
        return str(self.model.get("name", "?"))


class Episode(msgspec.Struct, EpisodeProperties, dict=True):
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
    """BALROG's progression, from 0 to 1."""
    highest: str | None = None
    """The achievement that determined it, in the words of the kind of game."""
    milestones: dict[str, list[str]] = {}
    """Milestones in order, by their list names in BALROG's record."""
    last: dict[str, int] = {}
    """The last value of every number of the game."""
    most: dict[str, int] = {}
    """The maximum of every number of the game."""
    followed: dict[str, float | None] = {}
    """The kind's measures over whole episodes; null if the journal lacks the data."""
    course: list[tuple[int, int]] = []
    """The kind's timeline: game time and height at every new maximum, and at the end."""
    steps: int = 0
    keys: int = 0
    invalid: int = 0
    total_reward: float = 0.0
    actions: dict[str, int] = {}
    failed_candidates: list[str] = []
    calls: dict[str, Calls] = {}
    answered_by: list[str] = []
    """The names that the answering models reported."""
    fingerprints: list[str] = []
    """The fingerprints of the systems behind them."""
    asked_again: Calls = msgspec.field(default_factory=Calls)
    """The part of `calls` that asked for an action again after the first answer had requested a look-up."""
    lookups: Lookups = msgspec.field(default_factory=Lookups)
    readings: dict[str, int] = {}
    """How answers were parsed: steps by strict, lenient, none."""
    loops: int = 0
    """Steps at which the agent was warned that it repeats itself."""
    segments: int = 0
    """Segments of an append-only history; 0 for other agents."""
    curve: list[Point] = []
    facts: Mapping[str, Any] = {}
    cut: bool = False
    """Whether a cap of the whole run ended it."""
    forked: str = ""
    """Which other player decided the first steps, and how many."""

    @cached_property
    def total(self) -> Calls:  # type: ignore[override]
        """Totals of all calls; only valid once all have been added."""
        return calls_together(self.calls)


def calls_together(calls: Mapping[str, Calls]) -> Calls:
    """Add up the calls of all purposes, in one order: sums of floats depend on it."""
    together = Calls()
    for purpose in sorted(calls):
        together.add(calls[purpose])
    return together


class EpisodeSequence(Sequence[Episode]):
    """Episodes of which every measure is computed: what all measures need is computed once."""

    @cached_property
    def arrays(self) -> "EpisodeArrays":
        """Their values as arrays."""
        from balrog_rag.results.episode_arrays import EpisodeArrays  # it needs the classes of this module

        return EpisodeArrays(self)

    @cached_property
    def draw_keys(self) -> DrawKeys:
        """Their draws."""
        return ListedDrawKeys(episode.draw_key for episode in self)

    def numbers_of(self, taken: str, name: str) -> list[int]:
        """The last or the highest value of a number in each episode; 0 where it has none."""
        found: list[int] = self.arrays.figures(taken, name).tolist()
        return found

    def take(self, places: "Sequence[int] | NDArray[Any]") -> "EpisodeSequence":
        """The episodes at these places."""
        return EpisodeList(self[place] for place in places)

    def by_env(self) -> "dict[str, EpisodeSequence]":
        """The episodes of each environment, in order of appearance."""
        found = self.arrays.env
        envs = [env for env, _ in found.counted()]
        return {env: self if len(envs) == 1 else self.take(found.where(env)) for env in envs}


class EpisodeList(list[Episode], EpisodeSequence):
    """Episodes as objects."""


def as_sequence(episodes: Iterable[Episode]) -> EpisodeSequence:
    """These episodes themselves if they are a sequence of episodes already, else one of them."""
    return episodes if isinstance(episodes, EpisodeSequence) else EpisodeList(episodes)


def agent_name(agent: Mapping[str, Any]) -> str:
    """A client's own name or an agent's registered one; `_append`: its history is append-only, `_rag`: it
    retrieves."""
    retrieval, history = agent.get("retrieval"), agent.get("history")
    enabled = isinstance(retrieval, Mapping) and bool(retrieval.get("enabled"))
    appends = isinstance(history, Mapping) and history.get("window") == "append"
    options, name = agent.get("options"), agent.get("name", "?")
    if name in OWN_LOOPS and isinstance(options, Mapping):
        name = options.get("client") or name
    return str(name) + ("_append" if appends else "") + ("_rag" if enabled else "")


NO_MODEL = "no model"
"""Replaces the model's name if no model was called."""


def any_asked(episodes: Iterable[Episode]) -> bool:
    """Whether any model was called: policies play without one."""
    if isinstance(episodes, EpisodeSequence):
        return bool(episodes.arrays.has_calls.any())
    return any(episode.calls for episode in episodes)


def answering(episodes: Iterable[Episode]) -> list[str]:
    """The names that the answering models reported in these episodes."""
    return _named_in(episodes, "answered_by")


def fingerprints(episodes: Iterable[Episode]) -> list[str]:
    """The fingerprints that the answers in these episodes carry."""
    return _named_in(episodes, "fingerprints")


def _named_in(episodes: Iterable[Episode], field: str) -> list[str]:
    if isinstance(episodes, EpisodeSequence):
        lists = episodes.arrays.coded(field).values
    else:
        lists = [getattr(episode, field) for episode in episodes]
    return sorted({name for names in lists for name in names})
