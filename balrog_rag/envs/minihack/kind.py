"""MiniHack as a kind of game: small levels made of NetHack, each solved or not."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from balrog_rag.contracts.data import GameSpec
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.contracts.kinds import (
    EnvironmentKind,
    Numbers,
    Retrospect,
    Sampling,
    Scoring,
    Share,
)
from balrog_rag.contracts.outcome import Outcome
from balrog_rag.envs.minihack.boxoban import require_levels
from balrog_rag.envs.minihack.tasks import BALROG_TASKS
from balrog_rag.envs.nethack import kind as nethack
from balrog_rag.envs.nethack.causes import PREVENTABLE, cause
from balrog_rag.envs.nethack.characters import check_character
from balrog_rag.envs.nethack.logged import read_logged
from balrog_rag.envs.nethack.options import INTERFACE, MiniHackOptions, minihack_options
from balrog_rag.util.templates import templates


class Solved(Share):
    """A task is solved by one action of reward 1, as BALROG counts it, or if MiniHack itself says so.

    The reward alone is not enough: an action that turns pages has the sum of its key presses, each of which
    costs 0.01 if it takes no game time.
    """

    def see(self, numbers: Numbers, reward: float, ended: str) -> None:
        """Process a step."""
        if reward >= 1.0 or ended == Outcome.SOLVED:
            self.value = 1.0


def tasks() -> Sequence[str]:
    """Return every MiniHack task."""
    from balrog_rag.envs.minihack.game import registered_tasks

    return registered_tasks()


def make(spec: GameSpec, ttyrec: str | None) -> Any:
    """Create a MiniHack task."""
    from balrog_rag.envs.minihack.game import make as make_game

    return make_game(spec, ttyrec)


def check(game: GameSpec) -> None:
    """Reject impossible characters, seeds and level descriptions, and levels that are not installed."""
    if "Crossing" in game.task:
        raise ConfigError(
            f"{game.task}: cannot be played: MiniHack asks minigrid for a level as large as the screen, and "
            "minigrid makes its Crossing levels in their own size only; choose another task"
        )
    options = minihack_options(game)
    check_character(options.character)
    nethack.check_seeds(game)
    if "-Custom-" not in game.task:
        if options.des_file is not None:
            raise ConfigError(f"env.options.des_file: {game.env}/{game.task} takes no such option")
    elif "\n" not in (options.des_file or ""):
        raise ConfigError(
            f"{game.task}: set env.options.des_file to a level's description itself; a file's name "
            "would not say what was played"
        )
    if "Boxoban" in game.task:
        require_levels(game.task)


MINIHACK = EnvironmentKind(
    name="minihack",
    title="MiniHack",
    tasks=tasks,
    make=make,
    progress=lambda game: Solved(),
    options=MiniHackOptions,
    check=check,
    max_steps=lambda task: 100,
    retrospect=Retrospect(
        recording="nle.{number}.0.ttyrec3.bz2",
        cause=cause,
        preventable=PREVENTABLE,
        read_logged=read_logged,
        comparable=nethack.comparable,
    ),
    scoring=Scoring(
        solved_or_not=True,
    ),
    sampling=Sampling(
        interface=INTERFACE,
        listed=BALROG_TASKS,
        identity=nethack.identity,
        packages=("nle", "minihack"),
        departures="MiniHack is played by the packages minihack and nle; BALROG plays minihack 0.1.6 "
        "on its fork of nle.",
    ),
    hints=replace(
        nethack.HINTS,
        prompts=lambda: {**templates("balrog_rag.envs.minihack"), **nethack.netplay_prompts()},
    ),
    display=replace(nethack.DISPLAY, timeline=None),
)
