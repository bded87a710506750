"""One game of the NetHack family: takes actions, returns observations, enforces limits."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

from balrog_rag.contracts.behaviour import Pressed
from balrog_rag.contracts.data import GameSpec, Observation, Part, TaskView, Transition, digest
from balrog_rag.contracts.errors import EnvironmentFailure
from balrog_rag.contracts.outcome import Outcome
from balrog_rag.contracts.painting import ColouredText
from balrog_rag.contracts.registry import advisers
from balrog_rag.envs.nethack.actions import MORE, MORE_SIGN, ActionSet
from balrog_rag.envs.nethack.alarm import Alarm
from balrog_rag.envs.nethack.colours import coloured
from balrog_rag.envs.nethack.observe import Arrays, Observer, is_live, numbers_of
from balrog_rag.envs.nethack.options import SKILLED, nethack_options
from balrog_rag.envs.nethack.tiles import painter
from balrog_rag.envs.nethack.world import describe, level_memory
from balrog_rag.envs.nethack.world.shared_player import GameMemory
from balrog_rag.envs.nethack.world.tracker import Tracker

_TURN = 20
RAW = (
    *("glyphs", "chars", "colors", "specials", "blstats", "message", "tty_chars", "tty_colors", "tty_cursor"),
    *("inv_glyphs", "inv_strs", "inv_letters", "inv_oclasses", "misc"),
)
"""The arrays that NLE shows to players; those that say how NetHack waits for a key are left out."""


class KeyPress(NamedTuple):
    """The result of one key."""

    reward: float
    ended: str = ""
    """How the game ended; empty if it has not."""
    passed: str = ""
    """Messages shown and dismissed within this key press."""


class Engine(Protocol):
    """A NetHack process image and the task around it, a key at a time."""

    arrays: Arrays

    def start(self) -> None:
        """Begin the game."""
        ...

    def press(self, key: int) -> KeyPress:
        """Press one key."""
        ...

    def can_press(self, key: int) -> bool:
        """Whether the key is one of the task's, or answers the question that the game asks now."""
        ...

    def facts(self, outcome: str, live: NDArray[Any]) -> dict[str, Any]:
        """Return the facts of the end; a game still running is quit for that."""
        ...

    def separate(self) -> None:
        """Take files of its own, in a forked process."""
        ...

    def close(self, live: NDArray[Any]) -> None:
        """Release memory and files; a recording is finished with these bottom lines."""
        ...


class NLEGame:
    """An environment of the NetHack family."""

    def __init__(self, spec: GameSpec, view: TaskView, actions: ActionSet, engine: Engine) -> None:
        """`actions` maps each action to its keys."""
        self.view = view
        self._spec, self._keys, self._engine = spec, actions.keys, engine
        self._options = nethack_options(spec)
        draw = painter() if self._options.layout == "image" else None
        skills = self._options.actions in SKILLED
        self._observer = Observer(
            engine.arrays, self._options.layout, draw, skills, self._options.actions == "plan"
        )
        self._pressed = 0
        self._standstill = 0
        self._turn: int | None = None
        self._live: NDArray[Any] = np.zeros_like(engine.arrays["blstats"])
        self._ended = ""
        self._alarm = Alarm()
        self._memory = GameMemory(engine.arrays)
        self._tracker: Tracker | None = None
        self._idle, self._idle_turn = 0, -1
        self._shown = [name for name in RAW if name in engine.arrays]
        self._last_arrays: dict[str, NDArray[Any]] | None = None

    @property
    def screen(self) -> Mapping[str, NDArray[Any]]:
        """NLE's own arrays of this moment, for programs; every press overwrites them."""
        return self._memory.screen if self._tracker is None else self._tracker.screen

    @property
    def arrays(self) -> Mapping[str, NDArray[Any]]:
        """NLE's own arrays of this moment, for players that do not read text."""
        if self._last_arrays is not None:
            return self._last_arrays
        return {name: self._engine.arrays[name] for name in self._shown}

    @property
    def numbers(self) -> Mapping[str, int]:
        """The bottom lines' numbers; after the end, their last values."""
        return numbers_of(self._live)

    def reset(self) -> Transition:
        """Start the game that the spec describes."""
        self._engine.start()
        self.prepare()
        self._live[:] = self._engine.arrays["blstats"]
        if self._options.actions in SKILLED:
            self._tracker = Tracker(self._engine.arrays, self._options.stop_for_things, self._memory)
            self._idle_turn = self._tracker.turn
        if self._options.actions == "plan":
            self._memory.known()  # so that what is remembered begins with the first screen
        return Transition(self._described(self._observer.observe(self._observer.message())), keys=0)

    def prepare(self) -> None:
        """Change the game before its first screen is shown; other kinds need not begin where NetHack does."""

    def step(self, action: str) -> Transition:
        """Take one plain action."""
        instead = ""
        keys = self._keys.get(action)
        if keys and not self._engine.can_press(keys[0]):
            action = instead = self.view.default_action
        done = self.press(action)
        seen = self.look(done.message, done.ended)
        return msgspec.structs.replace(seen, reward=done.reward, keys=done.keys, instead=instead)

    def separate(self) -> None:
        """Let a copy of this game in a forked process play on by itself."""
        self._engine.separate()

    def close(self) -> None:
        """Release all resources."""
        self._engine.close(self._live)

    def press(self, press: int | str) -> Pressed:
        """Press a plain action and dismiss the pages that follow; a key code is pressed alone."""
        if self._ended:
            raise EnvironmentFailure(
                f"{self.view.task}: the game is over ({self._ended}); it takes no action"
            )
        keys = (press,) if isinstance(press, int) else self._keys.get(press)
        if keys is None:
            raise EnvironmentFailure(f"{self.view.task}: {press!r} is not an accepted action")
        before, reward, message, done = self._pressed, 0.0, "", KeyPress(0.0)
        if (
            not keys
        ):  # an action without keys counts as one press, or a player that takes no other would never end
            self._pressed, self._standstill = self._pressed + 1, self._standstill + 1
            done = KeyPress(0.0, self._limit())
        for key in keys:
            done = self._press(key)
            reward, message = reward + done.reward, message + done.passed
            if done.ended:
                break
        message += self._observer.message()
        skip = self._options.skip_more and not isinstance(press, int)
        while skip and MORE_SIGN in message and not done.ended:
            done = self._press(MORE)
            reward += done.reward
            message = message.replace(MORE_SIGN, "\n") + done.passed + self._observer.message()
        return Pressed(reward, self._pressed - before, str(done.ended), message)

    def look(self, message: str, ended: str) -> Transition:
        """Return the present moment as an observation with this message; after the end, the last one."""
        ended = ended or self._idled()
        if self._tracker is not None:  # skills turn their pages themselves, and report all of them
            message = message.replace(MORE_SIGN, "")
        if not ended:
            return Transition(self._described(self._observer.observe(message)))
        self._ended = ended
        observation = self._observer.observe_end(message, self._live)
        # To learn the facts, a game that a limit cut off is quit, which overwrites its last screen.
        self._last_arrays = {name: array.copy() for name, array in self.arrays.items()}
        facts = self._engine.facts(ended, self._live.copy())
        return Transition(observation, ended=ended, end=facts)

    def painted(self) -> ColouredText:
        """Return the terminal in its colours."""
        return coloured(self._engine.arrays)

    def event(self) -> str:
        """The event of interest to a player: lost hit points, or a new kind of monster in view."""
        if self._tracker is not None:
            return self._tracker.interrupt()
        return self._alarm.event(self._engine.arrays)

    def _described(self, seen: Observation) -> Observation:
        """Add the descriptions that skills need, if skills are offered."""
        if self._tracker is None:
            return seen
        if self._options.refresh_hidden:
            self._tracker.look_under(self._engine.press)
        plan = self._options.actions == "plan"
        parts = (*describe.parts(self._tracker, plan), *self._remembered(), *self._advised())
        made_from = "\n".join([seen.digest, *(part.text for part in parts)])
        return msgspec.structs.replace(seen, parts=(*seen.parts, *parts), digest=digest(made_from))

    def _advised(self) -> tuple[Part, ...]:
        """What a bot would do now, if that is asked for; the bots live above this module."""
        if self._options.actions != "plan" or not self._options.advice:
            return ()
        advise: Callable[[Any], str] = advisers.get("plan")
        return (Part("advice", advise(self.screen), "now"),)

    def _remembered(self) -> tuple[Part, ...]:
        """What is remembered of the levels, if skills are those of a plan."""
        shown = self._options.level_memory or "text"
        if self._options.actions != "plan" or shown == "none":
            return ()
        world = self._memory.known().world
        text = level_memory.remembered(world)
        if shown == "map":
            text = f"{text}\n{level_memory.level_map(world, world.level)}"
        return (Part("memory", text, "now"),)

    def _idled(self) -> str:
        """The outcome if too many consecutive skills took no game time."""
        turn = int(self._live[_TURN])
        self._idle = self._idle + 1 if turn == self._idle_turn else 0
        self._idle_turn = turn
        most = self._options.no_progress_calls if self._tracker is not None else 0
        return Outcome.NO_PROGRESS if most and self._idle >= most else ""

    def _press(self, key: int) -> KeyPress:
        """Press a key and apply the limits."""
        press = self._engine.press(key)
        self._pressed += 1
        blstats = self._engine.arrays["blstats"]
        if is_live(self._engine.arrays):
            self._live[:] = blstats
        self._memory.see()
        if self._tracker is not None:
            self._tracker.see()
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
