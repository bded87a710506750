"""TextWorld as a kind of game: three tasks of 25 text adventures each."""

from pathlib import Path
from typing import Annotated, Any

import msgspec

from balrog_rag.contracts.data import GameSpec, Observation
from balrog_rag.contracts.kinds import (
    AgentHints,
    DisplayHints,
    EnvironmentKind,
    EnvironmentSignals,
    Numbers,
    Sampling,
    Scoring,
    Share,
)
from balrog_rag.envs.small_game import PlayedEngine, seed_of
from balrog_rag.envs.textworld.games import TASKS, games, games_folder, require
from balrog_rag.envs.textworld.renamed_rooms import renaming
from balrog_rag.util.extras import require as require_library
from balrog_rag.util.templates import templates


class TextWorldOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Options of a game of TextWorld."""

    games: Annotated[
        str | None, msgspec.Meta(description="the folder with the games; null: where they are built")
    ] = None
    # Left out of specs unless set, so that the digests of games with their own names stay as they are.
    renamed: Annotated[
        int | msgspec.UnsetType | None,
        msgspec.Meta(description="seed of invented words for the names of rooms and things; unset: none"),
    ] = msgspec.UNSET


class Scored(Share):
    """The share of its points at the end of the game; BALROG counts nothing earlier."""

    def see(self, numbers: Numbers, reward: float, ended: str) -> None:
        """Process a step."""
        if numbers["over"]:
            self.value = max(numbers["score"] / numbers["most"], float(numbers["won"]))


class TextWorldSignals(EnvironmentSignals):
    """Signals of a moment of TextWorld for wrappers."""

    def message(self, seen: Observation) -> str:
        """The game's text."""
        return seen.text("observation")


def game_of(spec: GameSpec) -> str:
    """The name of the game of a seed."""
    names = games(spec.task)
    return names[seed_of(spec) % len(names)]


def check(spec: GameSpec) -> None:
    """Reject games that are not on this machine."""
    require_library("textworld", "textworld", "env=textworld")
    folder = spec.options.get("games")
    require(Path(folder) if folder else games_folder(), spec.task, game_of(spec))


def play(spec: GameSpec, ttyrec: str | None) -> Any:
    """Create a game of TextWorld."""
    from balrog_rag.envs.textworld.game import ACTIONS, DEFAULT_ACTION, make

    folder = spec.options.get("games")
    engine = make(spec.task, seed_of(spec), Path(folder) if folder else None)
    return PlayedEngine(spec, engine, ACTIONS, DEFAULT_ACTION, anything=True)


TEXTWORLD = EnvironmentKind(
    name="textworld",
    title="TextWorld",
    tasks=lambda: TASKS,
    make=play,
    progress=lambda game: Scored(),
    options=TextWorldOptions,
    check=check,
    max_steps=lambda task: 80,
    sampling=Sampling(
        interface=frozenset({"games"}),
        episodes=10,
        counted=True,
        identity=game_of,
        packages=("textworld", "jericho"),
        departures="TextWorld's games are BALROG's, built anew from their seeds for textworld 1.7; with "
        "env.seeding=balrog they are counted as one process of BALROG counts them, not sixteen.",
    ),
    # They follow the walkthrough that TextWorld computes from the hidden state.
    scoring=Scoring(oracles=("scripted", "best")),
    display=DisplayHints(
        headline=lambda numbers: f"score {numbers.get('score', '?')} of {numbers.get('most', '?')}",
    ),
    hints=AgentHints(
        renaming=renaming,
        prompts=lambda: templates("balrog_rag.envs.textworld"),
        guide="TextWorld",
        signals=TextWorldSignals(),
    ),
)
