import json
import random

import numpy as np
import pytest

from balrog_rag.contracts.errors import ConfigError, EnvironmentFailure
from balrog_rag.contracts.kinds import kind_of
from balrog_rag.contracts.option_schema import resolved_options
from balrog_rag.contracts.outcome import Outcome
from balrog_rag.envs.nethack.actions import nethack_actions
from balrog_rag.workers.inline import InlineGame
from tests.envs.support import nethack, play

FIELDS = [
    "version",
    "points",
    "deathdnum",
    "deathlev",
    "maxlvl",
    "hp",
    "maxhp",
    "deaths",
    "deathdate",
    "birthdate",
    "uid",
    "role",
    "race",
    "gender",
    "align",
    "name",
    "death",
    "conduct",
    "turns",
    "achieve",
    "realtime",
    "starttime",
    "endtime",
    "gender0",
    "align0",
    "flags",
]


def test_it_is_nethackchallenge_frame_by_frame():
    """NLE's own class, stepped beside ours by the same keys, shows the same arrays and rewards."""
    from nle import nethack as core
    from nle.env.tasks import NetHackChallenge

    theirs = NetHackChallenge(character="@", fix_moon_phase=True)
    core.Nethack.set_initial_seeds(theirs.nethack, 7, 7, False, None)
    seen, _ = theirs.reset()
    ours = InlineGame(nethack(7, "@", skip_more=False, no_progress=0))
    raw = ours._hosted._environment.inner.screen
    keys, places = nethack_actions("full").keys, {int(key): n for n, key in enumerate(theirs.actions)}
    dice = random.Random(1)
    words = [
        "north",
        "south",
        "east",
        "west",
        "far east",
        "far south",
        "search",
        "kick",
        "apply",
        "esc",
        "more",
    ]
    for _ in range(1500):
        word = dice.choice(words)
        (ours_now,) = ours._hosted.play([word])
        seen, reward, done, _, _ = theirs.step(places[keys[word][0]])
        for name in ("glyphs", "blstats", "tty_chars", "tty_cursor", "inv_strs", "inv_letters"):
            assert np.array_equal(seen[name], raw[name]), name
        assert reward == ours_now.reward
        assert done == bool(ours_now.ended)
        if done:
            break
    theirs.close()
    ours._hosted.close()


def test_standing_still_ends_it_as_balrog_counts():
    *_, last = play(nethack(), ["esc"] * 400)
    assert last.ended == Outcome.NO_PROGRESS
    assert (
        len(play(nethack(), ["esc"] * 400)) - 1 == 151
    )  # the first press only sets the turn to compare with
    assert len(play(nethack(no_progress=10), ["search", *["esc"] * 400])) - 1 == 11
    assert len(play(nethack(no_progress=0), ["esc"] * 400)) - 1 == 400


def test_pages_count_as_key_presses():
    assert play(nethack(max_steps=3), ["pray", "y"])[-1].ended == Outcome.STEPS
    assert play(nethack(max_steps=5), ["pray", "y"])[-1].ended == ""
    cut = play(nethack(max_steps=3), ["pray", "y"])[-1]
    assert cut.keys == 2


def test_a_capped_game_is_quit_and_logged():
    *_, before, last = play(nethack(max_steps=30), ["search"] * 40)
    assert last.ended == Outcome.STEPS
    assert last.end["death"] == ""
    assert last.end["xlogfile_from"] == "game"
    assert last.end["xlogfile"]["death"] == "quit"
    assert (
        last.end["xlogfile"]["turns"]
        == last.observation.numbers["turn"]
        == before.observation.numbers["turn"] + 1
    )
    assert "Dlvl:1" in last.observation.text("map"), "the last screen is the game's, not that of quitting"


@pytest.mark.parametrize(
    "open_prompt", [["apply"], ["annotate", "h"], ["travel"], ["inventory"], ["far east", "20"], ["#"]]
)
def test_a_cap_inside_a_prompt_still_yields_the_log_line(open_prompt):
    presses = sum(2 if word.isdigit() else 1 for word in open_prompt)
    *_, last = play(nethack(max_steps=presses), [*open_prompt, "esc"])
    assert last.ended == Outcome.STEPS
    assert last.end["xlogfile_from"] == "game"


def test_a_death_is_told_in_nethacks_words_with_true_numbers():
    *_, before, last = play(nethack(1, "tou-hum-neu-fem"), ["20", "s"] * 1500)
    assert last.ended == Outcome.DIED
    assert set(last.end["xlogfile"]) == set(FIELDS)
    assert last.end["death"].startswith(("killed by ", "died of ", "starved"))
    assert last.end["death"] == last.end["xlogfile"]["death"]
    stats = last.observation.numbers
    assert stats["turn"] == last.end["xlogfile"]["turns"] >= before.observation.numbers["turn"] > 1
    assert (stats["max_hp"], stats["depth"]) == (last.end["xlogfile"]["maxhp"], 1)
    assert "You die" in last.observation.text("message")
    assert "Agent-Tou-Hum-Fem-Neu" in last.observation.text("map")
    assert last.observation.text("language observation") == before.observation.text("language observation")
    assert last.observation.text("inventory")
    assert all(kind and count > 0 for kind, count in last.end["kills"].items())
    json.dumps(last.end)


def test_leaving_the_dungeon():
    *_, last = play(nethack(3, "@"), ["up", "y"])
    assert last.ended == Outcome.ESCAPED
    assert last.end["death"] == ""
    assert last.end["xlogfile"]["death"] == "escaped"
    assert "foodless" in last.end["conducts"]


def test_quitting_by_hand():
    *_, last = play(nethack(), ["#", *"quit", "more", "y"])
    assert last.ended == Outcome.QUIT
    assert last.observation.numbers["max_hp"] > 0


def test_saving_is_not_leaving():
    assert play(nethack(), ["S", "y", "search"])[-1].ended == ""


def test_a_game_that_is_over_takes_no_action():
    game = InlineGame(nethack(max_steps=1))
    game._hosted.play(["search"])
    with pytest.raises(EnvironmentFailure, match="the game is over"):
        game._hosted.step("search")
    game._hosted.close()


def test_an_unaccepted_action_is_refused():
    with pytest.raises(EnvironmentFailure, match="'fly' is not an accepted action"):
        play(nethack(), ["fly"])


def test_autopickup_can_be_switched():
    assert "scroll" in play(nethack(), ["north", "west"])[-1].observation.text("message")
    seen = play(nethack(autopickup=False), ["north", "west"])[-1].observation
    assert "You see here" in seen.text("message")
    assert seen.text("inventory") == play(nethack(), [])[0].observation.text("inventory")


@pytest.mark.parametrize("character", ["@", "wiz-elf-cha-fem", "arc-gno-neu-mal", "pri-hum-cha-mal"])
def test_any_character(character):
    (start,) = play(nethack(5, character), [])
    names = {"wiz": "Wizard", "arc": "Archeologist", "pri": "Priest"}
    assert names.get(character[:3], "") in start.observation.text("message")


def test_recordings_lie_where_they_are_wanted(tmp_path):
    recording = tmp_path / "game.0.ttyrec3.bz2"
    play(nethack(max_steps=20), ["search"] * 20, str(recording))
    assert recording.stat().st_size > 500
    line = (tmp_path / "game.xlogfile").read_text()
    assert line.rstrip().endswith("ttyrecname=game.0.ttyrec3.bz2")


def test_unknown_options_are_refused():
    kind = kind_of("nle")
    with pytest.raises(ConfigError, match=r"env.caracter: no such option of nle; did you mean character"):
        resolved_options(kind, {"caracter": "@"}, [kind])
    with pytest.raises(ConfigError, match=r"env.layout=picture: no such value; valid names: hybrid"):
        resolved_options(kind, {"layout": "picture"}, [kind])
    assert (
        resolved_options(kind, {"des_file": "x", "nle": {"layout": "image"}}, [kind, kind_of("minihack")])[
            "layout"
        ]
        == "image"
    )


def test_a_game_that_asks_for_a_name_before_its_first_move_begins():
    """This hero stands on a scroll of scare monster: it turns to dust, and the game asks for its name."""
    start, after = play(nethack(713336358, "@"), ["wait"])
    assert "Call" not in start.observation.screen
    assert dict(after.observation.numbers)["turn"] > dict(start.observation.numbers)["turn"]
