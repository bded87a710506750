"""MiniHack's tasks as its package defines them, with BALROG's settings."""

import os
import random
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from balrog_rag.contracts.data import GameSpec, TaskView
from balrog_rag.contracts.errors import EnvironmentFailure
from balrog_rag.contracts.kinds import check_game
from balrog_rag.contracts.outcome import Outcome
from balrog_rag.envs.minihack.boxoban import read_levels, require_levels
from balrog_rag.envs.minihack.compiled_levels import compile_once
from balrog_rag.envs.minihack.package import import_minihack
from balrog_rag.envs.minihack.tasks import BALROG_TASKS
from balrog_rag.envs.nethack.actions import ESC, SPACE, minihack_actions
from balrog_rag.envs.nethack.beginning import turn_first_pages
from balrog_rag.envs.nethack.clock import pin_clock
from balrog_rag.envs.nethack.engine import KeyPress, NLEGame
from balrog_rag.envs.nethack.game import log_path, seed
from balrog_rag.envs.nethack.game_end import end_facts, outcome_of, quit_game
from balrog_rag.envs.nethack.observe import KEYS, page_text
from balrog_rag.envs.nethack.options import SKILLED, minihack_options
from balrog_rag.envs.nethack.separate_files import take_own_files
from balrog_rag.envs.nethack.shared_code import share_code
from balrog_rag.envs.nethack.ttyrec import clear, finish, log_prefix
from balrog_rag.envs.nethack.variables import hide_variables

DEFAULT_ACTION = "north"

GOALS = {
    "corridor": "Your goal is to explore the level and come to the stairs down.",
    "quest": "Your goal is to explore the level, to fight what stands in your way, and through its rooms and "
    "mazes to come to the stairs down in the end.",
    "boxoban": "This is Boxoban, a game of pushing boxes in the manner of Sokoban. Your goal is to have "
    "every boulder on a fountain. You push a boulder by walking against it, if nothing is behind it.",
}
"""The goal of a task, by a word in its name."""

OTHER_GOAL = "Your goal is to come as far as you can in the game."

_SETTINGS = {"penalty_step": -0.01, "penalty_time": 0.0, "penalty_mode": "constant"}
_NO_LIMIT = 1 << 60
_IN_QUESTION, _IN_TEXT, _AT_PAGE = 1, 2, 3
_GAME_OVER = 0
_SUCCESSFUL = "TASK_SUCCESSFUL"


def make(spec: GameSpec, ttyrec: str | None = None) -> NLEGame:
    """Create the environment `minihack`."""
    check_game(spec)
    engine = MiniHackEngine(spec, ttyrec)
    actions = minihack_actions(minihack_options(spec).actions, engine.task_keys)
    default = DEFAULT_ACTION if DEFAULT_ACTION in actions.keys else next(iter(actions.keys))
    view = TaskView(
        spec.env, spec.task, goal(spec.task), actions.advertised, frozenset(actions.keys), default
    )
    return NLEGame(spec, view, actions, engine)


def goal(task: str) -> str:
    """Return the sentence that states a task's goal."""
    return next((says for word, says in GOALS.items() if word in task.lower()), OTHER_GOAL)


@cache
def registered_tasks() -> list[str]:
    """Return every MiniHack task."""
    import gymnasium

    import_minihack()
    return sorted(name for name in gymnasium.registry if name.startswith("MiniHack-"))


class MiniHackEngine:
    """A MiniHack task, stepped as its own class steps it.

    Three things differ from NLE. The game is not quit at once when a task is solved, so that its last screen
    can be seen. Messages of pages that the task turns by itself are kept. And if Python draws a task's level,
    its random generator is seeded by the spec.
    """

    def __init__(self, spec: GameSpec, ttyrec: str | None, menus: bool = False) -> None:
        """`ttyrec` names the file of NLE's own recording, if wanted.

        With `menus` the task leaves menus and texts open, as NetHack does, whatever the actions.
        """
        self._seeds = spec.seeds
        self._ttyrec = ttyrec
        compile_once()
        clear(ttyrec)
        prefix = log_prefix(ttyrec)
        with _seeded(spec.seeds.core), _recording(ttyrec, prefix):
            self._task = _make_task(spec, menus)
        if not self._task.level_compiles:
            self._task.close()
            raise EnvironmentFailure(f"{spec.task}: its level description does not compile")
        self._game = self._task.nethack
        self.arrays = self._game._obs_buffers
        self.task_keys: Sequence[int] = tuple(int(key) for key in self._task.actions)
        self._places = {key: place for place, key in reversed(list(enumerate(self.task_keys)))}
        self._own_keys = frozenset((*self.task_keys, ESC))
        self._log = log_path(self._game, prefix)
        self._pinned = pin_clock(self._game, spec.seeds.core)
        hide_variables(self._game)
        self._turn_pages = self._task._perform_known_steps
        self._task._perform_known_steps = self._keep_pages
        self._task._quit_game = lambda observation, done: None
        self._passed = ""
        self._done = False

    def start(self) -> None:
        """Begin the game."""
        seed(self._game, self._seeds)
        plan = getattr(self._task, "minigrid_env", None)
        if plan is not None:  # another package draws this level, with a generator of its own
            plan.reset = partial(plan.reset, seed=self._seeds.core % 2**31)
        with _seeded(self._seeds.core + 1):
            self._task.reset()
        turn_first_pages(self._game, self.arrays)
        share_code(self._game)

    def press(self, key: int) -> KeyPress:
        """Press one key, and every key that the task presses after it."""
        self._passed = ""
        _, reward, ended, _, info = self._task.step(self._place(key))
        return KeyPress(*self._judge(float(reward), ended, info["end_status"].name), self._passed)

    def unsolvable(self) -> None:
        """Let the level continue whatever happens on it, stairs down included: another component judges."""
        running = self._task.StepStatus.RUNNING
        self._task._is_episode_end = lambda observation: running

    def can_press(self, key: int) -> bool:
        """Keys other than the task's are only for answering questions."""
        asking = self.arrays["internal"]
        return key in self._own_keys or bool(asking[_IN_QUESTION] or asking[_IN_TEXT] or asking[_AT_PAGE])

    def facts(self, outcome: str, live: NDArray[Any]) -> dict[str, Any]:
        """Return the facts of the end."""
        if not self._game._pynethack.done():
            quit_game(self._game, self.arrays)
        return end_facts(self._game, self._log, live, outcome, self._pinned)

    def separate(self) -> None:
        """Take files of its own, in a forked process."""
        take_own_files(self._game)
        self._log = log_path(self._game, None)

    def close(self, live: NDArray[Any] | None = None) -> None:
        """Release memory and files; a recording is finished first."""
        finish(self._game, self.arrays, self._ttyrec, live)
        self._task.close()

    def _judge(self, reward: float, ended: bool, status: str) -> tuple[float, str]:
        """The reward, and how the task ended. Solving it is worth 1 even if the move takes no game time."""
        if not ended:
            return reward, ""
        if status == _SUCCESSFUL:
            return max(reward, 1.0), Outcome.SOLVED
        if self._game._pynethack.done() or self.arrays["program_state"][_GAME_OVER]:
            return reward, outcome_of(self._game)
        return reward, Outcome.FAILED

    def _place(self, key: int) -> int:
        """The index of the key in the task's action set; keys that only answer questions are added."""
        place = self._places.get(key)
        if place is None:
            place = self._places[key] = len(self._task.actions)
            self._task.actions = (*self._task.actions, key)
        return place

    def _keep_pages(self, observation: Any, done: bool, exceptions: bool = True) -> tuple[Any, bool]:
        """Turn pages as the task does, but keep their text; after the end of the game only the first."""
        over = False
        while not done and self.arrays["internal"][_AT_PAGE]:
            if not over:
                self._passed += page_text(self.arrays)
            over = bool(self.arrays["program_state"][_GAME_OVER])
            observation, done = self._game.step(SPACE)
        kept: tuple[Any, bool] = self._turn_pages(observation, done, exceptions=exceptions)
        return kept


def _make_task(spec: GameSpec, menus: bool) -> Any:
    """Create the task's own environment, without gymnasium's wrappers."""
    import gymnasium
    from gymnasium.envs.registration import load_env_creator

    registered = gymnasium.spec(spec.task)
    options = minihack_options(spec)
    settings = {**registered.kwargs, **_SETTINGS}
    if options.des_file is not None:
        settings["des_file"] = options.des_file
    if options.autopickup is not None or spec.task in BALROG_TASKS:
        settings["autopickup"] = bool(options.autopickup)
    if menus or options.actions in SKILLED:
        settings["allow_all_modes"] = True
    if "Boxoban" in spec.task:
        _use_levels(require_levels(spec.task))
    with warnings.catch_warnings():
        # MultiRoom tasks take their levels from an environment of minigrid that has a later version.
        warnings.filterwarnings("ignore", ".*is out of date", DeprecationWarning)
        task = load_env_creator(registered.entry_point)(
            **settings,
            character=options.character,
            max_episode_steps=_NO_LIMIT,
            observation_keys=list(KEYS),
            fix_moon_phase=True,
        )
    # Without it, Boxoban checks whether it is solved before it has looked for its goals, and fails.
    task._goal_pos_set = None
    return task


def _use_levels(folder: Path) -> None:
    """Let MiniHack read the Boxoban levels of this machine, in an order that is the same everywhere."""
    from minihack.envs import boxohack

    boxohack.LEVELS_PATH = os.fspath(folder)
    boxohack.load_boxoban_levels = read_levels


@contextmanager
def _seeded(seed: int) -> Iterator[None]:
    """Seed Python's global generator, with which some tasks draw levels, and restore it afterwards."""
    before = random.getstate()
    random.seed(seed)
    try:
        yield
    finally:
        random.setstate(before)


@contextmanager
def _recording(ttyrec: str | None, prefix: str | None) -> Iterator[None]:
    """A task created in this context records to this file; NLE's own names are process and number."""
    from nle.env import base

    original = base.nethack.Nethack

    def make(**settings: Any) -> Any:
        game = original(**{**settings, "ttyrec": ttyrec, "scoreprefix": prefix})
        begin = game.reset
        game.reset = lambda _, options=None: begin(ttyrec, options)
        return game

    base.nethack.Nethack = make
    try:
        yield
    finally:
        base.nethack.Nethack = original
