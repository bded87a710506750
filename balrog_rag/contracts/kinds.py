"""What a kind of game is: one descriptor that owns everything specific to a game.

A kind is registered by name and cheap to import: its engine is loaded when a game is made. It says which
tasks there are, which options a game takes, how far a game has come, what else is counted and how that is
shown, and what agents' wrappers may notice of a moment. Nothing outside `envs/` and `bots/` names a game.

Everything that a plug-in needs to declare a kind can be imported from here.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import msgspec

from balrog_rag.contracts import registry
from balrog_rag.contracts.data import GameSpec, Observation, digest
from balrog_rag.contracts.errors import ConfigError, EnvironmentFailure, PluginError
from balrog_rag.contracts.measures import Column as Column
from balrog_rag.contracts.measures import EpisodeCounter as EpisodeCounter
from balrog_rag.contracts.measures import Measure as Measure
from balrog_rag.contracts.measures import Numbers as Numbers
from balrog_rag.contracts.measures import PlayedEpisode as PlayedEpisode
from balrog_rag.contracts.measures import Progress as Progress
from balrog_rag.contracts.measures import Rules as Rules
from balrog_rag.contracts.measures import ScoredStep as ScoredStep
from balrog_rag.contracts.measures import Share as Share
from balrog_rag.contracts.measures import Timeline as Timeline
from balrog_rag.contracts.measures import follow as follow
from balrog_rag.contracts.programs import ProgramKind, offered
from balrog_rag.contracts.signals import EnvironmentSignals as EnvironmentSignals


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
class Scoring:
    """How episodes of the kind are scored, beyond their progression."""

    solved_or_not: bool = False
    """Whether progression is 0 or 1 and nothing between."""
    rise: float = 100.0
    """Points of progression that an episode not yet seen may reach, even where all those seen have none."""
    detect: float = 10.0
    """Points of progression that a plan is shown for: about a gap between neighbours in rank."""
    measures: tuple[Measure, ...] = ()
    rules: tuple[Rules, ...] = ()
    worth: Callable[[str], float] = lambda reached: 0.0
    """The progression that a named achievement stands for, where published episodes name it."""
    crash_scores: bool = False
    """Whether a game whose program crashes or is too slow has ended and is scored; else that is an error."""


@dataclass(frozen=True, kw_only=True)
class DisplayHints:
    """How displays and reports show a game of the kind."""

    columns: tuple[Column, ...] = ()
    headline: Callable[[Numbers], str] = lambda numbers: ""
    """A line of figures for displays, such as `level 1 health 12/14`."""
    danger: Callable[[Numbers], bool] = lambda numbers: False
    """Whether a display should mark the game as in danger."""
    timeline: Timeline | None = None
    """What reports draw over the game's own time."""
    blank: Callable[[Numbers], bool] = lambda moved: False
    """Whether numbers that moved are those of a game that is over, which say nothing of how it went."""
    ending: Callable[[Mapping[str, Any]], str] = lambda facts: ""
    """How a game ended in the game's own words, from the facts of its end."""


@dataclass(frozen=True, kw_only=True)
class Retrospect:
    """What can be said of a game that is over."""

    recording: str = ""
    """The name of a recording's file, with {number} for that of the episode; empty: it makes none."""
    read_logged: Callable[[str], Observation] | None = None
    """An observation from the text that BALROG's logs keep of it; None where it cannot be read back."""
    record: Callable[[Any], dict[str, Any]] = lambda episode: {}
    """Fields that BALROG's per-episode record has for this kind alone."""
    cause: Callable[[str, Mapping[str, Any]], str] = lambda outcome, facts: ""
    """The class of what ended a game, from its outcome and the facts of its end; empty where nothing did."""
    preventable: frozenset[str] = frozenset()
    """Classes that a paragraph read in time would have prevented."""
    comparable: Callable[[Mapping[str, Any]], Mapping[str, Any]] = lambda facts: facts
    """The facts of an end without what a replay need not repeat, since it depends on the machine."""


@dataclass(frozen=True, kw_only=True)
class AgentHints:
    """What agents and their wrappers get from the kind: words, signals, pictures and programs."""

    prompts: Callable[[], Mapping[str, str]] = no_prompts
    """Templates by name: `instruction`, and `advice` for agent.system=improved."""
    guide: str = "game"
    """What prompts call it, as in `a ... guide`."""
    reading: str = ""
    """How its observations are to be read, for a model that is shown one outside an episode's prompt."""
    signals: EnvironmentSignals = EnvironmentSignals()
    pictures: Callable[[Mapping[str, Any]], bool] = no_pictures
    """Whether observations carry a picture under these options."""
    picture_hint: str = ""
    """What to add so that they do, e.g. `env.layout=image`."""
    shown_task: Literal["own", "another"] = "own"
    """Whose demonstrations few_shot shows: the task's, or another's where one solves every game of it."""
    programs: Callable[[GameSpec], Sequence[ProgramKind]] = no_programs
    """Programs that a game offers as actions by its own options, besides those of env.programs."""


@dataclass(frozen=True, kw_only=True)
class Sampling:
    """Which games are played by default, which of them are the same, and what they depend on."""

    listed: tuple[str, ...] = ()
    """Tasks that are known without asking `tasks`, where asking takes long."""
    episodes: int = 5
    """Episodes a task, where env.episodes says nothing."""
    counted: bool = False
    """Whether BALROG, left without a seed, plays its games one after the other from the second on."""
    identity: Callable[[GameSpec], str] = by_seeds_and_options
    """Equal for games of a task that are the same game."""
    world: Callable[[GameSpec], str] | None = None
    """Equal for games of any task that share so much that their results are not independent.

    Statistics resample by world. None: each game is a world of its own.
    """
    interface: frozenset[str] = frozenset({"layout"})
    """Options that say how a game is shown and played, or where it is found, not which game it is.

    Runs that differ in any other option were played under different conditions, and are not ranked together.
    """
    packages: tuple[str, ...] = ()
    """Distributions whose versions can change what a game is."""
    departures: str = ""
    """What is not as in BALROG whatever is set, in a sentence; empty: nothing is known."""


@dataclass(frozen=True, kw_only=True)
class EnvironmentKind:
    """A kind of game. Five fields are required; what only some kinds need is in optional records."""

    name: str
    """As in env.tasks=[NAME/TASK]."""
    title: str
    """As people write it."""
    tasks: Callable[[], Sequence[str]]
    """Every task there is."""
    make: Callable[[GameSpec, str | None], Any]
    """The environment of a game; the second argument names the file of its recording, if one is wanted."""
    progress: Callable[[GameSpec], Progress]
    """How far a game of this spec has come: declared here, never guessed from a reward."""
    options: type[msgspec.Struct] = NoOptions
    """The schema of env.options for this kind, with its defaults."""
    check: Callable[[GameSpec], None] = accept
    """Raises a ConfigError where a game cannot be, before anything is started for it."""
    max_steps: Callable[[str], int] = lambda task: 1000
    """After how many steps of its own a game of that task is ended, where env.max_steps says nothing."""
    scoring: Scoring = Scoring()
    display: DisplayHints = DisplayHints()
    retrospect: Retrospect = Retrospect()
    hints: AgentHints = AgentHints()
    sampling: Sampling = Sampling()


def kind_of(name: str) -> EnvironmentKind:
    """The kind of that name; refused where what is registered declares less than it must."""
    found = registry.environments.get(name)
    if not isinstance(found, EnvironmentKind):
        raise PluginError(
            f"environment {name!r}: is no EnvironmentKind, so nobody knows how its progression follows; "
            "docs/reference/environments.md says what a kind of game declares"
        )
    if found.name != name:
        raise PluginError(f"environment {name!r}: calls itself {found.name!r}; one of the two must change")
    return found


def example_task() -> str:
    """How a task is written, for whom has written it wrong."""
    kinds = map(kind_of, registry.environments.names())
    return next(f"{kind.name}/{kind.sampling.listed[0]}" for kind in kinds if kind.sampling.listed)


def check_game(game: GameSpec) -> None:
    """Raise a ConfigError where the game cannot be: unknown names, or files that are not on this machine."""
    kind = kind_of(game.env)
    if game.task not in kind.sampling.listed and game.task not in (known := kind.tasks()):
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
