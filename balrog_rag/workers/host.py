"""Creates environments and lets programs play them, in a worker or in the calling process."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from balrog_rag.contracts.behaviour import Environment, PressableEnvironment
from balrog_rag.contracts.data import Burst, Call, GameSpec, ProgramPlayer, TaskView, Transition
from balrog_rag.contracts.errors import BalrogError, EnvironmentFailure
from balrog_rag.contracts.kinds import kind_of
from balrog_rag.contracts.painting import Painting, painted
from balrog_rag.contracts.programs import Begin, Press, Program, ProgramKind, offered, program_of
from balrog_rag.workers.program_driver import Driver, Stepwise

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
            self._environment: Environment = self._kind.make(spec, ttyrec)
        try:
            with _one_line(self._name, "cannot be started"):
                self.start: Transition = self._environment.reset()
        except BalrogError:
            self._environment.close()
            # Not recorded by a caller yet, so nobody else could close it.
            raise
        self.view: TaskView = self._environment.view.offering(
            program.action for program in self._programs.values()
        )
        self._game = pressable(self._environment, self.start)
        self._progress = self._kind.progress(spec)
        self._see(self.start)
        self._player: tuple[ProgramPlayer, Driver] | None = None
        self._calls = 0
        self._ended = False

    def step(self, action: str | Call, heartbeat: HeartbeatCallback = ignore_heartbeat) -> Transition:
        """Take one action: a plain one, or a call that runs a program; a text may be either."""
        taken = self.view.read(action) if isinstance(action, str) else action
        if isinstance(taken, Call):
            with _one_line(self._name, f"failed at action {taken.text!r}"):
                transition = self._called(taken, heartbeat)  # its presses were already seen one by one
        else:
            transition = self._plain(str(action))
        self._ended = bool(transition.ended)
        return transition

    def _plain(self, action: str) -> Transition:
        with _one_line(self._name, f"failed at action {action!r}"):
            transition = self._environment.step(action)
            self._see(transition)
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
            return self._driver(pressing(recorded.keys)).burst(most, heartbeat, recorded)
        if self._player is None or self._player[0] != player:
            with _one_line(f"program {player.name!r}", "cannot be made"):
                program = self._program(program_of(player.name), {}, player.seed, player.options)
            self._player = player, self._driver(program)
        with _one_line(f"program {player.name!r}", f"failed in {self._name}"):
            transition = self._player[1].burst(most, heartbeat, recorded)
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

    def painted(self) -> Painting | None:
        """Return the current screen as people see it, or None if the environment cannot draw it."""
        return painted(self._environment)

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

    def _called(self, call: Call, heartbeat: HeartbeatCallback) -> Transition:
        kind = self._programs[call.name]
        self._calls += 1
        # Every call gets its own seed, derived from the game's, so that a replay repeats its choices.
        program = self._program(kind, kind.takes(call), self._spec.seeds.core + self._calls, {})
        return self._driver(program).call(kind.interruptible, heartbeat)

    def _driver(self, program: Program) -> Driver:
        kind = self._kind
        return Driver(
            self._game, program, self._progress, kind.hints.signals.place, kind.scoring.crash_scores
        )

    def _program(self, kind: ProgramKind, arguments: Any, seed: int, options: Any) -> Program:
        return kind.make(
            Begin(self._game.screen, arguments, self._environment.view, seed, options, self._alive)
        )


def pressing(keys: Sequence[Press]) -> Program:
    """Return a program that repeats recorded key presses."""
    for key in keys:  # noqa: UP028 - callers send screens in; `yield from` a tuple cannot take them
        yield key
    return "all recorded keys were pressed"


def pressable(environment: Environment, start: Transition) -> PressableEnvironment | Stepwise:
    """Return the environment in the form that programs play."""
    if all(hasattr(environment, name) for name in ("screen", "press", "look", "numbers", "event")):
        return cast(PressableEnvironment, environment)
    return Stepwise(environment, start)


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
