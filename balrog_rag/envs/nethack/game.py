"""NetHack itself: NetHackChallenge-v0, played on NLE's core without the wrappers around it."""

from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from balrog_rag.contracts.data import GameSpec, Seeds, TaskView
from balrog_rag.contracts.errors import EnvironmentFailure
from balrog_rag.contracts.kinds import check_game
from balrog_rag.contracts.outcome import PLAYER_LOST, Outcome
from balrog_rag.envs.nethack.actions import NOTHING, ActionSet, nethack_actions
from balrog_rag.envs.nethack.beginning import turn_first_pages
from balrog_rag.envs.nethack.clock import pin_clock
from balrog_rag.envs.nethack.engine import KeyPress, NLEGame
from balrog_rag.envs.nethack.game_end import end_facts, outcome_of, press_through_end, quit_game
from balrog_rag.envs.nethack.observe import KEYS, page_text
from balrog_rag.envs.nethack.options import nethack_options
from balrog_rag.envs.nethack.separate_files import take_own_files
from balrog_rag.envs.nethack.shared_code import share_code
from balrog_rag.envs.nethack.ttyrec import clear, finish, log_prefix
from balrog_rag.envs.nethack.variables import hide_variables

GOAL = "Your goal is to come as far as you can in the game."
DEFAULT_ACTION = "esc"

_STATE_KEYS = ("program_state", "internal", "chars", "message", "misc")
_MORE_KEYS = ("colors", "specials", "inv_glyphs", "inv_oclasses")
"""Keys that only external programs use."""
_GAME_OVER = 0
_SCORE = 9


def make(spec: GameSpec, ttyrec: str | None = None) -> NLEGame:
    """Create the environment `nle`."""
    check_game(spec)
    actions = nethack_actions(nethack_options(spec).actions)
    return NLEGame(spec, view_of(spec, actions), actions, NetHackEngine(spec, ttyrec))


def view_of(spec: GameSpec, actions: ActionSet) -> TaskView:
    """Return the task as an agent of a whole game sees it."""
    default = DEFAULT_ACTION if DEFAULT_ACTION in actions.keys else NOTHING
    return TaskView(spec.env, spec.task, GOAL, actions.advertised, frozenset(actions.keys), default)


class NetHackEngine:
    """A game of NetHack as configured by NetHackChallenge-v0."""

    def __init__(self, spec: GameSpec, ttyrec: str | None) -> None:
        """`ttyrec` names the file of NLE's own recording, if wanted."""
        from nle import nethack

        options = nethack_options(spec)
        self._seeds = spec.seeds
        self._ttyrec = ttyrec
        clear(ttyrec)
        prefix = log_prefix(ttyrec)
        self._game = nethack.Nethack(
            observation_keys=KEYS + _STATE_KEYS + _MORE_KEYS,
            playername="Agent-" + options.character,
            ttyrec=ttyrec,
            options=_options(nethack.NETHACKOPTIONS, options.autopickup),
            scoreprefix=prefix,
            fix_moon_phase=True,
        )
        self._log = log_path(self._game, prefix)
        self.arrays = self._game._obs_buffers
        self._pinned = pin_clock(self._game, spec.seeds.core)
        hide_variables(self._game)

    def start(self) -> None:
        """Begin the game and dismiss its first pages."""
        seed(self._game, self._seeds)
        self._game.reset(self._ttyrec)
        turn_first_pages(self._game, self.arrays)
        share_code(self._game)

    def press(self, key: int) -> KeyPress:
        """Press one key; if it ends the game, dismiss the pages up to the last."""
        blstats = self.arrays["blstats"]
        before = int(blstats[_SCORE])
        _, done = self._game.step(key)
        if not done and not self.arrays["program_state"][_GAME_OVER]:
            return KeyPress(float(int(blstats[_SCORE]) - before))
        passed = "" if done else page_text(self.arrays)
        if not done and not press_through_end(self._game, self.arrays):
            raise EnvironmentFailure("NetHack does not come to an end after the game is over")
        return KeyPress(0.0, outcome_of(self._game), passed)

    def can_press(self, key: int) -> bool:
        """Return true: NetHack accepts every key."""
        return True

    def facts(self, outcome: str, live: NDArray[Any]) -> dict[str, Any]:
        """Return the facts of the end."""
        if outcome in (Outcome.STEPS, Outcome.NO_PROGRESS, *PLAYER_LOST):
            quit_game(self._game, self.arrays)
        return end_facts(self._game, self._log, live, outcome, self._pinned)

    def separate(self) -> None:
        """Take files of its own, in a forked process."""
        take_own_files(self._game)
        self._log = log_path(self._game, None)

    def close(self, live: NDArray[Any] | None = None) -> None:
        """Release memory and files; a recording is finished first."""
        finish(self._game, self.arrays, self._ttyrec, live)
        self._game.close()


def log_path(game: Any, prefix: str | None) -> Path:
    """The path of NetHack's own log of games."""
    return Path(game._vardir, "xlogfile") if prefix is None else Path(prefix + "xlogfile")


def seed(game: Any, seeds: Seeds) -> None:
    """Seed a game about to begin; NetHack's reseeding from the system's randomness is off."""
    game.set_initial_seeds(seeds.core, seeds.disp, False, seeds.lgen)


def _options(default: tuple[str, ...], autopickup: bool | None) -> tuple[str, ...]:
    if autopickup is None:
        return default
    rest = tuple(option for option in default if option != "autopickup")
    return (*rest, "autopickup" if autopickup else "!autopickup")
