"""BabyAI as a kind of game: five tasks, each solved or not."""

from typing import Any

from balrog_rag.contracts.data import GameSpec
from balrog_rag.contracts.kinds import AgentHints, EnvironmentKind, Sampling, Scoring
from balrog_rag.envs.babyai.game import ACTIONS, DEFAULT_ACTION, TASKS, limit, make
from balrog_rag.envs.small_game import (
    PictureOptions,
    PlayedEngine,
    SolvedProgress,
    by_seed,
    seed_of,
    shows_pictures,
)
from balrog_rag.util.templates import templates


def play(spec: GameSpec, ttyrec: str | None) -> Any:
    """Create a game of BabyAI."""
    return PlayedEngine(spec, make(spec.task, seed_of(spec)), ACTIONS, DEFAULT_ACTION)


BABYAI = EnvironmentKind(
    name="babyai",
    title="BabyAI",
    tasks=lambda: TASKS,
    make=play,
    progress=lambda game: SolvedProgress(),
    options=PictureOptions,
    max_steps=limit,
    scoring=Scoring(
        solved_or_not=True,
    ),
    sampling=Sampling(
        episodes=10,
        identity=by_seed,
        packages=("minigrid",),
        departures="BabyAI is played by the package minigrid; BALROG plays its fork of Minigrid 2.3.1.",
    ),
    hints=AgentHints(
        pictures=shows_pictures,
        picture_hint="env.layout=image",
        prompts=lambda: templates("balrog_rag.envs.babyai"),
        guide="BabyAI",
    ),
)
