"""BALROG's TextWorld tasks as engines."""

import warnings
from collections.abc import Mapping
from pathlib import Path

from balrog_rag.envs.engine import Moment
from balrog_rag.envs.textworld.games import TASKS, games, games_folder, require
from balrog_rag.envs.textworld.words import as_glulx, safe_command, without_goal
from balrog_rag.episode.outcome import Outcome
from balrog_rag.util.extras import require as require_library

__all__ = ["ACTIONS", "DEFAULT_ACTION", "MAX_STEPS", "TASKS", "TextWorld", "make"]

MAX_STEPS = 80
ACTIONS: Mapping[str, str] = {}
"""Any text is an answer; the prompt tells the verbs."""
DEFAULT_ACTION = "help"

GOALS = {
    "treasure_hunter": "Your goal is to find the treasure that lies in one of the rooms, and to take it.",
    "the_cooking_game": "Your goal is to gather what the recipe in the cookbook needs, to prepare it so, "
    "and to eat the meal.",
    "coin_collector": "Your goal is to find the coin that lies in one of the rooms, and to take it.",
}

_GLULX = ("treasure_hunter", "coin_collector")


def make(task: str, seed: int, folder: Path | None = None, policy: bool = False) -> "TextWorld":
    """A game of one of the three tasks: the one that BALROG counts as `seed`.

    `folder` holds the games, if not the user's cache. With `policy` the game's own commands are known.
    """
    require_library("textworld", "textworld", "env=textworld")
    names = games(task)
    return TextWorld(task, require(folder or games_folder(), task, names[seed % len(names)]), policy)


class TextWorld:
    """One game, played by typing."""

    max_steps = MAX_STEPS

    def __init__(self, task: str, path: Path, policy: bool = False) -> None:
        import textworld

        self.goal = GOALS[task]
        self._glulx = task in _GLULX
        wanted = textworld.EnvInfos(
            objective=True, score=True, max_score=True, won=True, lost=True, policy_commands=policy
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the interpreter does not know these games by name
            self._game = textworld.start(str(path), wanted)
        self._steps = 0

    def reset(self) -> Moment:
        """Begin the game."""
        self._state = self._game.reset()
        self._objective = self._state.objective
        self._steps = 0
        return Moment(self._text(False))

    def step(self, action: str) -> Moment:
        """Type a line."""
        self._steps += 1
        self._state, _, over = self._game.step(safe_command(action))
        ended = self._ended(bool(over))
        return Moment(
            self._text(bool(over)), "", float(self._score), ended, self._progression() if ended else 0.0
        )

    def policy(self) -> list[str]:
        """The commands that win from here, by the game's own account; only where asked for."""
        return list(self._state.policy_commands or ())

    def picture(self) -> None:
        """There is none."""
        return

    def close(self) -> None:
        """Give back the interpreter."""
        self._game.close()

    @property
    def _score(self) -> int:
        return int(self._state.score or 0)

    def _ended(self, over: bool) -> str:
        if over:
            return Outcome.SOLVED if self._state.won else Outcome.FAILED
        return Outcome.STEPS if self._steps >= MAX_STEPS else ""

    def _progression(self) -> float:
        """BALROG counts at the end only."""
        return max(self._score / int(self._state.max_score), float(bool(self._state.won)))

    def _text(self, over: bool) -> str:
        text = without_goal(self._state.feedback, self._objective)
        return as_glulx(text, over) if self._glulx else text
