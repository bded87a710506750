"""Creates environments and lets programs play them, in a worker or in the calling process."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import msgspec

from balrog_rag.contracts import validation
from balrog_rag.contracts.behaviour import PressableEnvironment
from balrog_rag.contracts.data import Burst, Call, GameSpec, Observation, ProgramPlayer, TaskView, Transition
from balrog_rag.contracts.errors import BalrogError, EnvironmentFailure
from balrog_rag.contracts.guarded_game import GuardedEnvironment
from balrog_rag.contracts.guarded_kind import check_start
from balrog_rag.contracts.kinds import kind_of
from balrog_rag.contracts.painting import Painting
from balrog_rag.contracts.programs import (
    Begin,
    Press,
    Program,
    ProgramFailed,
    ProgramKind,
    offered,
    program_of,
)
from balrog_rag.workers.program_driver import Driver, Stepwise

if TYPE_CHECKING:
    from numpy.typing import NDArray

HeartbeatCallback = Callable[[], None]


def ignore_heartbeat() -> None:
    """Ignore a heartbeat: no one monitors a game in the calling process."""


class HostedGame:
    """A running environment, and the programs that can play in it."""

    def __init__(
        self, spec: GameSpec, ttyrec: str | None = None, alive: HeartbeatCallback = ignore_heartbeat
    ) -> None:
        """Create the game and start it; any error becomes one line. Programs that wait call `alive`."""
        self._alive = alive
        self._name, self._spec = f"{spec.env}/{spec.task}", spec
        self._kind = kind_of(spec.env)
        self._programs = {**{own.name: own for own in self._kind.hints.programs(spec)}, **offered(spec)}
        with _one_line(self._name, "cannot be made"):
            self._environment: GuardedEnvironment = self._kind.make(spec, ttyrec)
        try:
            with _one_line(self._name, "cannot be started"):
                self._start()
        except BalrogError:
            self._environment.close()
            # Not recorded by a caller yet, so nobody else could close it.
            raise
        self._player: tuple[ProgramPlayer, Driver] | None = None
        self._pressing: Driver | None = None
        self._driving: Driver | None = None
        """The driver of the newest call."""
        self._calls = 0
        self._ended = False

    def _start(self) -> None:
        self.start: Transition = self._environment.reset()
        check_start(self._kind, self.start.observation)
        self.view: TaskView = self._environment.view.offering(
            program.action for program in self._programs.values()
        )
        self._game = pressable(self._environment, self.start)
        self._progress = self._kind.progress(self._spec)
        self._last_numbers = self.start.observation.numbers
        self._see(self.start)

    def step(self, action: str | Call, heartbeat: HeartbeatCallback = ignore_heartbeat) -> Transition:
        """Take one action: a plain one, or a call that runs a program; a text may be either."""
        self._environment.decide()
        taken = self.view.read(action) if isinstance(action, str) else action
        if isinstance(taken, Call):
            with _one_line(self._name, f"failed at action {taken.text!r}"):
                transition = self._called(taken, heartbeat)
                self._see_end(transition)  # its presses were already seen one by one
        else:
            transition = self._plain(str(action))
        self._ended = bool(transition.ended)
        return transition

    def _plain(self, action: str) -> Transition:
        with _one_line(self._name, f"failed at action {action!r}"):
            transition = self._environment.step(action)
            self._see(transition)
            self._see_end(transition)
        if isinstance(self._game, Stepwise):
            self._game.last = transition
        return transition

    def play(
        self, actions: Sequence[str | Call], heartbeat: HeartbeatCallback = ignore_heartbeat
    ) -> list[Transition]:
        """Take the actions in order, up to the end of the game."""
        transitions = []
        for action in actions:
            transitions.append(self.step(action, heartbeat))
            if self._ended:
                break
            heartbeat()
        return transitions

    def run(
        self,
        player: ProgramPlayer,
        most: int,
        heartbeat: HeartbeatCallback = ignore_heartbeat,
        recorded: Burst | None = None,
    ) -> Transition:
        """Let a program press keys; it is created at its first burst."""
        # Recorded keys are given only for programs that must not run here: untrusted ones.
        if recorded is not None and recorded.keys:
            self._pressing = self._driver(player.name, pressing(recorded.keys))
            return self._pressing.burst(most, heartbeat, recorded)
        if self._player is None or self._player[0] != player:
            with _one_line(f"program {player.name!r}", "cannot be made"):
                program = self._program(program_of(player.name), {}, player.seed, player.options)
            self._player = player, self._driver(player.name, program)
        with _one_line(f"program {player.name!r}", f"failed in {self._name}"):
            transition = self._player[1].burst(most, heartbeat, recorded)
            self._see_end(transition)
        # A finished program presses nothing more: the play loop would journal one empty step after another.
        if transition.stopped and not transition.pressed and not transition.ended:
            raise EnvironmentFailure(
                f"program {player.name!r} stopped before {self._name} ended ({transition.stopped}); "
                "let it play until the game ends"
            )
        self._ended = bool(transition.ended)
        return transition

    @property
    def numbers(self) -> Mapping[str, int]:
        """The current numbers of the game, also between the presses of a burst."""
        return self._game.numbers

    def milestones(self) -> Mapping[str, list[str]]:
        """Return what has been reached so far, also between the presses of a burst."""
        return self._progress.milestones()

    def so_far(self) -> Transition:
        """Return the step that the recorded presses of the current burst have led to until now."""
        assert self._pressing is not None
        return self._pressing.so_far()

    def painted(self) -> Painting | None:
        """Return the current screen as people see it, or None if the environment cannot draw it."""
        return self._environment.painted()

    @property
    def arrays(self) -> "Mapping[str, NDArray[Any]]":
        """The current screen as arrays, which the next action may overwrite; none if the game has none."""
        with _one_line(self._name, "has no valid arrays"):
            return self._environment.arrays

    @property
    def separable(self) -> bool:
        """Whether a copy in a forked process can play on: its files allow it, and no program has begun."""
        return self._player is None and self._environment.separable

    def separate(self, alive: HeartbeatCallback) -> None:
        """Prepare a copy in a forked process to play on by itself."""
        self._alive = alive
        self._environment.separate()

    @property
    def ended(self) -> bool:
        """Whether the game is over."""
        return self._ended

    def close(self) -> None:
        """Close the player and the game."""
        if self._player is not None:
            self._player[1].close()
        self._environment.close()

    def _see(self, transition: Transition) -> None:
        """Update the progression, so that a press of a program that raises it is noticed."""
        if not self._kind.display.blank(numbers := transition.observation.numbers):
            self._progress.see(numbers, transition.reward, "")
            self._last_numbers = numbers

    def _see_end(self, transition: Transition) -> None:
        """Show the progress its end, so that a rule that fails there fails before the end is journaled."""
        if transition.ended:
            self._progress.see(self._last_numbers, 0.0, transition.ended)
            self._progress.milestones()

    def _called(self, call: Call, heartbeat: HeartbeatCallback) -> Transition:
        kind = self._programs[call.name]
        self._calls += 1
        commands: list[str] = []
        # Every call gets its own seed, derived from the game's, so that a replay repeats its choices.
        begin = self._beginning(kind.takes(call), self._spec.seeds.core + self._calls, {})
        begin = replace(begin, commands=commands, attached=call.attached, repeated=call.repeated)
        if kind.records:
            begin = replace(begin, names=self._kind.hints.renaming(self._spec))
        self._driving = self._driver(kind.name, self._made(kind, begin))
        transition = self._driving.call(kind.interruptible, heartbeat)
        if not kind.records:
            return transition
        stopped = transition.stopped if call.repeated is None else call.stopped
        return msgspec.structs.replace(transition, commands=tuple(commands), stopped=stopped)

    def _driver(self, name: str, program: Program) -> Driver:
        place, crash_scores = self._kind.hints.signals.place, self._kind.scoring.crash_scores
        return Driver(self._game, program, self._progress, place, crash_scores, name)

    def _program(self, kind: ProgramKind, arguments: Any, seed: int, options: Any) -> Program:
        return self._made(kind, self._beginning(arguments, seed, options))

    def _beginning(self, arguments: Any, seed: int, options: Any) -> Begin:
        """Return what a program is given that starts now."""
        view = self.view
        begin = Begin(self._game.screen, arguments, view, seed, options, self._alive, self._programs)
        return replace(begin, look=self._look, heard=lambda: self._heard, event=self._game.event)

    @property
    def _heard(self) -> str:
        return self._driving.message if self._driving is not None else ""

    def _look(self) -> Observation:
        """Return what a player sees; the game may end there, as one without progress does."""
        seen = self._game.look(self._heard, "")
        if seen.ended and self._driving is not None:
            self._driving.last = seen
            raise ProgramFailed("the game is over")
        return seen.observation

    def _made(self, kind: ProgramKind, begin: Begin) -> Program:
        program = kind.make(begin)
        if not (hasattr(program, "send") and hasattr(program, "close")):
            fix = "write it as a generator function: it yields presses and returns why it stopped"
            raise validation.fault(f"program {kind.name!r}", "make()", program, fix)
        return program


def pressing(keys: Sequence[Press]) -> Program:
    """Return a program that repeats recorded key presses."""
    for key in keys:  # noqa: UP028 - callers send screens in; `yield from` a tuple cannot take them
        yield key
    return "all recorded keys were pressed"


def pressable(environment: GuardedEnvironment, start: Transition) -> PressableEnvironment | Stepwise:
    """Return the environment in the form that programs play."""
    return environment.as_pressable() if environment.pressable else Stepwise(environment, start)


class _one_line:
    """Turns any error of a game or a plug-in into one line; our own errors pass unchanged."""

    def __init__(self, who: str, what: str) -> None:
        self._who, self._what = who, what

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        if isinstance(error, Exception) and not isinstance(error, BalrogError):
            reason = " ".join([f"{type(error).__name__}:", *str(error).split()]).removesuffix(":")
            raise EnvironmentFailure(f"{self._who} {self._what}: {reason}") from error
