"""Baba Is AI as a kind of game: forty puzzles, each solved or not."""

from typing import Any

from balrog_rag.contracts.data import GameSpec
from balrog_rag.contracts.kinds import AgentHints, EnvironmentKind, Sampling, Scoring
from balrog_rag.envs.babaisai.tasks import TASKS
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
    """Create a game of Baba Is AI."""
    from balrog_rag.envs.babaisai.game import ACTIONS, DEFAULT_ACTION, make

    return PlayedEngine(spec, make(spec.task, seed_of(spec)), ACTIONS, DEFAULT_ACTION)


BABAISAI = EnvironmentKind(
    name="babaisai",
    title="Baba Is AI",
    tasks=lambda: tuple(TASKS),
    make=play,
    progress=lambda game: SolvedProgress(),
    options=PictureOptions,
    max_steps=lambda task: 100,
    scoring=Scoring(
        solved_or_not=True,
    ),
    sampling=Sampling(
        episodes=3,
        identity=by_seed,
        departures="Baba Is AI is played by this project's own rules, checked against recordings of "
        "BALROG's. Its pictures look different; after a lost level the new one is shown; BALROG prints a "
        "Python dictionary.",
    ),
    hints=AgentHints(
        pictures=shows_pictures,
        picture_hint="env.layout=image",
        prompts=lambda: templates("balrog_rag.envs.babaisai"),
        guide="Baba Is AI",
        shown_task="another",
    ),
)
