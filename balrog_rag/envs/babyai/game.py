"""BALROG's BabyAI tasks as engines."""

import os
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from balrog_rag.contracts.outcome import Outcome
from balrog_rag.envs.small_engine import Moment

if TYPE_CHECKING:
    from balrog_rag.envs.babyai.agent_view import View

ERRANDS = ("goto", "pickup", "open", "putnext", "pick_up_seq_go_to")
TASKS = tuple(f"BabyAI-MixedTrainLocal-v0/{errand}" for errand in ERRANDS)
"""In the order in which BALROG plays them."""

ACTIONS = {
    "turn left": "turn a quarter to the left",
    "turn right": "turn a quarter to the right",
    "go forward": "take one step forward",
    "pick up": "pick up the object one step in front of you",
    "drop": "put the object you carry down one step in front of you",
    "toggle": "use what is one step in front of you: open a door, or unlock it with the key you carry",
}
DEFAULT_ACTION = "go forward"

_PIXELS = 16
_SHORT, _LONG = 64, 128


def limit(task: str) -> int:
    """The step limit of the task's level."""
    return _SHORT if task.endswith(("/goto", "/pickup")) else _LONG


def make(task: str, seed: int) -> "BabyAI":
    """Create a game of one of the five tasks."""
    return BabyAI(TASKS.index(task), seed)


class BabyAI:
    """An agent with a view of 7 by 7 cells, and a mission."""

    def __init__(self, task: int, seed: int) -> None:
        # Minigrid draws with pygame, which prints a greeting on import.
        os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
        from balrog_rag.envs.babyai.levels import Level

        self._level = Level(ERRANDS[task])
        self._seed = seed
        self._progression = 0.0
        self.goal = ""
        self.max_steps = 0

    def reset(self) -> Moment:
        """Begin the game."""
        self._level.reset(seed=self._seed)
        self.goal = self._level.mission
        self.max_steps = self._level.max_steps
        self._progression = 0.0
        return self._moment(0.0, "")

    def step(self, action: str) -> Moment:
        """Take one action."""
        _, reward, solved, over, _ = self._level.step(_NUMBERS[action])
        if reward > 0:
            self._progression = 1.0
        return self._moment(float(reward), Outcome.SOLVED if solved else Outcome.STEPS if over else "")

    def picture(self) -> NDArray[Any]:
        """Draw the agent's view, 112 by 112 pixels."""
        return self._view.picture(_PIXELS)

    def looks(self) -> Hashable:
        """The cells in view."""
        return self._view.looks

    def close(self) -> None:
        """Do nothing: no resources are held."""

    def _moment(self, reward: float, ended: str) -> Moment:
        from balrog_rag.envs.babyai.agent_view import view_of
        from balrog_rag.envs.babyai.words import describe

        self._view: View = view_of(self._level)
        return Moment(describe(self._view.cells), "", reward, ended, self._progression)


_NUMBERS = {name: number for number, name in enumerate(ACTIONS)}
"""Minigrid's actions have the same order."""
