"""A plug-in's environment and its progress, with every return value validated."""

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from balrog_rag.contracts import validation
from balrog_rag.contracts.behaviour import Pressed
from balrog_rag.contracts.data import TaskView, Transition
from balrog_rag.contracts.errors import BalrogError
from balrog_rag.contracts.measures import Numbers, Progress
from balrog_rag.contracts.painting import ColouredText, Painting, painted
from balrog_rag.contracts.programs import Press
from balrog_rag.contracts.raw_arrays import arrays_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

PRESSES = ("screen", "press", "look", "numbers", "event")
"""What an environment has if programs can press keys in it without an observation per press."""


class GuardedEnvironment:
    """An environment as its kind made it, behind validation; what it raises is the caller's business."""

    def __init__(self, inner: Any, who: str) -> None:
        """`who` names the plug-in in messages."""
        for name in ("reset", "step", "close"):
            if not callable(getattr(inner, name, None)):
                raise validation.fault(who, "make()", inner, f"return an object with {name}()")
        self.inner, self._who = inner, who

    @cached_property
    def view(self) -> TaskView:
        """The task."""
        return validation.task_view(self.inner.view, self._who, "view")

    def reset(self) -> Transition:
        """Start the game."""
        return validation.transition(self.inner.reset(), self._who, "reset()")

    def step(self, action: str) -> Transition:
        """Take one plain action."""
        return validation.transition(self.inner.step(action), self._who, f"step({action!r})")

    def close(self) -> None:
        """Release all resources."""
        self.inner.close()

    def decide(self) -> None:
        """Announce a decision of an agent, for environments that count them."""
        decide = getattr(self.inner, "decide", None)
        if decide is not None:
            decide()

    def event(self) -> str:
        """Return what happened at the last step; "" for an environment that does not say."""
        event = getattr(self.inner, "event", None)
        return "" if event is None else validation.text(event(), self._who, "event()")

    def painted(self) -> Painting | None:
        """Return the current picture; None if it paints nothing."""
        found = painted(self.inner)
        if found is None or isinstance(found, bytes | ColouredText):
            return found
        raise validation.fault(self._who, "painted()", found, "return a ColouredText, PNG bytes or None")

    @property
    def arrays(self) -> "Mapping[str, NDArray[Any]]":
        """The current arrays; none if the environment has none."""
        return arrays_of(self.inner, self._who)

    @property
    def separable(self) -> bool:
        """Whether a copy of it in a forked process can play on by itself."""
        return hasattr(self.inner, "separate")

    def separate(self) -> None:
        """Let a copy in a forked process take files of its own."""
        self.inner.separate()

    @property
    def pressable(self) -> bool:
        """Whether programs can press keys in it; ask once it has been started."""
        return all(hasattr(self.inner, name) for name in PRESSES)

    def as_pressable(self) -> "GuardedPresses":
        """Return the same environment with what programs need."""
        return GuardedPresses(self.inner, self._who)


class GuardedPresses(GuardedEnvironment):
    """The same of an environment that programs can press keys in."""

    @property
    def screen(self) -> Any:
        """The raw current screen: only the kind's own programs know its form."""
        return self.inner.screen

    @property
    def numbers(self) -> Mapping[str, int]:
        """The current numbers."""
        return validation.numbers(self.inner.numbers, self._who, "numbers")

    def press(self, press: Press) -> Pressed:
        """Press a plain action or a key."""
        done = self.inner.press(press)
        # Exact types and no end, as at nearly every press: nothing to convert, and bots press thousands.
        exact = type(done) is Pressed and tuple(map(type, done)) == _PRESSED
        if exact and not done.ended and done.reward - done.reward == 0.0:  # neither infinite nor NaN
            return cast(Pressed, done)
        return self._converted(done, f"press({press!r})")

    def _converted(self, done: Any, what: str) -> Pressed:
        if not isinstance(done, Pressed):
            raise validation.fault(
                self._who, what, done, "return a Pressed of balrog_rag.contracts.behaviour"
            )
        return Pressed(
            validation.number(done.reward, self._who, f"{what}.reward"),
            validation.integer(done.keys, self._who, f"{what}.keys"),
            validation.ended(done.ended, self._who, f"{what}.ended"),
            validation.text(done.message, self._who, f"{what}.message"),
        )

    def look(self, message: str, ended: str) -> Transition:
        """Return the current observation, or the last one of a finished game."""
        return validation.transition(
            self.inner.look(message, ended), self._who, "look()", player_lost=bool(ended)
        )


_PRESSED = (float, int, str, str)


class GuardedProgress:
    """A progress whose values are read and checked once after each moment."""

    __slots__ = ("_checked", "_inner", "_see", "_who", "reached", "value")

    def __init__(self, inner: Any, who: str) -> None:
        """`who` names the plug-in in messages."""
        for name in Progress.__annotations__ | {"see": None, "milestones": None}:
            if not hasattr(inner, name):
                raise validation.fault(
                    who, "progress()", inner, f"return an object with {name}, as Share has"
                )
        self._inner, self._see, self._who = inner, inner.see, who
        self._checked = 0
        self._read()

    def see(self, numbers: Numbers, reward: float, ended: str) -> None:
        """Process a moment."""
        try:
            self._see(numbers, reward, ended)
        except BalrogError:
            raise
        except Exception as error:  # the code is a plug-in's
            fix = f"the numbers are {', '.join(sorted(numbers)) or 'none'}"
            raise validation.raised(self._who, "progress.see()", error, fix) from error
        self._read()

    def _read(self) -> None:
        value, reached = self._inner.value, self._inner.reached
        exact = type(value) is float and 0.0 <= value <= 1.0
        self.value: float = value if exact else validation.share(value, self._who, "progress.value")
        self.reached: str = validation.text(reached, self._who, "progress.reached")

    def milestones(self) -> Mapping[str, list[str]]:
        """Return what was reached in order."""
        try:
            found: Mapping[str, list[str]] = self._inner.milestones()
            # They only grow; a program's every press asks for them, but few add one.
            if (count := sum(map(len, found.values()))) != self._checked:
                for name, reached in found.items():
                    validation.text(name, self._who, "a name in progress.milestones()")
                    validation.texts(reached, self._who, f"progress.milestones()[{name!r}]")
                self._checked = count
            return found
        except BalrogError:
            raise
        except Exception as error:  # the code is a plug-in's
            raise validation.raised(self._who, "progress.milestones()", error) from error
