"""What a kind of game is: one descriptor that owns everything that is said about it.

A kind is registered by name and cheap to import: its engine is loaded when a game is made. It says which
tasks there are, which options a game takes, how far a game has come, what else is counted and how that is
shown, and what agents' wrappers may notice of a moment. Nothing outside `envs/` names a game.
"""

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import msgspec

from balrog_rag.contracts import registry
from balrog_rag.contracts.data import GameSpec, Observation, Rise, digest
from balrog_rag.contracts.errors import ConfigError, EnvironmentFailure, PluginError
from balrog_rag.contracts.programs import ProgramKind, offered

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


class Scored(Protocol):
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


def follow(progress: Progress, step: Scored, numbers: Numbers, ended: str = "") -> None:
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


class Following(Protocol):
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
    follow: Callable[[], Following] | None = None
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


class Played(Protocol):
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
    figures: Callable[[Sequence[Sequence[Played]]], Sequence[str]]
    """Figures of one player, from the ended episodes of its runs in order."""
    note: str
    published: str = ""
    """The part of `measured` in eval/published.yaml whose rows stand beside ours; empty: none."""
    names: tuple[str, ...] = ()
    """What those rows call each figure."""
    apart: bool = False
    """Whether a board shows each task's figures in a row of its own, too."""


class Senses:
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


def accept(game: GameSpec) -> None:
    """Every game of the kind can be made."""


def no_pictures(options: Mapping[str, Any]) -> bool:
    """The kind shows no pictures."""
    return False


def no_programs(game: GameSpec) -> Sequence[ProgramKind]:
    """The kind has no programs of its own."""
    return ()


def no_prompts() -> Mapping[str, str]:
    """The kind has no words of its own; agents describe it by its goal and its actions."""
    return {}


def by_seeds_and_options(game: GameSpec) -> str:
    """Games are the same if their seeds and options are."""
    seeds = game.seeds
    made = digest(msgspec.json.encode(game.options, order="sorted"))[:8]
    return f"{seeds.core}/{seeds.disp}/{seeds.lgen}/{made}"


class NoOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A kind whose games take no options."""


@dataclass(frozen=True, kw_only=True)
class EnvironmentKind:
    """A kind of game. Name, title, tasks, `make` and `progress` must be said; all else has a default."""

    name: str
    """As in env.tasks=[NAME/TASK]."""
    title: str
    """As people write it."""
    tasks: Callable[[], Sequence[str]]
    """Every task there is."""
    listed: tuple[str, ...] = ()
    """Tasks that are known without asking `tasks`, where asking takes long."""
    make: Callable[[GameSpec, str | None], Any]
    """The environment of a game; the second argument names the file of its recording, if one is wanted."""
    progress: Callable[[GameSpec], Progress]
    """How far a game of this spec has come: declared here, never guessed from a reward."""
    recording: str = ""
    """The name of a recording's file, with {number} for that of the episode; empty: it makes none."""
    solved_or_not: bool = False
    """Whether progression is 0 or 1 and nothing between."""
    rise: float = 100.0
    """Points of progression that an episode not yet seen may reach, even where all those seen have none."""
    options: type[msgspec.Struct] = NoOptions
    """The schema of env.options for this kind, with its defaults."""
    interface: frozenset[str] = frozenset({"layout"})
    """Options that say how a game is shown and played, or where it is found, not which game it is.

    Runs that differ in any other option were played under different conditions, and are not ranked together.
    """
    check: Callable[[GameSpec], None] = accept
    """Raises a ConfigError where a game cannot be, before anything is started for it."""
    max_steps: Callable[[str], int] = lambda task: 1000
    """After how many steps of its own a game of that task is ended, where env.max_steps says nothing."""
    episodes: int = 5
    """Episodes a task, where env.episodes says nothing."""
    counted: bool = False
    """Whether BALROG, left without a seed, plays its games one after the other from the second on."""
    pictures: Callable[[Mapping[str, Any]], bool] = no_pictures
    """Whether observations carry a picture under these options."""
    picture_hint: str = ""
    """What to add so that they do, e.g. `env.layout=image`."""
    identity: Callable[[GameSpec], str] = by_seeds_and_options
    """Equal for games of a task that are the same game."""
    world: Callable[[GameSpec], str] | None = None
    """Equal for games of any task that share so much that their results are not independent.

    Statistics resample by world. None: each game is a world of its own.
    """
    measures: tuple[Measure, ...] = ()
    timeline: Timeline | None = None
    """What reports draw over the game's own time."""
    columns: tuple[Column, ...] = ()
    blank: Callable[[Numbers], bool] = lambda moved: False
    """Whether numbers that moved are those of a game that is over, which say nothing of how it went."""
    headline: Callable[[Numbers], str] = lambda numbers: ""
    """A line of figures for displays, such as `level 1 health 12/14`."""
    danger: Callable[[Numbers], bool] = lambda numbers: False
    """Whether a display should mark the game as in danger."""
    ending: Callable[[Mapping[str, Any]], str] = lambda facts: ""
    """How a game ended in the game's own words, from the facts of its end."""
    cause: Callable[[str, Mapping[str, Any]], str] = lambda outcome, facts: ""
    """The class of what ended a game, from its outcome and the facts of its end; empty where nothing did."""
    crash_scores: bool = False
    """Whether a game whose program crashes or is too slow has ended and is scored; else that is an error."""
    preventable: frozenset[str] = frozenset()
    """Classes that a paragraph read in time would have prevented."""
    read_logged: Callable[[str], Observation] | None = None
    """An observation from the text that BALROG's logs keep of it; None where it cannot be read back."""
    record: Callable[[Any], dict[str, Any]] = lambda episode: {}
    """Fields that BALROG's per-episode record has for this kind alone."""
    packages: tuple[str, ...] = ()
    """Distributions whose versions can change what a game is."""
    programs: Callable[[GameSpec], Sequence[ProgramKind]] = no_programs
    """Programs that a game offers as actions by its own options, besides those of env.programs."""
    prompts: Callable[[], Mapping[str, str]] = no_prompts
    """Templates by name: `instruction`, and `advice` for agent.system=improved."""
    guide: str = "game"
    """What prompts call it, as in `a ... guide`."""
    reading: str = ""
    """How its observations are to be read, for a model that is shown one outside an episode's prompt."""
    senses: Senses = Senses()
    rules: tuple[Rules, ...] = ()
    worth: Callable[[str], float] = lambda reached: 0.0
    """The progression that a named achievement stands for, where published episodes name it."""
    comparable: Callable[[Mapping[str, Any]], Mapping[str, Any]] = lambda facts: facts
    """The facts of an end without what a replay need not repeat, since it depends on the machine."""
    departures: str = ""
    """What is not as in BALROG whatever is set, in a sentence; empty: nothing is known."""
    detect: float = 10.0
    """Points of progression that a plan is shown for: about a gap between neighbours in rank."""


def kind_of(name: str) -> EnvironmentKind:
    """The kind of that name; refused where what is registered declares less than it must."""
    found = registry.environments.get(name)
    if not isinstance(found, EnvironmentKind):
        raise PluginError(
            f"environment {name!r}: is no EnvironmentKind, so nobody knows how its progression follows; "
            "docs/environments.md says what a kind of game declares"
        )
    if found.name != name:
        raise PluginError(f"environment {name!r}: calls itself {found.name!r}; one of the two must change")
    return found


def example_task() -> str:
    """How a task is written, for whom has written it wrong."""
    kinds = map(kind_of, registry.environments.names())
    return next(f"{kind.name}/{kind.listed[0]}" for kind in kinds if kind.listed)


def check_game(game: GameSpec) -> None:
    """Raise a ConfigError where the game cannot be: unknown names, or files that are not on this machine."""
    kind = kind_of(game.env)
    if game.task not in kind.listed and game.task not in (known := kind.tasks()):
        near = registry.nearest(game.task, known, f"`balrog-rag envs tasks {kind.name}` lists them")
        raise ConfigError(f"env.tasks: unknown task {game.task!r} of {kind.name}{near}")
    kind.check(game)
    offered(game)


def value_of(progress: Progress, kind: EnvironmentKind) -> float:
    """The progression, which must lie from 0 to 1."""
    value = progress.value
    if not 0.0 <= value <= 1.0:
        raise EnvironmentFailure(f"{kind.name}: its progression is {value!r}, which is not from 0 to 1")
    return value
