"""The best player without a model for each of BALROG's environments, under one name."""

from collections.abc import Mapping
from typing import Any

from balrog_rag.contracts.errors import ConfigError
from balrog_rag.contracts.programs import Begin, Program, ProgramKind, program_of

BEST = {
    "nle": "delver",
    "nethackers": "delver",
    "decisions": "delver",
    "minihack": "minihacker",
    "babyai": "scripted",
    "babaisai": "scripted",
    "crafter": "scripted",
    "textworld": "scripted",
}
"""By kind of game, the player; TextWorld's is an oracle, because it is given the game's own walkthrough."""


def make(begin: Begin) -> Program:
    """Create the player of this game."""
    return program_of(BEST[begin.view.env]).make(begin)


def check(options: Mapping[str, Any]) -> None:
    """Refuse options: each player has its own."""
    if options:
        raise ConfigError(
            f"agent.options.{min(options)}: agent=best takes no options; choose the player itself, "
            f"one of {', '.join(sorted(set(BEST.values())))}"
        )


BEST_PLAYER = ProgramKind(
    name="best", make=make, games=tuple(BEST), plays=True, check=check, unlisted_keys=False
)
