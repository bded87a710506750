"""The games of TextWorld that BALROG plays: their names, their seeds, and where their files are."""

from functools import cache
from pathlib import Path

import msgspec

from balrog_rag.contracts.errors import ConfigError
from balrog_rag.util.fetch import cache_folder

TASKS = ("treasure_hunter", "the_cooking_game", "coin_collector")
COMMAND = "balrog-rag envs build textworld"

Seeds = tuple[int, int, int, int]
"""The seeds of a game's map, objects, quest and words."""


class _File(msgspec.Struct):
    games: dict[str, dict[str, Seeds]]


@cache
def seeds() -> dict[str, dict[str, Seeds]]:
    """By task and by name, in the order in which BALROG counts them."""
    return msgspec.json.decode(Path(__file__).with_name("games.json").read_bytes(), type=_File).games


def games(task: str) -> list[str]:
    """The names of a task's games in the order in which BALROG counts them."""
    return list(seeds()[task])


def games_folder() -> Path:
    """The folder of built games."""
    return cache_folder() / "textworld"


def find(folder: Path, task: str, name: str) -> Path | None:
    """Find the complete file of a game in a folder of ours or of BALROG's.

    TextWorld 1.7 cannot play .ulx files, so of BALROG's own games only the cooking ones are found.
    """
    path = folder / task / f"{name}.z8"
    return path if path.is_file() and path.with_suffix(".json").is_file() else None


def require(folder: Path, task: str, name: str) -> Path:
    """Return the file of a game; the error says how to get it."""
    path = find(folder, task, name)
    if path is None:
        raise ConfigError(f"textworld/{task}: game {name} is not in {folder}; run: {COMMAND}")
    return path
