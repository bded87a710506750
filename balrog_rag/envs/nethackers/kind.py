"""NetHackers as a kind of game: NetHack by the rules of a board of programs."""

from dataclasses import replace
from typing import Any

import msgspec

from balrog_rag.contracts.data import GameSpec
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.envs.nethack.kind import NETHACK
from balrog_rag.envs.nethack.options import NetHackOptions
from balrog_rag.envs.nethackers import board
from balrog_rag.envs.nethackers.standing import RULES, Standing

RULED = frozenset({"character", "autopickup", "no_progress", "no_progress_calls"})
"""Options of NetHack that the board's rules fix."""

BoardOptions = msgspec.defstruct(
    "BoardOptions",
    [
        (field.name, field.type, field.default)
        for field in msgspec.structs.fields(NetHackOptions)
        if field.name not in RULED
    ],
    frozen=True,
    forbid_unknown_fields=True,
)


def make(spec: GameSpec, ttyrec: str | None) -> Any:
    """Create a game of the board."""
    from balrog_rag.envs.nethackers.game import make as make_game

    return make_game(spec, ttyrec)


def check(game: GameSpec) -> None:
    """Reject games that the board does not have."""
    seeds, limit = game.seeds, board.declared().max_steps
    if seeds.core != seeds.disp or seeds.lgen is not None:
        raise ConfigError(
            "env.seeding: the board numbers its games; write env.seeding=list env.seeds=[0,1,...], "
            f"of which 0 to {board.published()[-1]} are published"
        )
    if game.max_steps != limit:
        raise ConfigError(
            f"env.max_steps: the board ends a game after {limit:,} key presses, not {game.max_steps:,}"
        )


def identity(game: GameSpec) -> str:
    """The dungeon and the character."""
    return f"{game.seeds.core}/{game.task}"


def world(game: GameSpec) -> str:
    """The number of the game: all identities share its seeds, and the two sexes of one play the same game."""
    return str(game.seeds.core)


NETHACKERS = replace(
    NETHACK,
    name=board.KIND,
    title="NetHackers",
    tasks=lambda: board.IDENTITIES,
    make=make,
    progress=lambda game: Standing(),
    options=BoardOptions,
    check=check,
    max_steps=lambda task: board.declared().max_steps,
    sampling=replace(
        NETHACK.sampling,
        listed=board.IDENTITIES,
        episodes=board.published().stop,
        identity=identity,
        world=world,
        departures="",
    ),
    scoring=replace(
        NETHACK.scoring,
        crash_scores=True,
        rules=(RULES,),
        worth=lambda reached: {"none": 0.0, **board.worths()}[reached],
    ),
)
