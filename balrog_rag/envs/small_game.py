"""Adapts the engine of a small game to an environment of the harness."""

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec

from balrog_rag.contracts.behaviour import Pressed
from balrog_rag.contracts.data import GameSpec, Observation, Part, TaskView, Transition, digest
from balrog_rag.contracts.errors import EnvironmentFailure
from balrog_rag.contracts.kinds import Numbers, Share
from balrog_rag.contracts.outcome import Outcome
from balrog_rag.contracts.programs import Press
from balrog_rag.envs.small_engine import Moment, SmallEngine

if TYPE_CHECKING:  # imported by every run before play, so NumPy is not imported here
    from numpy.typing import NDArray

MOST_DRAWINGS = 1000
"""Encoded pictures that a process keeps, of one to two kilobytes each."""
SEEDS = 2**32
"""The number of distinct seeds of these games' generators."""


class PictureOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Options of a game with words and a picture. The names are NetHack's, so that one override sets both."""

    layout: Annotated[
        Literal["hybrid", "language", "image"],
        msgspec.Meta(description="hybrid, language: words; image: words and a picture"),
    ] = "hybrid"


def shows_pictures(options: Mapping[str, Any]) -> bool:
    """Whether observations carry a picture."""
    return bool(options.get("layout") == "image")


def seed_of(spec: GameSpec) -> int:
    """The seed of a game's generator."""
    return spec.seeds.core % SEEDS


def by_seed(spec: GameSpec) -> str:
    """Games with the same seed are the same."""
    return str(seed_of(spec))


class SolvedProgress(Share):
    """A task is solved or not; only success has a reward above 0."""

    def see(self, numbers: Numbers, reward: float, ended: str) -> None:
        """Process a step."""
        if reward > 0:
            self.value = 1.0


class SmallGameScreen:
    """What programs see of a game: the moment, and what the game itself would do."""

    def __init__(self, moment: Moment, engine: SmallEngine) -> None:
        self.moment, self._engine = moment, engine

    def advice(self) -> Sequence[str]:
        """The game's own commands from here to its end; none if it has none."""
        policy = getattr(self._engine, "policy", None)
        return policy() if policy is not None else ()


class PlayedEngine:
    """A game as agents play it: its texts unchanged, its limit, and a picture if requested."""

    def __init__(
        self,
        spec: GameSpec,
        engine: SmallEngine,
        actions: Mapping[str, str],
        default: str,
        anything: bool = False,
    ) -> None:
        """With `anything` every text is an action; `actions` are then some that are always possible."""
        self._spec, self._engine, self._actions, self._default = spec, engine, dict(actions), default
        self._anything = anything
        self._pictured = shows_pictures(spec.options)
        self._steps, self._ended = 0, ""
        self._encoded: tuple[NDArray[Any] | None, bytes | None] = None, None
        self._moment = Moment("")
        self.view = self._view("")

    def reset(self) -> Transition:
        """Begin the game; only then is its goal known."""
        self._moment = self._engine.reset()
        self._steps, self._ended = 0, ""
        self.view = self._view(self._engine.goal)
        return Transition(self._observation(), keys=0)

    def step(self, action: str) -> Transition:
        """Take one action."""
        done = self.press(action)
        return Transition(self._observation(), done.reward, ended=done.ended)

    @property
    def screen(self) -> SmallGameScreen:
        """Return what programs see."""
        return SmallGameScreen(self._moment, self._engine)

    @property
    def numbers(self) -> Numbers:
        """The numbers of this moment."""
        return self._moment.numbers

    @property
    def arrays(self) -> "Mapping[str, NDArray[Any]]":
        """The picture of this moment, if the game has one."""
        pixels = self._engine.picture()
        return {} if pixels is None else {"image": pixels}

    def press(self, press: Press) -> Pressed:
        """Take one action and return only its reward."""
        if self._ended:
            raise EnvironmentFailure(
                f"{self.view.task}: the game is over ({self._ended}); it takes no action"
            )
        self._steps += 1
        self._moment = moment = self._engine.step(str(press))
        self._ended = str(moment.ended or (Outcome.STEPS if self._steps >= self._spec.max_steps else ""))
        return Pressed(moment.reward, 1, self._ended)

    def event(self) -> str:
        """Return nothing: programs are not interrupted here."""
        return ""

    def look(self, message: str, ended: str) -> Transition:
        """Return the present moment."""
        return Transition(self._observation(), ended=ended)

    def painted(self) -> bytes | None:
        """Draw the present moment, if the game has a picture."""
        return self._drawn()

    def close(self) -> None:
        """Release all resources."""
        self._engine.close()

    def _view(self, goal: str) -> TaskView:
        return TaskView(
            env=self._spec.env,
            task=self._spec.task,
            goal=goal,
            actions=self._actions,
            accepted=frozenset(self._actions),
            default_action=self._default,
            anything=self._anything,
        )

    def _observation(self) -> Observation:
        moment = self._moment
        parts = [Part("observation", moment.long, heading=False)]
        if moment.short:
            parts.append(Part("status", moment.short, "now", heading=False))
        pictures = self._pictures()
        seen = digest("\n".join((moment.long, moment.short, *map(digest, pictures))))
        return Observation(tuple(parts), moment.numbers, seen, pictures=pictures)

    def _pictures(self) -> tuple[bytes, ...]:
        drawn = self._drawn() if self._pictured else None
        return () if drawn is None else (drawn,)

    def _drawn(self) -> bytes | None:
        looks = self._engine.looks()
        if looks is None:
            return self._encoded_picture()
        # Drawing and encoding is slow, and players come back to moments that look the same.
        key = (self._spec.env, looks)
        drawn = _drawings.get(key)
        if drawn is None:
            if len(_drawings) >= MOST_DRAWINGS:
                _drawings.pop(next(iter(_drawings)), None)  # the threads of a server share it
            drawn = _drawings[key] = self._encoded_picture()
        return drawn

    def _encoded_picture(self) -> bytes | None:
        from balrog_rag.util.png import png

        pixels = self._engine.picture()
        if pixels is not self._encoded[0]:  # the same moment may be drawn for the player and for people
            self._encoded = pixels, None if pixels is None else png(pixels)
        return self._encoded[1]


_drawings: dict[tuple[str, Hashable], bytes | None] = {}
"""Encoded pictures of this process, by kind of game and look."""
