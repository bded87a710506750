"""Run programs beside a game: press their keys, watch the effect, stop where something happens."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from balrog_rag.contracts import validation
from balrog_rag.contracts.behaviour import Environment, PressableEnvironment, Pressed
from balrog_rag.contracts.blame import blame_of
from balrog_rag.contracts.data import Burst, Observation, Rise, Transition
from balrog_rag.contracts.errors import BalrogError, PlayerFailed, PluginError
from balrog_rag.contracts.kinds import Numbers, Progress
from balrog_rag.contracts.programs import PlayerLost, Press, Program, ProgramFailed
from balrog_rag.contracts.surrogates import cleaned

MOST_PRESSES = 10_000
"""Presses of one call before it is stopped, so that the agent can decide again."""


class Stepwise:
    """Lets programs play an environment that only takes steps; its screen is its observation."""

    def __init__(self, environment: Environment, start: Transition) -> None:
        """`start` is the first transition of the game."""
        self.environment, self.last = environment, start

    @property
    def screen(self) -> Observation:
        """The current observation."""
        return self.last.observation

    @property
    def numbers(self) -> Mapping[str, int]:
        """The numbers of the current observation."""
        return self.last.observation.numbers

    def press(self, press: Press) -> Pressed:
        """Take a step."""
        self.last = self.environment.step(str(press))
        return Pressed(self.last.reward, self.last.keys, self.last.ended)

    def event(self) -> str:
        """Return what the environment says has happened; "" if it does not say."""
        event: Callable[[], str] | None = getattr(self.environment, "event", None)
        return event() if event is not None else ""

    def look(self, message: str, ended: str) -> Transition:
        """Return the last step."""
        return self.last


class _Score:
    """Sums up the presses of one step and notes at which of them the progression rose."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self.standing = standing(progress)
        """How far the game has come; computed once a press, since bots press thousands of keys a second."""
        self._rises: list[Rise] = []
        self._presses = self._keys = 0
        self._reward = 0.0

    def add(self, done: Pressed, numbers: Numbers) -> None:
        """Add a press, with the numbers after it."""
        self._presses += 1
        self._keys += done.keys
        self._reward += done.reward
        # Compared by value and milestones: a milestone may leave the value unchanged.
        before = self.standing
        self._progress.see(numbers, done.reward, "")
        self.standing = standing(self._progress)
        if self.standing != before:
            self._rises.append(Rise(done.reward, dict(numbers)))

    def of(self, seen: Transition, stopped: str, pressed: Sequence[Press] = ()) -> Transition:
        """Return the step that these presses led to; `rises` is filled only if there are several."""
        several = self._presses > 1
        return replace(
            seen,
            reward=self._reward,
            keys=self._keys,
            stopped=stopped,
            pressed=tuple(pressed),
            rises=tuple(self._rises) if several else (),
            by_press=several,
        )


def standing(progress: Progress) -> tuple[float, int]:
    """Return a value that changes whenever a game has progressed further."""
    return progress.value, sum(map(len, progress.milestones().values()))


class Driver:
    """Runs a program; each call continues where the last one stopped."""

    def __init__(
        self,
        game: "PressableEnvironment | Stepwise",
        program: Program,
        progress: Progress,
        place: Callable[[Numbers], Hashable],
        crash_scores: bool = False,
        name: str = "",
    ) -> None:
        """`progress` and `place` come from the game; a burst ends when one of them changes.

        `name` is the program's, for messages.

        With `crash_scores` a program that fails ends the game; otherwise its failure is raised.
        """
        self._crash_scores, self._name = crash_scores, name
        self._game, self._program, self._progress, self._place = game, program, progress, place
        self.message = ""
        """The game's message after the last press."""
        self.last: Transition | None = None
        """The end of the game, if a program saw it when it looked."""
        self._score = _Score(progress)
        self._begun = False
        self._over = ""
        self._failed: PlayerFailed | None = None

    def burst(self, most: int, heartbeat: Callable[[], None], recorded: Burst | None = None) -> Transition:
        """Let a player press up to `most` keys; progress or a new place ends the burst, so it is journaled.

        A recorded burst is repeated in its recorded length, including how its player was lost.
        """
        game, pressed = self._game, list[Press]()
        score, message, ended, stopped = _Score(self._progress), "", "", ""
        self._score = score
        height = score.standing, self._place(game.numbers)
        most = recorded.presses if recorded else most
        while len(pressed) < most and not ended:
            try:
                press = self._decided()
            except StopIteration as stop:
                # `_over` is kept: a finished generator raises StopIteration again, but without its value.
                stopped = self._over = self._over or str(stop.value or "it has nothing more to do")
                break
            except PlayerLost as lost:
                ended, stopped = lost.outcome, lost.why
                break
            except PlayerFailed:
                if not pressed:
                    raise
                # Return the presses so far, so that they are journaled; the next burst raises the failure.
                break
            done = game.press(press)
            pressed.append(press)
            message, ended, numbers = done.message, done.ended, game.numbers
            self.message = message
            score.add(done, numbers)
            heartbeat()
            if recorded is None and (score.standing, self._place(numbers)) != height:
                break
        # The replayed program may not fail again (a time-out, say), but the recorded episode ended here.
        if recorded and recorded.ended and not ended:
            ended, stopped = recorded.ended, recorded.stopped
        seen = game.look(message, ended)
        return score.of(seen, stopped, pressed)

    def so_far(self) -> Transition:
        """Return the step that the presses of the current burst have led to until now."""
        return self._score.of(self._game.look(self.message, ""), "")

    def close(self) -> None:
        """Close the program."""
        self._program.close()

    def call(self, interruptible: bool, heartbeat: Callable[[], None]) -> Transition:
        """Run a called program until it ends, fails, or is interrupted."""
        game, said = self._game, list[str]()
        score, ended, stopped = _Score(self._progress), "", ""
        for _ in range(MOST_PRESSES):
            try:
                done = game.press(self._next())
            except StopIteration as stop:
                stopped = str(cleaned(stop.value) or "done")
                break
            except ProgramFailed as failure:
                stopped = f"failed: {cleaned(str(failure))}"
                break
            heartbeat()
            ended, self.message = done.ended, done.message
            score.add(done, game.numbers)
            # The same message after each press would crowd out the others.
            if done.message and done.message not in said[-1:]:
                said.append(done.message)
            if ended or (stopped := game.event() if interruptible else ""):
                stopped = stopped and f"interrupted: {stopped}"
                break
        else:
            stopped = f"it had pressed {MOST_PRESSES:,} times"
        self._program.close()
        seen = self.last or game.look("\n".join(said[-MOST_MESSAGES:]), ended)
        return score.of(seen, stopped)

    def _decided(self) -> Press:
        """Return the next press of a program that plays; a failure is raised again at every later call."""
        if self._failed is not None:
            raise self._failed
        try:
            return self._next()
        except PluginError as error:  # it yielded or returned what is neither a press nor a reason
            self._failed = PlayerFailed(str(error), str(error), error.trace)
        except (StopIteration, BalrogError):
            raise
        except PlayerLost as lost:
            if self._crash_scores:
                raise
            self._failed = PlayerFailed(lost.blame, lost.blame, lost.trace)
        except Exception as error:  # noqa: BLE001 - a program plug-in can raise anything
            line, trace = blame_of(error)
            self._failed = PlayerFailed(line, line, trace)
        raise self._failed

    def _next(self) -> Press:
        try:
            # A fresh generator takes no value: it must be started by next().
            press = self._program.send(self._game.screen) if self._begun else next(self._program)
        except StopIteration as stop:
            raise StopIteration(self._reason(stop.value)) from None
        self._begun = True
        return press if type(press) is int or type(press) is str else self._converted(press)

    def _converted(self, press: Any) -> Press:
        """Return a press that is of another type, such as NumPy's integers or an enumeration."""
        who, fix = f"program {self._name!r}", "yield an action's name or a key's code"
        if isinstance(press, str):
            return validation.text(press, who, "yield")
        if isinstance(press, bool) or not hasattr(type(press), "__index__"):
            raise validation.fault(who, "yield", press, fix)
        return validation.integer(press, who, "yield")

    def _reason(self, returned: Any) -> str:
        """Return why the program says that it stopped; "" if it returned nothing."""
        if returned is None:
            return ""
        who, what = f"program {self._name!r}", "return"
        if not isinstance(returned, str):
            raise validation.fault(who, what, returned, "return a text that says why it stopped")
        return str(cleaned(validation.text(returned, who, what)))


MOST_MESSAGES = 12
"""Messages of one call that its player reads; the oldest are dropped."""
