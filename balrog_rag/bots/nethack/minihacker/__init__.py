"""A player of MiniHack without a model: it explores, fights, crosses lava, and solves Boxoban by search."""

from collections.abc import Mapping
from typing import Any

from balrog_rag.contracts.errors import ConfigError
from balrog_rag.contracts.programs import Begin, Program, ProgramKind


def make(begin: Begin) -> Program:
    """Create the player as a program; it presses only keys that the task's actions have."""
    from balrog_rag.bots.nethack.minihacker.play_level import play  # loaded with the first game

    return play(begin.screen, begin.view)


def check(options: Mapping[str, Any]) -> None:
    """Refuse options: there are none."""
    if options:
        raise ConfigError(f"agent.options.{min(options)}: agent=minihacker takes no options; leave it out")


MINIHACKER = ProgramKind(
    name="minihacker", make=make, games=("minihack",), plays=True, check=check, unlisted_keys=False
)
