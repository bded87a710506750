"""Decisions as a kind of game: states where games of NetHack are decided."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any

import msgspec

from balrog_rag.contracts.data import GameSpec
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.contracts.kinds import (
    EnvironmentKind,
    Measure,
    Numbers,
    Sampling,
    Scoring,
    Share,
)
from balrog_rag.contracts.outcome import Outcome
from balrog_rag.envs.decisions.made_levels import STATES
from balrog_rag.envs.decisions.recorded_states import recorded
from balrog_rag.envs.decisions.situations import SITUATIONS
from balrog_rag.envs.nethack import kind as nethack
from balrog_rag.envs.nethack.options import INTERFACE, NetHackOptions

NAME = "decisions"
OF_THE_STATE = frozenset({"character", "autopickup"})
"""Options of NetHack that belong to the recorded game."""
CHANGED = {"no_progress_calls": 0}
"""Other defaults than NetHack's: the number of actions is limited anyway, and waiting can be right."""
MOST_KEYS = 1500
"""Key presses after which an episode ends."""

DecisionOptions = msgspec.defstruct(
    "DecisionOptions",
    [
        *(
            (field.name, field.type, CHANGED.get(field.name, field.default))
            for field in msgspec.structs.fields(NetHackOptions)
            if field.name not in OF_THE_STATE
        ),
        (
            "calls",
            Annotated[
                int, msgspec.Meta(ge=1, le=1000, description="actions of an agent; then the hero waits")
            ],
            20,
        ),
    ],
    frozen=True,
    forbid_unknown_fields=True,
)


def decision_options(game: GameSpec) -> Any:
    """Return the options of a decision."""
    own = {name: value for name, value in game.options.items() if name not in OF_THE_STATE}
    return msgspec.convert(own, DecisionOptions)


def make(spec: GameSpec, ttyrec: str | None) -> Any:
    """Create a decision."""
    from balrog_rag.envs.decisions.game import make as make_game

    return make_game(spec, ttyrec)


def available(task: str) -> int:
    """Return the number of states of a kind."""
    return STATES if SITUATIONS[task].made else len(recorded(task).states)


def check(game: GameSpec) -> None:
    """Reject states that do not exist."""
    number, count = game.seeds.core, available(game.task)
    if game.seeds.disp != number or game.seeds.lgen is not None:
        raise ConfigError(
            "env.seeding: states are numbered; use env=decisions, or env.seeding=list env.seeds=[0,1,...]"
        )
    if not 0 <= number < count:
        raise ConfigError(f"env.seeds: {game.task} has no state {number}; it has {count}, from 0")


def identity(game: GameSpec) -> str:
    """The state."""
    return f"{game.task}/{game.seeds.core}"


def world(game: GameSpec) -> str:
    """The game from which a state was taken: states of one game are not independent."""
    if SITUATIONS[game.task].made:
        return identity(game)
    return str(recorded(game.task).states[game.seeds.core].core)


class Resolved(Share):
    """A decision is right if its game ends as solved."""

    def see(self, numbers: Numbers, reward: float, ended: str) -> None:
        """Process a moment; only the end counts."""
        if ended == Outcome.SOLVED:
            self.value = 1.0


def tasks() -> Sequence[str]:
    """Return every kind of situation."""
    return tuple(SITUATIONS)


DECISIONS = EnvironmentKind(
    name=NAME,
    title="Decisions",
    tasks=tasks,
    make=make,
    progress=lambda game: Resolved(),
    options=DecisionOptions,
    check=check,
    max_steps=lambda task: MOST_KEYS,
    sampling=Sampling(
        listed=tuple(SITUATIONS),
        episodes=STATES,
        available=available,
        most_actions=lambda game: int(decision_options(game).calls),
        identity=identity,
        world=world,
        interface=INTERFACE,
        packages=("nle", "minihack"),
    ),
    scoring=Scoring(
        solved_or_not=True,
        measures=(
            Measure("calls", "actions of the agent", "actions", "calls", "last"),
            Measure("turns", "turns survived", "turns", "turn", "last", counted=True),
        ),
    ),
    hints=nethack.HINTS,
    display=replace(nethack.DISPLAY, timeline=None),
)
