"""One game of the NetHack family: answers in, observations out, limits kept."""

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from balrog_rag.contracts.data import GameSpec, TaskView, Transition
from balrog_rag.contracts.errors import EnvironmentFailure
from balrog_rag.envs.nethack.actions import MORE, ActionSet
from balrog_rag.envs.nethack.observe import MORE_SIGN, Arrays, Observer, is_live
from balrog_rag.envs.nethack.options import nethack_options
from balrog_rag.envs.nethack.tiles import painter
from balrog_rag.episode.outcome import Outcome

_TURN = 20


class Press(NamedTuple):
    """What one key press did."""

    reward: float
    ended: str = ""
    """How the game ended, or nothing."""
    passed: str = ""
    """Messages that the game showed and that were pressed through within this key press."""


class Engine(Protocol):
    """A NetHack process image and the task around it, a key at a time."""

    arrays: Arrays

    def start(self) -> None:
        """Begin the game."""
        ...

    def press(self, key: int) -> Press:
        """Press one key."""
        ...

    def can_press(self, key: int) -> bool:
        """Whether the key is one of the task's, or answers the question that the game asks now."""
        ...

    def facts(self, outcome: str, live: NDArray[Any]) -> dict[str, Any]:
        """The facts of the end; a game still running is quit for it."""
        ...

    def close(self) -> None:
        """Give back memory and files."""
        ...


class NLEGame:
    """An environment of the NetHack family."""

    def __init__(self, spec: GameSpec, view: TaskView, actions: ActionSet, engine: Engine) -> None:
        """`actions` says which keys each answer presses."""
        self.view = view
        self._spec, self._keys, self._engine = spec, actions.keys, engine
        self._options = nethack_options(spec)
        draw = painter() if self._options.layout == "image" else None
        self._observer = Observer(engine.arrays, self._options.layout, draw)
        self._pressed = 0
        self._standstill = 0
        self._turn: int | None = None
        self._live: NDArray[Any] = np.zeros_like(engine.arrays["blstats"])
        self._ended = ""

    @property
    def raw(self) -> Mapping[str, NDArray[Any]]:
        """NLE's own arrays of this moment, for policies; filled anew by every step."""
        return self._engine.arrays

    def reset(self) -> Transition:
        """Start the game that the spec describes."""
        self._engine.start()
        self._live[:] = self._engine.arrays["blstats"]
        return Transition(self._observer.observe(self._observer.message()), keys=0)

    def step(self, action: str) -> Transition:
        """Take one accepted action."""
        if self._ended:
            raise EnvironmentFailure(
                f"{self.view.task}: the game is over ({self._ended}); it takes no action"
            )
        keys = self._keys.get(action)
        if keys is None:
            raise EnvironmentFailure(f"{self.view.task}: {action!r} is no accepted action")
        instead = ""
        if not self._engine.can_press(keys[0]):
            instead = self.view.default_action
            keys = self._keys[instead]
        return self._take(keys, instead)

    def close(self) -> None:
        """Give back everything the game holds."""
        self._engine.close()

    def _take(self, keys: tuple[int, ...], instead: str) -> Transition:
        before = self._pressed
        press = self._press(keys[0])
        reward, message = press.reward, press.passed
        for key in keys[1:]:
            if press.ended:
                break
            press = self._press(key)
            reward, message = reward + press.reward, message + press.passed
        message += self._observer.message()
        while self._options.skip_more and MORE_SIGN in message and not press.ended:
            press = self._press(MORE)
            reward += press.reward
            message = message.replace(MORE_SIGN, "\n") + press.passed + self._observer.message()
        pressed = self._pressed - before
        if press.ended:
            return self._end(press.ended, reward, message, pressed, instead)
        return Transition(self._observer.observe(message), reward, pressed, instead=instead)

    def _press(self, key: int) -> Press:
        """Press a key and hold the limits to it."""
        press = self._engine.press(key)
        self._pressed += 1
        blstats = self._engine.arrays["blstats"]
        if is_live(self._engine.arrays):
            self._live[:] = blstats
        if press.ended:
            return press
        turn = int(blstats[_TURN])
        self._standstill = self._standstill + 1 if turn == self._turn else 0
        self._turn = turn
        return press._replace(ended=self._limit())

    def _limit(self) -> str:
        if self._pressed >= self._spec.max_steps:
            return Outcome.STEPS
        if self._options.no_progress and self._standstill >= self._options.no_progress:
            return Outcome.NO_PROGRESS
        return ""

    def _end(self, outcome: str, reward: float, message: str, pressed: int, instead: str) -> Transition:
        self._ended = str(outcome)
        observation = self._observer.observe_end(message, self._live)
        facts = self._engine.facts(outcome, self._live.copy())
        return Transition(observation, reward, pressed, self._ended, facts, instead)
