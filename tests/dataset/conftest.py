"""Games for the tests of this folder: recorded once, copied if they are changed."""

import shutil
from pathlib import Path

import pytest

from balrog_rag.contracts.data import GameSpec, Seeds
from tests.dataset.support import dataset, press

MOVES = ["far east", "far south", "search", "far west", "far north", "i", "esc"]


@pytest.fixture(scope="session")
def played(tmp_path_factory) -> Path:
    """Six short games, each in its own folder."""
    root = tmp_path_factory.mktemp("played") / "bot"
    for seed in range(6):
        spec = GameSpec("nle", "NetHackChallenge-v0", Seeds(seed, seed), 100, {"no_progress": 0})
        press(spec, MOVES * (3 + seed), root / f"game{seed}" / f"nle.{seed}.0.ttyrec3.bz2")
    return root


@pytest.fixture
def root(played, tmp_path) -> Path:
    """A copy of the games."""
    return Path(shutil.copytree(played, tmp_path / "bot"))


@pytest.fixture
def db(root, tmp_path) -> Path:
    """A database that contains them as the dataset `bot`."""
    assert dataset("import", root, "--db", tmp_path / "games.db") == 0
    return tmp_path / "games.db"
