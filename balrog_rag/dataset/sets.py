"""Sets of games to count: datasets of a database, and the episodes of runs."""

from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

from balrog_rag.dataset import database
from balrog_rag.dataset.database import Row
from balrog_rag.dataset.recorded_statistics import Games
from balrog_rag.dataset.streaming import playable, stream
from balrog_rag.results.arms import Arm
from balrog_rag.results.episodes import Episode

OF_NETHACK = ("nle", "nethackers", "minihack")
_LANES = 8


def of_dataset(path: Path, name: str, frames: bool = False) -> Games:
    """Return a dataset; with `frames` every recording is read and its frames are counted."""
    rows, size = database.games(path, name), database.dataset(path, name).size
    return Games(name, rows, size, _lengths(path, name) if frames else ())


def _lengths(path: Path, name: str) -> list[int]:
    games = playable(path, name)
    counts = np.zeros(max(games, default=0) + 1, np.int64)
    if games:
        with stream(path, name, min(_LANES, len(games)), 512, games=games) as batches:
            for batch in batches:
                counts += np.bincount(batch["gameids"].ravel(), minlength=len(counts))
    return [int(counts[game]) for game in games]


def of_arms(arms: Iterable[Arm]) -> list[Games]:
    """Return the games of NetHack that each arm has played, as far as their ends are known."""
    sets = []
    for arm in arms:
        if rows := [_row(episode) for episode in arm.episodes if episode.env in OF_NETHACK]:
            sets.append(Games(arm.name, rows))
    return sets


def _row(episode: Episode) -> Row:
    """The game's log line; for a game that did not end, the last values of its bottom lines."""
    line = episode.facts.get("xlogfile")
    if isinstance(line, Mapping):
        return dict(line)
    return {
        "points": episode.last.get("score", -1),
        "turns": episode.last.get("turn", -1),
        "deathdnum": episode.last.get("branch", -1),
        "deathlev": episode.last.get("depth", -1),
        "maxlvl": episode.most.get("depth", -1),
        "death": f"left ({episode.outcome})",
    }
