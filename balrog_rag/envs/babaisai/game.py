"""BALROG's Baba Is AI tasks as engines."""

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from balrog_rag.contracts.outcome import Outcome
from balrog_rag.envs.babaisai.levels import draw
from balrog_rag.envs.babaisai.simulation import DIRECTIONS
from balrog_rag.envs.babaisai.tasks import TASKS as BY_NAME
from balrog_rag.envs.babaisai.words import describe, rules
from balrog_rag.envs.small_engine import Moment

if TYPE_CHECKING:
    from balrog_rag.envs.babaisai.simulation import Board

TASKS = tuple(BY_NAME)
GOAL = "Your goal is to win: move something that the rules call YOU onto something that they call WIN."
ACTIONS = {
    "idle": "wait one step",
    "up": "take one step up",
    "right": "take one step to the right",
    "down": "take one step down",
    "left": "take one step to the left",
}
DEFAULT_ACTION = "idle"
MAX_STEPS = 100

_LOST = "[...] IS YOU rule was broken, environment reset"


def make(task: str, seed: int) -> "Baba":
    """Create a game of one of the forty tasks."""
    return Baba(task, seed)


class Baba:
    """A level; if the rules leave the player without a YOU, a new level is drawn and the game continues."""

    goal = GOAL
    max_steps = MAX_STEPS

    def __init__(self, task: str, seed: int) -> None:
        self._task = BY_NAME[task]
        self._seed = seed

    def reset(self) -> Moment:
        """Begin the game."""
        self._dice = np.random.RandomState(self._seed)
        self._begin()
        return Moment(self._text())

    def step(self, action: str) -> Moment:
        """Take one action."""
        self._steps += 1
        if action in DIRECTIONS and self._board.move(action):
            return Moment(self._text(), reward=self._reward(), ended=Outcome.SOLVED, progression=1.0)
        if not self._players():
            return self._begin_again()
        return Moment(self._text(), ended=Outcome.STEPS if self._steps >= MAX_STEPS else "")

    def picture(self) -> NDArray[Any]:
        """Draw the whole board, 32 pixels per cell."""
        from balrog_rag.envs.babaisai.picture import draw_picture

        pixels: NDArray[Any] = draw_picture(self._board)
        return pixels

    def looks(self) -> Hashable:
        """The visible tiles, and where baba faces."""
        board = self._board
        return board.width, board.height, board.facing, tuple(board.tops())

    def close(self) -> None:
        """Do nothing: no resources are held."""

    def _begin(self) -> None:
        self._board: Board = draw(self._task, self._dice)
        self._steps = 0

    def _begin_again(self) -> Moment:
        """Report the rules that lost, then draw the new level, which BALROG prints as a dictionary."""
        lost = rules(self._board)
        self._begin()
        return Moment(_LOST + lost + self._text())

    def _players(self) -> list[tuple[int, int]]:
        return [cell for cell, _ in self._board.things(self._board.which("you"))]

    def _text(self) -> str:
        players = self._players()
        return describe(self._board, players[0]) if players else rules(self._board)

    def _reward(self) -> float:
        return 1 - 0.9 * self._steps / MAX_STEPS
