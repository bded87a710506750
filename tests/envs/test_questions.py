"""What is worth looking up or noticing at a moment of NetHack, and what is of every day."""

import pytest

from balrog_rag.contracts.data import Observation, Part
from balrog_rag.envs.nethack import questions as q
from balrog_rag.envs.nethack.conditions import CONDITIONS, HUNGER, LOADS
from balrog_rag.envs.nethack.kind import NETHACK
from balrog_rag.envs.nethack.screen_signals import TERRAIN, NetHackSignals, key_name

SIGNALS = NetHackSignals()
WELL = {"hp": 14, "max_hp": 14, "depth": 3, "turn": 500, "hunger": 1}


def moment(message="", surroundings="", inventory="", numbers=None, screen=""):
    parts = (
        Part("message", message),
        Part("language observation", surroundings),
        Part("map", screen),
        Part("inventory", inventory),
    )
    return Observation(parts, WELL if numbers is None else numbers)


@pytest.mark.parametrize(
    ("message", "news"),
    [
        ("It's a wall.", ""),
        ("You swap places with your kitten.", ""),
        ("The newt bites!", ""),
        ("You kill the newt!", ""),
        ("", ""),
        ("   ", ""),
        ("You feel a strange vibration under your feet.", "You feel a strange vibration under your feet."),
        ("  You hear a door open.  ", "You hear a door open."),
        ("Things that are here:\na dagger", ""),  # a list is for reading, not for looking up
        ("This door is locked.", "This door is locked."),  # known, though it begins like everyday news
        ("You see here a newt corpse.", "You see here a newt corpse."),
    ],
)
def test_a_message_is_news_if_it_is_known_to_matter_or_is_not_of_every_day(message, news):
    assert q.news(message) == news
    assert SIGNALS.news(moment(message)) == news


@pytest.mark.parametrize(
    ("message", "asked"),
    [
        ("You have a hard time getting all of it down. Continue eating? [yn]", "choking"),
        ("There is a newt corpse here; eat it? [yn] (n)", "safe to eat"),
        ("You feel that Tyr is displeased.", "do not pray again"),
        ("You are surrounded by a shimmering light.", "prayer worked"),
        ("Are you sure you want to pray? [yn] (n)", "can I pray now"),
        ("You feel feverish.", "lycanthropy"),
        ("Are you sure? Still climb?", "climb the stairs up on dungeon level 1"),
        ("A trap door opens up under you!", "falling through trap doors"),
        ("Perhaps that's why you cannot move past the boulder.", "boulder that will not move"),
    ],
)
def test_what_a_message_makes_one_ask(message, asked):
    assert any(asked in question for question in q.questions(message, [], WELL))


def test_an_unknown_message_is_asked_for_in_its_own_words_up_to_a_bound():
    assert q.questions("You hear crashing rock.", [], WELL) == ["You hear crashing rock."]
    assert len(q.questions("x" * 500, [], WELL)[0]) == 120


def test_what_kills_comes_before_what_is_in_view_and_each_question_is_asked_once():
    numbers = WELL | {"hp": 3, "hunger": 3}
    found = q.questions("You feel feverish.", ["jackal", "newt", "jackal"], numbers)
    assert found[0].startswith("lycanthropy")
    assert found[-2:] == ["jackal", "newt"]
    assert found.index(q.FOR_HUNGER["Weak"]) < found.index(q.FOR_LOW_HIT_POINTS[0]) < found.index("jackal")


@pytest.mark.parametrize(
    ("numbers", "things", "found"),
    [
        (WELL, [], []),
        (WELL | {"hp": 8}, [], []),
        (WELL | {"hp": 7}, [], list(q.FOR_LOW_HIT_POINTS)),
        ({"hp": 0, "max_hp": 0, "hunger": 4}, [], []),  # a moment without bottom lines says nothing
        ({}, [], []),
        ({"max_hp": 10}, [], []),
        (WELL | {"hunger": 0}, [], [q.FOR_HUNGER["Satiated"]]),
        (WELL | {"hunger": 2}, [], [q.FOR_HUNGER["Hungry"]]),
        (WELL | {"hunger": 99}, [], []),  # beyond the table: Starved, for which nothing helps
        (WELL | {"encumbrance": 1}, [], [q.FOR_LOADS["Burdened"]]),
        (WELL | {"encumbrance": 99}, [], [q.FOR_LOADS["Overloaded"]]),
        (WELL | {"condition": 1 << 5}, [], [q.FOR_CONDITIONS["Blind"]]),
        (WELL | {"condition": 1 << 6}, [], []),  # to be deaf needs no advice
        (WELL | {"condition": 1 | 1 << 8}, [], [q.FOR_CONDITIONS["Stone"], q.FOR_CONDITIONS["Conf"]]),
        (WELL | {"depth": 1, "turn": 150}, [], []),
        (WELL | {"depth": 1, "turn": 151}, [],
         ["still on dungeon level 1, only stairs up and no stairs down found: what now"]),
        (WELL | {"depth": 1}, ["stairs up"],
         ["stairs up on dungeon level 1: never climb them, it leaves the dungeon"]),
        (WELL | {"depth": 2, "turn": 900}, ["stairs up"], []),
    ],
)  # fmt: skip
def test_states_that_should_be_known(numbers, things, found):
    assert q.states(numbers, things) == found


@pytest.mark.parametrize(
    ("turn", "last", "says"),
    [
        (1, None, "not prayed yet, before turn 300"),
        (299, None, "not prayed yet, before turn 300"),
        (300, None, "not prayed yet: what a first prayer mends"),
        (500, 400, "prayed in the last 1000 turns"),
        (1400, 400, "prayed in the last 1000 turns"),
        (1401, 400, "prayed more than 1000 turns ago"),
    ],
)
def test_whether_a_prayer_is_due(turn, last, says):
    assert q.prayer(turn, last).startswith(says)


def test_what_is_carried_has_its_plain_name_and_what_is_used_comes_first():
    inventory = "\n".join(
        [
            "a: 2 uncursed +0 food rations",
            "b: a blessed rusty +1 long sword (weapon in hand)",
            "c: an uncursed greased -1 small shield (being worn)",
            "d: the Amulet of Yendor",
            "e: a scroll named READ ME",
            "",
        ]
    )
    assert q.carried(inventory) == [
        "long sword",
        "small shield",
        "food rations",
        "Amulet of Yendor",
        "scroll",
    ]
    assert q.carried("") == []


def test_things_in_view_are_neither_walls_nor_pets():
    surroundings = "\n".join(
        [
            "vertical wall far east",
            "jackal near north and south",
            "tame kitten adjacent west",
            "stairs down very far southeast",
            "horizontal closed doors near north",
            "newts very near east",
            "bars far west",
        ]
    )
    assert SIGNALS.things(moment(surroundings=surroundings)) == ["jackal", "stairs down", "newts"]
    assert "doorways" in TERRAIN


@pytest.mark.parametrize(
    ("before", "now", "found"),
    [
        ({"hunger": 1}, {"hunger": 2}, ["hunger"]),
        ({"hunger": 2}, {"hunger": 2}, []),
        ({"hunger": 3}, {"hunger": 2}, []),
        ({"hunger": 0}, {"hunger": 1}, []),
        ({"condition": 0}, {"condition": 4}, ["a new ailment"]),
        ({"condition": 4}, {"condition": 4}, []),
        ({"condition": 12}, {"condition": 4}, []),
        ({"condition": 8}, {"condition": 4}, ["a new ailment"]),
        ({"hunger": 1}, {"hunger": 4, "condition": 1}, ["hunger", "a new ailment"]),
    ],
)
def test_ailments_are_those_that_are_new(before, now, found):
    assert SIGNALS.ailments(before, now) == found


@pytest.mark.parametrize(
    ("numbers", "health", "danger"),
    [
        ({"hp": 10, "max_hp": 10}, 1.0, False),
        ({"hp": 4, "max_hp": 10}, 0.4, False),
        ({"hp": 3, "max_hp": 9}, 1 / 3, True),
        ({"hp": 0, "max_hp": 9}, 0.0, True),
        ({"hp": 5, "max_hp": 0}, 1.0, False),
        ({"max_hp": 9}, 1.0, False),
    ],
)
def test_health_is_a_share_and_a_third_of_it_is_danger(numbers, health, danger):
    assert SIGNALS.health(numbers) == pytest.approx(health)
    assert NETHACK.display.danger(numbers) == danger


@pytest.mark.parametrize(
    ("before", "now", "hurt"),
    [
        ({"hp": 5}, {"hp": 4}, True),
        ({"hp": 5}, {"hp": 5}, False),
        ({"hp": 5}, {"hp": 9}, False),
        ({}, {"hp": 1}, False),
    ],
)
def test_to_be_hurt_is_to_have_lost_hit_points(before, now, hurt):
    assert SIGNALS.hurt(before, now) == hurt


def test_a_prayer_is_remembered_by_its_turn_and_asked_about_from_then_on():
    praying = moment("You begin praying to Tyr.")
    assert SIGNALS.deeds(praying) == {"prayer": 500}
    assert SIGNALS.deeds(moment("You finish your prayer.")) == {}
    assert SIGNALS.deeds(moment("You begin praying to Tyr.", numbers={"hp": 1, "max_hp": 9})) == {}
    assert "prayed in the last 1000 turns: praying too soon" in SIGNALS.truth(praying, {"prayer": 500})
    assert "not prayed yet: what a first prayer mends" in SIGNALS.truth(moment(), {})
    assert not [line for line in SIGNALS.truth(moment(numbers={}), {}) if "pray" in line]


@pytest.mark.parametrize(
    ("action", "deed"), [("pray", "prayer"), ("M-p", "M-p, the key for prayer"), ("p", "")]
)
def test_which_action_is_a_deed(action, deed):
    assert SIGNALS.deed(action) == deed


@pytest.mark.parametrize(
    ("key", "name"),
    [
        (27, "ESC"),
        (13, "Enter"),
        (32, "Space"),
        (4, "^D"),
        (106, "j"),
        (0xF0, "M-p"),
        (0x9B, "M-ESC"),
        (127, "\x7f"),
    ],
)
def test_keys_have_names_that_can_be_typed(key, name):
    assert key_name(key) == name
    assert SIGNALS.press(key) == name
    assert SIGNALS.press("north") == "north"


MAP = "line one   \n  @  \nAgent St:18\nDlvl:1 T:5\n"


def test_screens_are_compared_without_the_lines_where_turns_go_on_counting():
    first, later, elsewhere = (moment(screen=MAP.replace("T:5", text)) for text in ("T:5", "T:6", "T:5"))
    assert SIGNALS.screen(first) == SIGNALS.screen(later)
    assert SIGNALS.screen(first) != SIGNALS.screen(moment("Hello", screen=MAP))
    assert SIGNALS.screen(elsewhere) != SIGNALS.screen(moment(screen=MAP.replace("@", ".")))
    assert SIGNALS.map(first) == "line one   \n  @  "


def test_a_map_may_be_trimmed_at_its_ends_or_left_out_with_a_notice_but_for_the_status_lines():
    assert SIGNALS.trimmed(moment(screen=MAP)).text("map") == "line one\n  @\nAgent St:18\nDlvl:1 T:5\n"
    assert SIGNALS.without_map(moment(screen=MAP), "(left out)").text("map") == (
        "(left out)\nAgent St:18\nDlvl:1 T:5\n"
    )


def test_the_bottom_lines_words_are_nethacks_by_its_own_numbers():
    assert (HUNGER[1], LOADS[0]) == ("", "")
    assert (CONDITIONS.index("Blind"), CONDITIONS.index("Ride")) == (5, 12)
    assert SIGNALS.place({"depth": 4}) == 4
    assert (SIGNALS.time({"turn": 7}), SIGNALS.clock({"turn": 7})) == ("turn 7", 7)
