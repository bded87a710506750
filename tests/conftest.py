"""Fixtures of all tests: configurations, specs, and players of episodes in this process."""

import gc
import os
import signal
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from balrog_rag.config.compose import compose
from balrog_rag.config.schema import LimitsConfig
from balrog_rag.contracts.behaviour import Watcher
from balrog_rag.episode.journal import End
from balrog_rag.episode.spec import EpisodeSpec
from balrog_rag.models.budget import RunBudget
from balrog_rag.run.episode_runner import EpisodePlayer, GameSource
from balrog_rag.run.plan import plan
from balrog_rag.run.services import LiveServices, player_spec
from balrog_rag.run.watchers import NullWatcher
from balrog_rag.util import scratch
from balrog_rag.util.fetch import cache_folder
from balrog_rag.workers.inline import InlineGames
from tests import preloaded
from tests.parts import Part

# Tests must not change the user's own state, and leave nothing in the temporary folder:
# files of a killed session are removed by the next one.
os.environ["TMPDIR"] = scratch.folder()
os.environ["XDG_STATE_HOME"] = os.path.join(scratch.folder(), "state")

# Output into pipes has the default width; xdist would give it the width of its own terminal.
os.environ.pop("COLUMNS", None)

# If the user's cache is read-only, downloads go there as well.
try:
    cache_folder().mkdir(parents=True, exist_ok=True)
except (OSError, RuntimeError):  # a home that is read-only, or missing
    os.environ["BALROG_RAG_CACHE"] = os.path.join(scratch.folder(), "cache")

# Hundreds of processes start in these tests; without a shared cache each would compile the whole package,
# and this one rewrites the assertions of every test module, which takes 8 s of processor.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# Background jobs of a script may ignore Ctrl-C, and so would every process of a test.
signal.signal(signal.SIGINT, signal.default_int_handler)
# The same for a terminal that hangs up: programs under nohup ignore SIGHUP.
signal.signal(signal.SIGHUP, signal.SIG_DFL)

# Thousands of tests and every library stay in memory, and the collector would look at them all the time.
gc.set_threshold(20_000, 20, 20)

preloaded.serve_pools()

Specs = Callable[..., list[EpisodeSpec]]
Play = Callable[..., End]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options of this suite."""
    parser.addoption(
        "--part", type=Part.read, metavar="K/N", help="only the K-th of N parts of the chosen tests, e.g. 2/6"
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests of other parts, and give slow tests more time before they count as hung."""
    part: Part | None = config.getoption("part")
    if part is not None:
        others = [item for item in items if item.nodeid not in part]
        config.hook.pytest_deselected(items=others)
        items[:] = [item for item in items if item.nodeid in part]
    for item in items:
        if item.get_closest_marker("slow") and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(3600))


@cache
def caps(words: str) -> LimitsConfig:
    """The limits that these overrides set."""
    return compose(["model=scripted", *words.split()]).limits


@pytest.fixture
def specs() -> Specs:
    """The episodes of a configuration: `specs("agent=cot", episodes=2, steps=30)`; the scripted model."""

    def make(*overrides: str, episodes: int = 1, steps: int | None = 40) -> list[EpisodeSpec]:
        words = ["model=scripted", f"env.episodes={episodes}", *overrides]
        config = compose([*words, *([f"limits.steps={steps}"] if steps else [])])
        return plan(config, player_spec(config))

    return make


@pytest.fixture
def player(tmp_path: Path) -> Callable[..., EpisodePlayer]:
    """Plays episodes into tmp_path/run, in this process."""

    def make(
        services: LiveServices | None = None,
        watcher: Watcher | None = None,
        games: GameSource | None = None,
        limits: str = "limits.steps=null",
        stopping: Callable[[], bool] = lambda: False,
        run: Path = tmp_path / "run",
        digest: str = "config",
    ) -> EpisodePlayer:
        return EpisodePlayer(
            run,
            digest,
            {},
            games or InlineGames(),
            services or LiveServices(),
            RunBudget(caps(limits)),
            watcher or NullWatcher(),
            stopping,
        )

    return make
