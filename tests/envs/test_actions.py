import pytest
from nle.nethack import ACTIONS, USEFUL_ACTIONS, Command, CompassDirection, CompassDirectionLonger

from balrog_rag.envs.nethack.actions import (
    NETHACK_WORDS,
    REFUSED_BY_BALROG,
    minihack_actions,
    nethack_actions,
)
from balrog_rag.workers.inline import InlineGame
from tests.envs.support import minihack, nethack, play


def test_the_full_set_advertises_eighty_words_and_takes_all_of_them():
    actions = nethack_actions("full")
    assert len(actions.advertised) == 80
    assert set(actions.advertised) <= set(actions.keys)
    assert all(actions.advertised.values())
    assert {*"abcxyzABCXYZ", *"<>_*?$.,;:!@#=+-'\"()[]{}/\\^&|~%", "esc", "space", "more"} <= set(
        actions.keys
    )
    assert {str(n) for n in range(100)} <= set(actions.keys)


def test_balrogs_set_is_exactly_balrogs():
    actions = nethack_actions("balrog")
    words = {name for name in actions.keys if len(name) > 1 and not name.isdigit()}
    assert len(actions.keys) == 248
    assert {actions.keys[word][0] for word in words} == {int(key) for key in USEFUL_ACTIONS}
    assert len(words) == 86
    assert set(actions.advertised) - set(actions.keys) == REFUSED_BY_BALROG
    assert len(words - set(actions.advertised)) == 22
    assert {f"{n:02}" for n in range(100)} <= set(actions.keys)
    assert not set(actions.keys) & set("<>_*?$.")


@pytest.mark.parametrize(
    ("word", "key"),
    [
        ("far east", CompassDirectionLonger.E),
        ("northwest", CompassDirection.NW),
        ("kick", Command.KICK),
        ("pray", Command.PRAY),
        ("annotate", Command.ANNOTATE),
        ("overview", Command.OVERVIEW),
        ("teleport", Command.TELEPORT),
        ("travel", Command.TRAVEL),
        ("esc", Command.ESC),
        ("takeoffall", Command.TAKEOFFALL),
    ],
)
def test_words_press_the_keys_of_nles_own_table(word, key):
    assert NETHACK_WORDS[word].key == int(key)
    assert int(key) in {int(known) for known in ACTIONS}


@pytest.mark.parametrize("kind", ["full", "balrog"])
def test_every_accepted_answer_can_be_played(kind):
    spec = nethack(actions=kind, no_progress=0, max_steps=10**6)
    game = InlineGame(spec)
    try:
        for answer in sorted(game.view.accepted):
            for action in (answer, "esc", "esc"):
                (transition,) = game._hosted.play([action])
                assert not transition.ended, f"{answer} ended the game: {transition.ended}"
                assert not transition.instead
    finally:
        game._hosted.close()


def test_travel_goes_to_the_stairs():
    before, *_, after = play(nethack(), ["north", "west", "travel", "<", "."])
    assert "staircase up" in play(nethack(), ["north", "west", "travel", "<"])[-1].observation.text("message")
    away = play(nethack(), ["north", "west"])[-1].observation.numbers
    there = after.observation.numbers
    assert (
        (there["x"], there["y"])
        == (before.observation.numbers["x"], before.observation.numbers["y"])
        != (away["x"], away["y"])
    )


def test_a_number_of_two_digits_is_a_count():
    transitions = play(nethack(), ["20", "s"])
    assert transitions[1].keys == 2
    assert transitions[2].observation.numbers["turn"] == transitions[0].observation.numbers["turn"] + 20


def test_a_level_can_be_named_and_the_overview_shows_it():
    last = play(nethack(), ["annotate", "h", "i", "more", "overview"])[-1]
    assert '"hi"' in last.observation.text("message")


def test_a_prompt_takes_its_sign():
    transitions = play(nethack(), ["wield", "*"])
    assert "What do you want to wield? [" in transitions[1].observation.text("message")
    assert "long sword" in transitions[2].observation.text("message")


@pytest.mark.parametrize(
    ("task", "count", "more"),
    [
        ("MazeWalk-9x9", 8, False),
        ("CorridorBattle-Dark", 8, False),
        ("Corridor-R3", 11, True),
        ("Quest-Easy", 32, True),
    ],
)
def test_minihack_offers_what_its_task_has(task, count, more):
    game = InlineGame(minihack(task))
    game._hosted.close()
    assert len(game.view.actions) == count
    assert (len(game.view.accepted) > count) == more
    assert game.view.default_action == "north"


def test_minihack_as_balrog_accepts_what_it_offers():
    game = InlineGame(minihack("Quest-Easy", actions="balrog"))
    game._hosted.close()
    assert game.view.accepted == frozenset(game.view.actions)


def test_minihack_takes_a_letter_only_where_one_is_asked_for():
    transitions = play(
        minihack("LavaCross-Levitate-Ring-Inv-Restricted", character="cav-hum-neu-mal"), ["Z", "puton", "Z"]
    )
    assert transitions[1].instead == "north"
    assert "What do you want to put on? [" in transitions[2].observation.text("message")
    assert transitions[3].instead == ""
    assert "You don't have that object." in transitions[3].observation.text("message")


def test_minihack_order_is_the_tasks():
    actions = minihack_actions("full", [ord("l"), ord("k"), ord("z")])
    assert list(actions.advertised) == ["east", "north", "zap"]
