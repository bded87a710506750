"""Crafter as a kind of game: one world to live in, and 22 achievements."""

from typing import Annotated, Any

import msgspec

from balrog_rag.contracts.data import GameSpec
from balrog_rag.contracts.kinds import (
    AgentHints,
    Column,
    DisplayHints,
    EnvironmentKind,
    EnvironmentSignals,
    Measure,
    Numbers,
    Sampling,
    Scoring,
    Share,
)
from balrog_rag.envs.crafter.renamed_things import renaming
from balrog_rag.envs.small_game import PictureOptions, PlayedEngine, by_seed, seed_of, shows_pictures
from balrog_rag.util.templates import templates

ACHIEVEMENTS = 22
_MOST_HEALTH = 9
_LOW_HEALTH = 3


class CrafterProgress(Share):
    """The share of achievements reached."""

    def see(self, numbers: Numbers, reward: float, ended: str) -> None:
        """Process a step."""
        self.value = max(self.value, numbers["achievements"] / ACHIEVEMENTS)


class CrafterSignals(EnvironmentSignals):
    """Signals of a moment of Crafter for wrappers."""

    def health(self, numbers: Numbers) -> float:
        """Health as a share of its maximum."""
        return numbers.get("health", _MOST_HEALTH) / _MOST_HEALTH

    def hurt(self, before: Numbers, now: Numbers) -> bool:
        """Whether health fell."""
        return now.get("health", _MOST_HEALTH) < before.get("health", 0)


def play(spec: GameSpec, ttyrec: str | None) -> Any:
    """Create a game of Crafter."""
    from balrog_rag.envs.crafter.game import ACTIONS, DEFAULT_ACTION, make

    return PlayedEngine(spec, make(spec.task, seed_of(spec)), ACTIONS, DEFAULT_ACTION)


class CrafterOptions(PictureOptions, frozen=True, forbid_unknown_fields=True):
    """Options of a game of Crafter."""

    # Left out of specs unless set, so that the digests of games with their own names stay as they are.
    renamed: Annotated[
        int | msgspec.UnsetType | None,
        msgspec.Meta(description="seed of invented words for the names of things and creatures; unset: none"),
    ] = msgspec.UNSET


CRAFTER = EnvironmentKind(
    name="crafter",
    title="Crafter",
    tasks=lambda: ("default",),
    make=play,
    progress=lambda game: CrafterProgress(),
    options=CrafterOptions,
    max_steps=lambda task: 2000,
    scoring=Scoring(
        rise=100 / ACHIEVEMENTS,
        measures=(
            Measure("achievements", "achievements", "achievements", "achievements", high=ACHIEVEMENTS),
        ),
    ),
    sampling=Sampling(
        episodes=10,
        identity=by_seed,
        packages=("crafter", "opensimplex"),
        departures="Crafter's world follows from the episode's seed and its creatures move in the order in "
        "which they came; in BALROG chance decides both.",
    ),
    hints=AgentHints(
        pictures=shows_pictures,
        picture_hint="env.layout=image",
        renaming=renaming,
        prompts=lambda: templates("balrog_rag.envs.crafter"),
        guide="Crafter",
        signals=CrafterSignals(),
    ),
    display=DisplayHints(
        columns=(
            Column("Ach", 3, lambda numbers: str(numbers.get("achievements", "?"))),
            Column("HP", 3, lambda numbers: str(numbers.get("health", "?"))),
        ),
        headline=lambda numbers: (
            f"achievements {numbers.get('achievements', '?')} health {numbers.get('health', '?')}"
        ),
        danger=lambda numbers: numbers.get("health", _MOST_HEALTH) <= _LOW_HEALTH,
    ),
)
