import _ctypes
import ctypes
import json
import os
import subprocess
import sys
import time
from functools import cache
from pathlib import Path

import pytest

from balrog_rag.contracts.data import GameSpec, Seeds
from balrog_rag.envs.nethack import clock, library
from balrog_rag.envs.nethack.clock import clock_pinned, time_of
from balrog_rag.workers.inline import InlineGame
from tests.envs.support import minihack, nethack, play
from tests.support import PATIENCE

SCRIPT = Path(__file__).with_name("determinism.py")
FAKETIME = next(iter(sorted(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"))), None)
NETHACK = ("nle", "NetHackChallenge-v0")


@cache
def played(env, task, seed, steps, date="", zone=""):
    """The observations of another process, under a system date if one is given."""
    environment = dict(os.environ)
    if date:
        environment |= {"LD_PRELOAD": str(FAKETIME), "FAKETIME": date}
    if zone:
        environment["TZ"] = zone
    words = [sys.executable, str(SCRIPT), env, task, str(seed), str(steps)]
    done = subprocess.run(
        words, env=environment, capture_output=True, text=True, check=True, timeout=PATIENCE
    )
    return json.loads(done.stdout)


def first_map(seeds):
    spec = GameSpec(*NETHACK, seeds, options={"character": "val-dwa-law-fem"})
    return play(spec, [])[0].observation.text("map")


@pytest.mark.parametrize(
    ("env", "task"),
    [NETHACK, ("minihack", "MiniHack-Quest-Hard-v0"), ("minihack", "MiniHack-KeyRoom-S15-v0")],
)
def test_same_spec_and_actions_are_the_same_game_in_another_process(env, task):
    """Over 2,000 steps; a game that ends is begun again."""
    played.cache_clear()
    first = played(env, task, 11, 2000)
    played.cache_clear()
    second = played(env, task, 11, 2000)
    assert first == second
    assert len(first["digests"]) > 2000
    assert len(set(first["digests"])) > 300


def test_other_seeds_are_other_games():
    assert played(*NETHACK, 11, 50)["digests"][0] != played(*NETHACK, 12, 50)["digests"][0]


@pytest.mark.skipif(FAKETIME is None, reason="needs libfaketime (Debian: apt install faketime)")
@pytest.mark.skipif(not clock_pinned(), reason="the clock cannot be pinned on this platform")
@pytest.mark.parametrize("seed", [21])
def test_the_system_date_changes_nothing(seed):
    """A plain noon, a midnight hour with a new moon, and a Friday the 13th elsewhere in the world."""
    plain = played(*NETHACK, seed, 2000, "2026-03-04 13:00:00")
    assert len(plain["digests"]) > 2000
    assert plain == played(*NETHACK, seed, 2000, "2031-11-14 00:30:00")
    assert plain == played(*NETHACK, seed, 2000, "2026-11-13 23:59:58", "Pacific/Kiritimati")
    assert plain == played(*NETHACK, seed, 2000)


@pytest.mark.skipif(not clock_pinned(), reason="the clock cannot be pinned on this platform")
def test_nethack_was_born_at_the_pinned_time():
    """The game's own variable and its log say the time of the spec, not the wall clock's."""
    assert played(*NETHACK, 11, 50)["birthday"] == time_of(11)
    spec = GameSpec(*NETHACK, Seeds(11, 11), max_steps=5)
    end = play(spec, ["search"] * 5)[-1].end
    assert end["clock_pinned"]
    assert end["xlogfile"]["starttime"] == end["xlogfile"]["endtime"] == time_of(11)
    assert str(end["xlogfile"]["birthdate"]).startswith("2000")


@pytest.mark.skipif(not clock_pinned(), reason="the library is not built as we know it")
@pytest.mark.parametrize("spec", [nethack(3), minihack("Corridor-R3")], ids=["nle", "minihack"])
def test_a_players_own_variables_name_no_ghost_and_nothing_is_printed(spec, monkeypatch, capfd):
    """What the game asks when it makes the Rogue level: without the answer it is Eve, after a warning."""
    monkeypatch.setenv("ROGUEOPTS", "name=Eve")
    game = InlineGame(spec)
    copy = ctypes.CDLL(game._hosted._environment.inner._engine._game.dlpath, mode=os.RTLD_NOLOAD)
    copy.roguename.restype = ctypes.c_char_p
    name = copy.roguename()
    _ctypes.dlclose(copy._handle)  # else the next game would get this copy
    game._hosted.close()
    assert name in (b"Michael Toy", b"Kenneth Arnold", b"Glenn Wichman")
    assert capfd.readouterr() == ("", "")


@pytest.mark.skipif(not clock_pinned(), reason="the library is not built as we know it")
def test_a_players_own_options_change_no_game(monkeypatch, capfd):
    plain = [seen.observation.digest for seen in play(nethack(3, "@"), ["search"] * 5)]
    for name, value in {
        "NETHACKOPTIONS": "name:Eve,!autopickup,role:Wizard,pettype:none,nonsense",
        "HACKOPTIONS": "nonsense",
        "USER": "Eve",
        "DEBUGFILES": "*",
    }.items():
        monkeypatch.setenv(name, value)
    assert [seen.observation.digest for seen in play(nethack(3, "@"), ["search"] * 5)] == plain
    assert capfd.readouterr() == ("", "")


def test_where_the_clock_cannot_be_pinned_the_record_says_so(monkeypatch):
    """And NetHack then reads the wall clock: the test above could fail."""
    for module in (library, clock):
        monkeypatch.setattr(module, "jump_to", lambda path, function: None)
    begun = int(time.time())
    end = play(GameSpec(*NETHACK, Seeds(11, 11), max_steps=5), ["search"] * 5)[-1].end
    assert not clock_pinned()
    assert end["clock_pinned"] is False
    assert begun <= end["xlogfile"]["starttime"] <= time.time()


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"no library", id="text"),
        pytest.param(b"\x7fELF\x02\x01" + b"\0" * 12 + b"\x3e\0" + b"\xff" * 80, id="nonsense"),
    ],
)
def test_a_library_of_another_make_is_left_alone(content, tmp_path):
    other = tmp_path / "libnethack.so"
    other.write_bytes(content)
    assert library.jump_to(str(other), b"time") is None
    assert library.jump_to(str(tmp_path / "missing.so"), b"time") is None


def test_pinned_times_stay_within_one_year_in_every_time_zone():
    times = [time_of(seed) for seed in (0, 1, 3_599, 3_600, 2**31, 2**63 - 1)]
    half_a_day = 14 * 3600
    assert all(946_684_800 + half_a_day < time < 978_307_200 - half_a_day for time in times)
    assert len({time_of(seed) for seed in range(1000)}) == 1000


def test_level_seeds_fix_the_levels_below():
    """The same level seed with other dice: the first level's map is the same for a fixed character."""
    games = [
        play(GameSpec(*NETHACK, Seeds(core, core, 99), options={"character": "val-dwa-law-fem"}), [])[
            0
        ].observation.text("map")
        for core in (5, 6)
    ]
    free = [
        play(GameSpec(*NETHACK, Seeds(core, core), options={"character": "val-dwa-law-fem"}), [])[
            0
        ].observation.text("map")
        for core in (5, 6)
    ]

    def walls(text):
        return "".join(sign if sign in "|-+" else " " for sign in text[: 21 * 81])

    assert walls(games[0]) == walls(games[1])
    assert walls(free[0]) != walls(free[1])
