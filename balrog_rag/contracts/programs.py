"""Programs: what stands behind an action. A program presses keys next to the game, and sees what came of it.

A program is a generator. It yields what to press next, either a plain action of the task by its name or a key
by its code, and is sent the screen after that press. It ends by returning why it stopped, in words that the
player reads. It must be a pure function of what it was given and of the screens: the same program on the same
game presses the same keys, which is how a journal is replayed.
"""

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from balrog_rag.contracts import registry
from balrog_rag.contracts.data import Action, Call, GameSpec, Parameter, TaskView
from balrog_rag.contracts.errors import ConfigError

Press: TypeAlias = int | str
Program: TypeAlias = Generator[Press, Any, str]


class ProgramFailed(Exception):
    """Raised by a program that cannot go on; the message says why, in words for the player."""


class PlayerLost(Exception):
    """Raised by a program that plays an episode and cannot go on.

    The episode is an error, not a score, unless its kind of game scores such ends (`crash_scores`).
    """

    def __init__(self, outcome: str, why: str, blame: str = "", trace: str = "") -> None:
        """`outcome` names the end, `why` says what happened, `blame` also where, `trace` is the traceback."""
        super().__init__(why)
        self.outcome, self.why = outcome, why
        self.blame, self.trace = blame or why, trace


def nothing_to_check(options: Mapping[str, Any]) -> None:
    """There is nothing that could be wrong before a game."""


def nothing_to_settle(options: Mapping[str, Any]) -> Mapping[str, Any]:
    """The options are all there is."""
    return options


@dataclass(frozen=True)
class Begin:
    """What a program is given when it begins."""

    screen: Any
    """The screen as it is now: what the kind of game shows programs."""
    arguments: Mapping[str, int | str]
    """The call's arguments by name."""
    view: TaskView
    seed: int
    """For whatever dice the program throws."""
    options: Mapping[str, Any]
    """agent.options, for a program that plays whole episodes."""
    beat: Callable[[], None] = lambda: None
    """To be called from time to time by a program that waits long, lest it be taken for hung."""


@dataclass(frozen=True, kw_only=True)
class ProgramKind:
    """A program by name: an action that agents may take, or a player of whole episodes."""

    name: str
    make: Callable[[Begin], Program]
    says: str = ""
    """What it does, for the list of actions in a prompt."""
    parameters: tuple[Parameter, ...] = ()
    games: tuple[str, ...] = ()
    """The kinds of game it can be used in; empty: all."""
    plays: bool = False
    """Whether it plays whole episodes, as agent=NAME, and is no action."""
    foreign: bool = False
    """Whether it runs code that agent.options name: of a stranger's journal only the keys are pressed."""
    settle: Callable[[Mapping[str, Any]], Mapping[str, Any]] = nothing_to_settle
    """Completes agent.options with the content of what they name, such as a file's digest, for the spec."""
    check: Callable[[Mapping[str, Any]], None] = nothing_to_check
    """Raises a ConfigError for settled options under which it cannot play; asked before the first game."""
    interruptible: bool = True
    """Whether it stops where something happens that a player would want to know of."""

    @property
    def action(self) -> Action:
        """How agents are told of it."""
        return Action(self.name, self.says, self.parameters)

    def takes(self, call: Call) -> Mapping[str, int | str]:
        """The call's arguments by name."""
        names = (parameter.name for parameter in self.parameters)
        return dict(zip(names, call.arguments, strict=False))


def program_of(name: str) -> ProgramKind:
    """The program of that name."""
    kind: ProgramKind = registry.programs.get(name)
    return kind


def plays(name: str) -> bool:
    """Whether a program of that name plays whole episodes."""
    return name in registry.programs.names() and program_of(name).plays


def offered(game: GameSpec) -> dict[str, ProgramKind]:
    """The programs that a game offers as actions; a ConfigError for one that it cannot."""
    found = {}
    for name in game.programs:
        program = program_of(name)
        if program.plays or (program.games and game.env not in program.games):
            why = "plays whole episodes" if program.plays else f"is for {', '.join(program.games)}"
            raise ConfigError(f"env.programs: {name} {why}; it is no action of {game.env}")
        found[name] = program
    return found
