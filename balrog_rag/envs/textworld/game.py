"""BALROG's TextWorld tasks as engines."""

import warnings
from bisect import insort_right
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from balrog_rag.contracts.outcome import Outcome
from balrog_rag.envs.small_engine import Moment
from balrog_rag.envs.textworld.games import TASKS, games, games_folder, require
from balrog_rag.envs.textworld.story import Story
from balrog_rag.envs.textworld.words import as_glulx, safe_command, without_goal
from balrog_rag.util.extras import require as require_library

__all__ = ["ACTIONS", "DEFAULT_ACTION", "MAX_STEPS", "TASKS", "TextWorld", "make"]

MAX_STEPS = 80
ACTIONS: Mapping[str, str] = {
    "look": "describe the room you are in",
    "inventory": "say what you carry",
    "go north": "go north",
    "go south": "go south",
    "go east": "go east",
    "go west": "go west",
    "help": "list the commands",
}
"""A few actions that can always be typed. Any other text can be, too; the prompt lists the verbs."""
DEFAULT_ACTION = "help"

GOALS = {
    "treasure_hunter": "Your goal is to find the treasure that lies in one of the rooms, and to take it.",
    "the_cooking_game": "Your goal is to gather what the recipe in the cookbook needs, to prepare it so, "
    "and to eat the meal.",
    "coin_collector": "Your goal is to find the coin that lies in one of the rooms, and to take it.",
}

_GLULX = ("treasure_hunter", "coin_collector")


def make(task: str, seed: int, folder: Path | None = None) -> "TextWorld":
    """Create a game of one of the three tasks: the one that BALROG counts as `seed`.

    `folder` is the folder of the games if it is not in the user's cache.
    """
    require_library("textworld", "textworld", "env=textworld")
    names = games(task)
    return TextWorld(task, require(folder or games_folder(), task, names[seed % len(names)]))


class TextWorld:
    """One game, played by typing."""

    max_steps = MAX_STEPS

    def __init__(self, task: str, path: Path) -> None:
        self.goal = GOALS[task]
        self._path, self._glulx = path, task in _GLULX
        self._story = Story(path)
        self._guide: _Guide | None = None
        self._typed: list[str] = []

    def reset(self) -> Moment:
        """Begin the game."""
        self._story.reset()
        self._typed.clear()
        self._guide = None
        return Moment(self._text(False), numbers=self._numbers(""))

    def step(self, action: str) -> Moment:
        """Type a line."""
        command = safe_command(action)
        self._typed.append(command)
        self._story.step(command)
        over = self._story.won or self._story.lost
        ended = self._ended(over)
        value = self._progression() if ended else 0.0
        return Moment(self._text(over), "", float(self._story.score), ended, value, self._numbers(ended))

    def policy(self) -> list[str]:
        """The commands that win from here, according to the game itself.

        Computing them takes time at every step, so it is done beside the game, and only on request.
        """
        if self._guide is None:
            self._guide = _Guide(self._path)
        return self._guide.after(self._typed)

    def picture(self) -> None:
        """Return None: there is no picture."""
        return

    def looks(self) -> None:
        """Return None: there is no picture."""
        return

    def close(self) -> None:
        """Close the interpreter."""
        self._story.close()
        if self._guide is not None:
            self._guide.close()

    def _numbers(self, ended: str) -> dict[str, int]:
        story = self._story
        return {
            "score": story.score,
            "most": story.max_score,
            "won": int(story.won),
            "over": int(bool(ended)),
        }

    def _ended(self, over: bool) -> str:
        if over:
            return Outcome.SOLVED if self._story.won else Outcome.FAILED
        return Outcome.STEPS if len(self._typed) >= MAX_STEPS else ""

    def _progression(self) -> float:
        """BALROG counts points only at the end."""
        return max(self._story.score / self._story.max_score, float(self._story.won))

    def _text(self, over: bool) -> str:
        text = without_goal(self._story.text, self._story.goal)
        return as_glulx(text, over) if self._glulx else text


class _Guide:
    """A second copy of the game, which follows what was typed and knows what should be typed."""

    def __init__(self, path: Path) -> None:
        _sort_alike()
        self._game = _advised(path)
        self._state = self._game.reset()
        self._followed = 0

    def after(self, typed: Sequence[str]) -> list[str]:
        """The commands that win after those."""
        for command in typed[self._followed :]:
            self._state, _, _ = self._game.step(command)
        self._followed = len(typed)
        return list(self._state.policy_commands or ())

    def close(self) -> None:
        """Close the interpreter."""
        self._game.close()


def _sort_alike() -> None:
    """Make TextWorld's advice independent of Python's version.

    It sorts actions by a comparison that does not define an order, so the first one depended on the sorting
    algorithm, which differs between Python 3.12 and 3.13.
    """
    from textworld.generator import game

    game.sorted = _inserted


def _inserted(items: Iterable[Any]) -> list[Any]:
    made: list[Any] = []
    for item in items:
        insort_right(made, item)
    return made


def _advised(path: Path) -> Any:
    """The game in TextWorld's own wrappers, which track its world and give advice."""
    import textworld

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the interpreter does not know these games by name
        return textworld.start(str(path), textworld.EnvInfos(policy_commands=True))
