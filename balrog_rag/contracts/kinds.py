"""What defines a kind of game: one descriptor that owns everything specific to it.

A kind is registered by name and cheap to import: its engine is loaded when a game is made. It declares its
tasks, its options, how progression and other measures are computed, how they are displayed, and the signals
that agents' wrappers use. Nothing outside `envs/` and `bots/` names a game.

A plug-in can import everything that a kind needs from here.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import msgspec

from balrog_rag.contracts import registry
from balrog_rag.contracts.data import GameSpec, Observation, digest
from balrog_rag.contracts.errors import ConfigError, EnvironmentFailure, JournalError, PluginError
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
from balrog_rag.contracts.renaming import Renaming as Renaming
from balrog_rag.contracts.signals import EnvironmentSignals as EnvironmentSignals


def accept(game: GameSpec) -> None:
    """Accept every game of the kind."""


def no_pictures(options: Mapping[str, Any]) -> bool:
    """Return False: the kind shows no pictures."""
    return False


def no_programs(game: GameSpec) -> Sequence[ProgramKind]:
    """Return (): the kind has no programs of its own."""
    return ()


def no_prompts() -> Mapping[str, str]:
    """Return {}: the kind has no prompts; agents describe it by its goal and its actions."""
    return {}


def by_seeds_and_options(game: GameSpec) -> str:
    """Identify a game by its seeds and options."""
    seeds = game.seeds
    made = digest(msgspec.json.encode(game.options, order="sorted"))[:8]
    return f"{seeds.core}/{seeds.disp}/{seeds.lgen}/{made}"


def no_renaming(game: GameSpec) -> Renaming | None:
    """Return None."""
    return None


class NoOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The options of a kind that takes none."""


@dataclass(frozen=True, kw_only=True)
class Scoring:
    """How episodes of the kind are scored, beyond their progression."""

    solved_or_not: bool = False
    """Whether progression is only 0 or 1."""
    rise: float = 100.0
    """Points of progression assumed possible for an unseen episode, even if all seen ones have none."""
    detect: float = 10.0
    """Difference in progression points that plans are made to detect: roughly that of neighbours in rank."""
    measures: tuple[Measure, ...] = ()
    rules: tuple[Rules, ...] = ()
    worth: Callable[[str], float] = lambda reached: 0.0
    """Progression of a named achievement, for published episodes that report achievements."""
    oracles: tuple[str, ...] = ()
    """Players that are given what no other sees, such as a solution: averages are also shown without them."""
    crash_scores: bool = False
    """Whether a game whose program crashes or is too slow is scored as ended; otherwise it is an error."""


@dataclass(frozen=True, kw_only=True)
class DisplayHints:
    """How displays and reports show a game of the kind."""

    columns: tuple[Column, ...] = ()
    headline: Callable[[Numbers], str] = lambda numbers: ""
    """A line of numbers for displays, such as `level 1 health 12/14`."""
    danger: Callable[[Numbers], bool] = lambda numbers: False
    """Whether a display should mark the game as in danger."""
    timeline: Timeline | None = None
    """What reports plot over the game's own time."""
    blank: Callable[[Numbers], bool] = lambda moved: False
    """Whether changed numbers are those of a finished game, which say nothing about how it went."""
    ending: Callable[[Mapping[str, Any]], str] = lambda facts: ""
    """Describe how a game ended, from the facts of its end."""
    tiles: Callable[[Mapping[str, Any]], bytes] | None = None
    """Draw a moment's raw arrays as a picture (PNG), beside its coloured text; None: it has no tiles."""


@dataclass(frozen=True, kw_only=True)
class Retrospect:
    """What can be derived from a finished game."""

    recording: str = ""
    """File name of a recording, with {number} for the episode; "": it makes none."""
    read_logged: Callable[[str], Observation | None] | None = None
    """Parse an observation from the text in BALROG's logs; returns None if that is impossible."""
    record: Callable[[Any], dict[str, Any]] = lambda episode: {}
    """Extra fields of BALROG's per-episode record for this kind."""
    cause: Callable[[str, Mapping[str, Any]], str] = lambda outcome, facts: ""
    """Classify what ended a game, from its outcome and the facts of its end; "" if nothing did."""
    preventable: frozenset[str] = frozenset()
    """Classes of ends that reading one paragraph in time would have prevented."""
    decision: Callable[[str, Sequence[Observation], str], int | None] = lambda cause, moments, last: (
        len(moments) - 1 if moments else None
    )
    """Which moment's answer was fatal: its index, from the class of the end, the moments before it and the
    text that followed the last of them; None if the answer was given earlier."""
    right_answer: Callable[[Observation, Mapping[str, int]], str] = lambda seen, done: ""
    """The answer (y or n) to the game's open question if its rules determine one; else "". `done` as for
    `EnvironmentSignals.concerns`."""
    comparable: Callable[[Mapping[str, Any]], Mapping[str, Any]] = lambda facts: facts
    """The facts of an end that a replay must reproduce, without those that depend on the machine."""


@dataclass(frozen=True, kw_only=True)
class AgentHints:
    """What the kind provides to agents and their wrappers: prompts, signals, pictures and programs."""

    prompts: Callable[[], Mapping[str, str]] = no_prompts
    """Templates by name: `instruction`, and `advice` for agent.system=improved."""
    guide: str = "game"
    """The game's name in prompts, as in `a ... guide`."""
    reading: str = ""
    """How to read its observations, for a model that sees one outside an episode's prompt."""
    signals: EnvironmentSignals = EnvironmentSignals()
    pictures: Callable[[Mapping[str, Any]], bool] = no_pictures
    """Whether observations carry a picture under these options."""
    picture_hint: str = ""
    """The override that adds a picture, e.g. `env.layout=image`."""
    shown_task: Literal["own", "another"] = "own"
    """Whose demonstrations few_shot shows: the task's, or another's where one solves every game of it."""
    renaming: Callable[[GameSpec], Renaming | None] = no_renaming
    """The exchange of the world's names that a game's options ask for; None: it keeps its own."""
    programs: Callable[[GameSpec], Sequence[ProgramKind]] = no_programs
    """Programs that a game's own options offer as actions, besides those of env.programs."""


@dataclass(frozen=True, kw_only=True)
class Sampling:
    """Which games are played by default, which of them are the same, and what they depend on."""

    listed: tuple[str, ...] = ()
    """Tasks known without calling `tasks`, if that is slow."""
    episodes: int = 5
    """Episodes per task by default."""
    available: Callable[[str], int] | None = None
    """Returns how many different games a task has, if their number is limited; no more are planned."""
    most_actions: Callable[[GameSpec], int] | None = None
    """Returns the actions of an agent after which a game has ended, if that is sooner than `max_steps`."""
    counted: bool = False
    """Whether BALROG, without a seed, plays its games in order, starting with the second."""
    identity: Callable[[GameSpec], str] = by_seeds_and_options
    """Returns equal values for equal games of a task."""
    world: Callable[[GameSpec], str] | None = None
    """Returns equal values for games, of any task, that share so much that results are not independent.

    Statistics resample by world. None: each game is its own world.
    """
    interface: frozenset[str] = frozenset({"layout"})
    """Options that say how a game is shown, played or found, not which game it is.

    Runs that differ in any other option were played under different conditions and are not ranked together.
    """
    packages: tuple[str, ...] = ()
    """Distributions whose versions can change a game."""
    versions: Mapping[str, int] = field(default_factory=dict)
    """Versions of tasks whose meaning has changed; 1 for all others.

    Raise a task's version when the same name and seeds become another game, or are scored by other rules.
    Results of two versions are then those of two tasks, and journals of the earlier one are not replayed.
    """
    departures: str = ""
    """Known differences from BALROG under all settings, in a sentence; "": none known."""


@dataclass(frozen=True, kw_only=True)
class EnvironmentKind:
    """A kind of game. Five fields are required; what only some kinds need is in optional records."""

    name: str
    """Its name in env.tasks=[NAME/TASK]."""
    title: str
    """Its name for people."""
    tasks: Callable[[], Sequence[str]]
    """Returns every task."""
    make: Callable[[GameSpec, str | None], Any]
    """Makes the environment of a game; the second argument is the file for its recording, if any."""
    progress: Callable[[GameSpec], Progress]
    """Makes the progress of a game: declared here, never inferred from a reward."""
    options: type[msgspec.Struct] = NoOptions
    """The schema of env.options for this kind, with its defaults."""
    check: Callable[[GameSpec], None] = accept
    """Raises ConfigError for a game that cannot exist, before anything is started for it."""
    max_steps: Callable[[str], int] = lambda task: 1000
    """Number of its own steps after which a game of that task is ended, by default."""
    scoring: Scoring = Scoring()
    display: DisplayHints = DisplayHints()
    retrospect: Retrospect = Retrospect()
    hints: AgentHints = AgentHints()
    sampling: Sampling = Sampling()


_guarded: dict[str, tuple[EnvironmentKind, EnvironmentKind]] = {}
"""Kinds as registered and as guarded, by name; a name can be registered anew."""


def kind_of(name: str) -> EnvironmentKind:
    """Return the kind of that name, with its functions guarded; raise PluginError for a wrong definition."""
    found = registry.environments.get(name)
    if name in _guarded and _guarded[name][0] is found:
        return _guarded[name][1]
    _guarded[name] = found, _valid(name, found)
    return _guarded[name][1]


def _valid(name: str, found: Any) -> EnvironmentKind:
    from balrog_rag.contracts.guarded_kind import guarded  # it needs the classes of this module

    if not isinstance(found, EnvironmentKind):
        raise PluginError(
            f"environment {name!r}: is not an EnvironmentKind, so its progression is undefined; "
            "see docs/reference/game-kinds.md for its fields"
        )
    if found.name != name:
        raise PluginError(f"environment {name!r}: its kind is named {found.name!r}; give both the same name")
    return guarded(found)


def episodes_planned(qualified: str, wanted: int | None) -> int:
    """Return the number of episodes of a task, env/task: those wanted, at most as many as it has games."""
    env, _, task = qualified.partition("/")
    sampling = kind_of(env).sampling
    number, available = wanted or sampling.episodes, sampling.available
    return number if available is None or task not in sampling.listed else min(number, available(task))


def example_task() -> str:
    """Return a correctly written task, for error messages."""
    kinds = map(kind_of, registry.environments.names())
    return next(f"{kind.name}/{kind.sampling.listed[0]}" for kind in kinds if kind.sampling.listed)


def check_game(game: GameSpec) -> None:
    """Raise ConfigError for a game that cannot exist: unknown names, or files missing on this machine."""
    kind = kind_of(game.env)
    if game.task not in kind.sampling.listed and game.task not in (known := kind.tasks()):
        near = registry.nearest(game.task, known, f"`balrog-rag envs tasks {kind.name}` lists them")
        raise ConfigError(f"env.tasks: unknown task {game.task!r} of {kind.name}{near}")
    kind.check(game)
    offered(game)


def version_of(kind: EnvironmentKind, task: str) -> int | msgspec.UnsetType:
    """Return a task's version as a game's spec has it."""
    version = kind.sampling.versions.get(task, 1)
    return version if version > 1 else msgspec.UNSET


def refuse_other_version(game: GameSpec, where: str) -> None:
    """Raise JournalError for a recorded game whose task has another version here."""
    recorded, here = (
        1 if version is msgspec.UNSET else version
        for version in (game.version, version_of(kind_of(game.env), game.task))
    )
    if recorded != here:
        raise JournalError(
            f"{where}: recorded with version {recorded} of {game.env}/{game.task}, which is version {here} "
            "here, so its games differ; use the version of balrog_rag, or of the plug-in, that recorded it"
        )


def value_of(progress: Progress, kind: EnvironmentKind) -> float:
    """Return the progression, checked to be from 0 to 1."""
    value = progress.value
    if not 0.0 <= value <= 1.0:
        raise EnvironmentFailure(f"{kind.name}: progression is {value!r}; it must be from 0 to 1")
    return value
