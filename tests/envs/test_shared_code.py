"""Games of one process share NetHack's code, and play the same as without sharing."""

import re
from pathlib import Path

import pytest

from balrog_rag.envs.nethack import shared_code
from balrog_rag.envs.nethack.clock import clock_pinned
from balrog_rag.workers.inline import InlineGame
from tests.envs.support import minihack, nethack, play

MEGABYTE = 1 << 20
pytestmark = pytest.mark.skipif(not clock_pinned(), reason="the library is not built as we know it")


def own_memory() -> int:
    """Bytes that this process shares with no other, including memory-backed files."""
    told = Path("/proc/self/smaps_rollup").read_text()
    return sum(
        int(size) * 1024 for size in re.findall(r"^(?:Private_Dirty|Private_Clean): +(\d+)", told, re.M)
    )


@pytest.mark.parametrize(
    "spec", [nethack, lambda seed: minihack("Corridor-R3", seed)], ids=["nle", "minihack"]
)
def test_a_further_game_needs_little_memory_of_its_own(spec):
    games = [InlineGame(spec(1))]
    before = own_memory()
    games += [InlineGame(spec(seed)) for seed in range(2, 22)]
    each = (own_memory() - before) / 20
    for game in games:
        game._hosted.close()
    assert each < 1.5 * MEGABYTE


ACTIONS = ["search", "far east", "esc", "far west", "kick", "north", "south"] * 20


@pytest.mark.parametrize("spec", [nethack(5, "@"), minihack("Quest-Easy", 5)], ids=["nle", "minihack"])
def test_a_game_is_the_same_where_nothing_can_be_shared(spec, monkeypatch):
    shared = [after.observation.digest for after in play(spec, ACTIONS)]
    monkeypatch.setattr(shared_code, "_shareable", lambda path: ())
    assert [after.observation.digest for after in play(spec, ACTIONS)] == shared


def test_a_library_that_is_not_known_is_left_alone(tmp_path):
    (tmp_path / "libnethack.so").write_bytes(b"\x7fELF and nothing more")
    assert shared_code._shareable(str(tmp_path / "libnethack.so")) == ()
    assert shared_code._runs([1, 2, 3, 7, 9, 10]) == [(1, 3), (7, 7), (9, 10)]
