"""Programs, which carry out actions: they press keys in the game and see the result.

A program is a generator. It yields what to press next, either a plain action of the task by its name or a key
by its code, and receives the screen after that press. It returns why it stopped, in words that the player
reads. It must be a pure function of its inputs and the screens: the same program in the same game presses the
same keys, which is what lets a journal be replayed.
"""

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from balrog_rag.contracts import registry
from balrog_rag.contracts.data import Action, Call, GameSpec, Observation, Parameter, TaskView
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.contracts.renaming import Renaming

Press: TypeAlias = int | str
Program: TypeAlias = Generator[Press, Any, str]


class ProgramFailed(Exception):
    """Raised by a program that cannot continue; the message tells the player why."""


class PlayerLost(Exception):
    """Raised by a program that plays an episode and cannot continue.

    The episode is an error, not a score, unless its kind of game scores such ends (`crash_scores`).
    """

    def __init__(self, outcome: str, why: str, blame: str = "", trace: str = "") -> None:
        """`outcome` names the end, `why` the reason, `blame` also the place; `trace` is the traceback."""
        super().__init__(why)
        self.outcome, self.why = outcome, why
        self.blame, self.trace = blame or why, trace


def nothing_to_check(options: Mapping[str, Any]) -> None:
    """Accept all options."""


def nothing_to_settle(options: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the options unchanged."""
    return options


@dataclass(frozen=True)
class Begin:
    """What a program is given when it starts."""

    screen: Any
    """The current screen, in the form that the kind of game shows programs."""
    arguments: Mapping[str, int | str]
    """The call's arguments by name."""
    view: TaskView
    seed: int
    """Seed for the program's RNG."""
    options: Mapping[str, Any]
    """agent.options, for a program that plays whole episodes."""
    heartbeat: Callable[[], None] = lambda: None
    """Heartbeat: call it now and then while waiting long, or the watchdog will treat the program as hung."""
    programs: "Mapping[str, ProgramKind]" = field(default_factory=dict)
    """The programs that the game offers, for one that calls others."""
    look: Callable[[], Observation] = lambda: Observation(())
    """Returns what a player sees now."""
    heard: Callable[[], str] = lambda: ""
    """Returns the message of the last press."""
    event: Callable[[], str] = lambda: ""
    """Returns what happened at the last press that a player would want to know; "" if nothing did."""
    commands: list[str] = field(default_factory=list)
    """Filled by a program with `records`: what it does."""
    attached: str = ""
    """What the agent sent along with the call."""
    repeated: tuple[str, ...] | None = None
    """What a program with `records` is to do again, as it was recorded."""
    names: Renaming | None = None
    """The names that the player knows, in a renamed world; set for a program with `records`."""


@dataclass(frozen=True)
class Switch:
    """A tactic of a program that `agent.options.NAME=false` switches off; it is on by default."""

    name: str
    phase: str
    """The part of an episode in which it acts, in the program's words."""
    says: str = ""


@dataclass(frozen=True, kw_only=True)
class ProgramKind:
    """A named program: an action that agents may take, or a player of whole episodes."""

    name: str
    make: Callable[[Begin], Program]
    says: str = ""
    """Description for the list of actions in a prompt."""
    parameters: tuple[Parameter, ...] = ()
    games: tuple[str, ...] = ()
    """The kinds of game it works in; empty: all."""
    plays: bool = False
    """Whether it plays whole episodes, as agent=NAME, instead of being an action."""
    foreign: bool = False
    """Whether it runs code named in agent.options; for an untrusted journal only its keys are sent."""
    settle: Callable[[Mapping[str, Any]], Mapping[str, Any]] = nothing_to_settle
    """Adds the content of what agent.options name, such as a file's digest, for the spec."""
    check: Callable[[Mapping[str, Any]], None] = nothing_to_check
    """Raises ConfigError for settled options with which it cannot play; called before the first game."""
    unlisted_keys: bool = True
    """Whether it may press keys that no accepted answer presses, which departs from `env.actions=balrog`."""
    switches: tuple[Switch, ...] = ()
    """Tactics that can be switched off by agent.options, for `balrog-rag ablate`."""
    records: bool = False
    """Whether it records what it does, so that a replay repeats that instead of what decided it."""
    interruptible: bool = True
    """Whether it stops when something happens that a player would want to know."""

    @property
    def action(self) -> Action:
        """The action as offered to agents."""
        return Action(self.name, self.says, self.parameters)

    def takes(self, call: Call) -> Mapping[str, int | str]:
        """Return the call's arguments by name."""
        names = (parameter.name for parameter in self.parameters)
        return dict(zip(names, call.arguments, strict=False))


def program_of(name: str) -> ProgramKind:
    """Return the program of that name."""
    kind: ProgramKind = registry.programs.get(name)
    return kind


def plays(name: str) -> bool:
    """Whether a program of that name plays whole episodes."""
    return registry.programs.has(name) and program_of(name).plays


def offered(game: GameSpec) -> dict[str, ProgramKind]:
    """Return the programs that a game offers as actions; raise ConfigError for an unsuitable one."""
    found = {}
    for name in game.programs:
        program = program_of(name)
        if program.plays or (program.games and game.env not in program.games):
            why = "plays whole episodes" if program.plays else f"is for {', '.join(program.games)}"
            raise ConfigError(f"env.programs: {name} {why}; leave it out for {game.env}")
        found[name] = program
    return found
