"""A moment in NetPlay's words, and what is told of a game as it goes on."""

import pytest

from balrog_rag.envs.nethack.alarm import Alarm
from balrog_rag.envs.nethack.world import describe
from balrog_rag.envs.nethack.world import terrain as t
from balrog_rag.envs.nethack.world.describe import CLOSE, compass
from balrog_rag.envs.nethack.world.level import Place
from balrog_rag.envs.nethack.world.tracker import MOST_TURNS, Tracker
from tests.envs.drawn import Drawn, at, ground, monster, thing


def tracked(shown):
    return Tracker(shown.arrays)


def told(tracker):
    """The parts of the moment by name."""
    return {part.name: part.text for part in describe.parts(tracker)}


def kinds_of(tracker):
    return [each.kind for each in tracker.take_events()]


ROOM = ["|.....|   ", "|.@...+   ", "|.....|   "]


@pytest.mark.parametrize(
    ("dx", "dy", "words"),
    [
        (0, -3, "north"), (5, 0, "east"), (0, 1, "south"), (-2, 0, "west"), (3, 3, "south-east"),
        (-3, 3, "south-west"), (4, -2, "north-east"), (5, -2, "east"), (2, -5, "north"), (1, 2, "south-east"),
        (1, 3, "south"),
    ],
)  # fmt: skip
def test_a_direction_is_one_of_eight(dx, dy, words):
    assert compass(t.spot(20, 10), t.spot(20 + dx, 10 + dy)) == words


def test_the_room_with_the_player_is_first_and_an_empty_one_says_so():
    found = told(tracked(Drawn("|.....|   ###", "|.@...'#### ", "|..<..|     ")))["rooms"].split("\n")
    assert found[0] == "You are in room 0. It contains:"
    assert "- stairs up at (4, 3), reachable in 1 step" in found
    corridor = next(line for line in found if line.startswith("corridor"))
    assert "reachable in" in corridor
    assert "- open door at (7, 2), reachable in 4 steps" in found[found.index(corridor) :]
    empty = told(tracked(Drawn("|.@.|")))["rooms"].split("\n")
    assert empty == ["You are in room 0. It contains:", "- no objects or features"]


def test_a_thing_lies_on_the_ground_that_is_worth_naming_too():
    shown = Drawn("|.@>.|")
    tracker = tracked(shown)
    shown.put(4, 1, thing("dagger"))
    tracker.see()
    assert "- dagger and stairs down at (4, 1), reachable in 1 step" in told(tracker)["rooms"]


def test_what_lies_under_ones_feet_is_reached_in_no_step():
    shown = Drawn("|.>..|")
    tracker = tracked(shown)
    shown.number(x=3, y=1)
    shown.put(3, 1, monster("human"))
    tracker.see()
    assert "- stairs down at (3, 1), reachable in 0 steps" in told(tracker)["rooms"]


@pytest.mark.parametrize(
    ("far", "part", "line"),
    [
        (1, "close monsters", "- newt at (3, 1), 1 step east"),
        (CLOSE, "close monsters", f"- newt at (12, 1), {CLOSE} steps east"),
        (CLOSE + 1, "distant monsters", f"- newt at (13, 1), reachable in {CLOSE + 1} steps"),
    ],
)
def test_a_monster_is_close_within_ten_steps_of_the_way(far, part, line):
    shown = Drawn(" @" + "." * 20)
    shown.put(2 + far, 1, monster("newt"))
    found = told(tracked(shown))
    assert found[part] == line
    assert ("close monsters" in found) != ("distant monsters" in found)


def test_a_monster_to_which_no_way_leads_is_distant_and_the_unseen_and_the_tame_are_named_so():
    shown = Drawn("@.  .", "     ", "    .")
    shown.put(5, 1, monster("newt"))
    shown.put(2, 1, monster("kitten", "PET"))
    shown.put(5, 3, monster("jackal", "DETECT"))
    found = told(tracked(shown))
    assert found["close monsters"] == "- tame kitten at (2, 1), 1 step east"
    assert found["distant monsters"].split("\n") == [
        "- newt at (5, 1), currently unreachable",
        "- unseen monster at (5, 3), currently unreachable",
    ]


def test_prayers_and_whether_monsters_are_avoided_are_told():
    shown = Drawn("|.@.|", turn=100)
    tracker = tracked(shown)
    assert told(tracker)["you"] == ("You are at (3, 1).\navoid_monster is false.\nYou have not prayed yet.")
    shown.say("You begin praying to Tyr.")
    tracker.see()
    shown.say()
    shown.number(turn=150)
    tracker.see()
    tracker.avoiding = True
    assert told(tracker)["you"].endswith("avoid_monster is true.\nYou prayed 50 turns ago.")


def test_what_is_left_to_explore_and_what_is_in_the_way_of_it():
    closed = [" ------- ", " |.....| ", " |.@...+ ", " |.....| ", " ------- "]
    shown = Drawn(*closed)
    assert told(tracked(shown))["exploration"].split("\n") == [
        "room 0 can be explored further.",  # there is something behind the door
        "A closed door at (8, 3) leads out of room 0.",
    ]
    shown.put(8, 3, ground("|"))
    assert told(tracked(shown))["exploration"].startswith(
        "Nothing is left to explore, but there may be hidden"
    )
    shown.put(8, 3, ground("o"))
    assert "room 0 can be explored further." in told(tracked(shown))["exploration"]
    shown.put(8, 3, thing("boulder"))
    assert "A boulder at (8, 3) blocks the way in room 0." in told(tracked(shown))["exploration"]


def test_a_question_or_a_menu_is_a_part_of_the_moment_only_while_it_waits():
    shown = Drawn("|.@.|")
    tracker = tracked(shown)
    assert "popup" not in told(tracker)
    shown.say("Really attack the newt?", question=True)
    tracker.see()
    assert told(tracker)["popup"] == "The game waits for an answer: Really attack the newt?"


def test_events_are_told_once():
    shown = Drawn("|.@.|")
    tracker = tracked(shown)
    shown.number(level=2, depth=2, turn=2)
    tracker.see()
    assert "Changed dungeon level from (0, 1) to (0, 2)." in told(tracker)["events"]
    assert "events" not in told(tracker)


@pytest.mark.parametrize(
    ("change", "kind", "text"),
    [
        ({"level": 2}, "level", "Changed dungeon level from (0, 1) to (0, 2)."),
        ({"branch": 2}, "level", "Changed dungeon level from (0, 1) to (2, 1)."),
        ({"x": 5}, "teleport", "Teleported from (3, 2) to (5, 2)."),
        ({"x": 4, "y": 3}, None, None),
        ({"hp": 3}, "health", "Health is low."),
        ({"hp": 4}, None, None),
    ],
)
def test_what_stops_a_skill(change, kind, text):
    shown = Drawn(*ROOM)
    tracker = tracked(shown)
    tracker.begin()
    shown.number(turn=2, **change)
    if "x" in change:
        shown.put(3, 2, ground("."))
        shown.put(change["x"], change.get("y", 2), monster("human"))
    tracker.see()
    found = [each for each in tracker.take_events() if each.kind not in ("room",)]
    assert [(each.kind, each.text) for each in found] == ([(kind, text)] if kind else [])
    assert tracker.interrupt() == (text or "")
    assert tracker.interrupt() == "", "it is said once"


def test_health_that_was_low_before_does_not_stop_anybody_again():
    shown = Drawn(*ROOM, hp=3)
    tracker = tracked(shown)
    for hp in (2, 3, 5, 3):
        shown.number(hp=hp)
        tracker.see()
    assert kinds_of(tracker).count("health") == 1


@pytest.mark.parametrize(
    ("column", "value", "text"),
    [(3, 18, "Gained 8 strength."), (7, 9, "Lost 1 wisdom."), (8, 10, None)],
)
def test_attributes_that_change_are_told_and_stop_nobody(column, value, text):
    shown = Drawn(*ROOM)
    stats = shown.arrays["blstats"]
    stats[3:9] = 10
    tracker = tracked(shown)
    stats[column] = value
    tracker.see()
    found = [each for each in tracker.take_events() if each.kind == "attribute"]
    assert [each.text for each in found] == ([text] if text else [])
    assert not any(each.stops for each in found)


@pytest.mark.parametrize(
    ("glyph", "text"),
    [
        (monster("newt"), "A newt appeared at (4, 1)."),
        (monster("acid blob"), "An acid blob appeared at (4, 1)."),
        (thing("dagger"), "A dagger appeared at (4, 1)."),
        (monster("newt", "BODY"), "A newt corpse appeared at (4, 1)."),
        (ground(">"), "A stairs down appeared at (4, 1)."),
        (ground("{"), "A fountain appeared at (4, 1)."),
        (ground("<"), None),
        (monster("kitten", "PET"), None),
        (ground("+"), None),
    ],
)
def test_what_is_news_when_it_comes_into_view(glyph, text):
    shown = Drawn(*ROOM)
    tracker = tracked(shown)
    shown.put(4, 1, glyph)
    tracker.see()
    assert [each.text for each in tracker.take_events() if each.kind == "thing"] == ([text] if text else [])


@pytest.mark.parametrize(("away", "again"), [(1, False), (9, False), (10, True)])
def test_what_was_in_view_is_not_news_again_for_ten_turns(away, again):
    shown = Drawn(*ROOM, turn=1)
    tracker = tracked(shown)
    shown.put(4, 1, monster("newt"))
    tracker.see()
    shown.put(4, 1, ground("."))
    shown.number(turn=2)
    tracker.see()
    tracker.take_events()
    shown.put(5, 1, monster("newt"))
    shown.number(turn=2 + away)
    tracker.see()
    assert ("thing" in kinds_of(tracker)) == again


def test_what_is_in_view_on_arrival_at_another_level_is_not_news():
    shown = Drawn(*ROOM)
    tracker = tracked(shown)
    shown.number(level=2, turn=2)
    shown.put(4, 1, monster("newt"))
    tracker.see()
    assert "thing" not in kinds_of(tracker)
    shown.number(turn=3)
    shown.put(5, 1, monster("jackal"))
    tracker.see()
    assert "thing" in kinds_of(tracker)


def test_a_page_of_text_is_waited_out_before_anything_is_compared():
    shown = Drawn(*ROOM)
    tracker = tracked(shown)
    shown.say("You fall through a trap door!--More--", page=True)
    shown.number(level=2, turn=2)
    tracker.see()
    assert tracker.take_events() == []
    shown.say()
    tracker.see()
    assert "level" in kinds_of(tracker)


@pytest.mark.parametrize(("turns", "stopped"), [(MOST_TURNS - 1, False), (MOST_TURNS, True)])
def test_a_skill_is_stopped_after_a_hundred_turns_and_only_while_it_is_at_work(turns, stopped):
    shown = Drawn(*ROOM, turn=5)
    tracker = tracked(shown)
    tracker.begin()
    shown.number(turn=5 + turns)
    tracker.see()
    assert ("turns" in kinds_of(tracker)) == stopped
    tracker.begin()
    tracker.end()
    shown.number(turn=5 + 3 * MOST_TURNS)
    tracker.see()
    assert "turns" not in kinds_of(tracker)


def test_an_interruption_of_these_kinds_is_asked_for_once_and_forgotten():
    shown = Drawn(*ROOM)
    tracker = tracked(shown)
    tracker.begin()
    shown.number(level=2, turn=2)
    tracker.see()
    assert not tracker.interrupted({"thing"})
    assert not tracker.interrupted({"level"}), "asking forgets them all"


@pytest.mark.parametrize(
    ("message", "locked"),
    [("This door is locked.", True), ("The door opens.", False), ("", False)],
)
def test_a_door_is_known_to_be_locked_if_it_was_tried(message, locked):
    shown = Drawn(*ROOM)
    tracker = tracked(shown)
    tracker.player.tried = at(6, 1)
    shown.say(message)
    tracker.see()
    assert ((Place(0, 1), at(6, 1)) in tracker.locked) == locked
    tracker.player.tried = None
    shown.say("This door is locked.")
    tracker.see()
    assert len(tracker.locked) == locked


def test_a_door_beside_us_that_was_unlocked_is_locked_no_more():
    shown = Drawn(*ROOM)
    tracker = tracked(shown)
    beside, elsewhere = (Place(0, 1), at(3, 0)), (Place(0, 1), at(6, 1))
    tracker.locked = {beside, elsewhere}
    shown.say("You succeed in unlocking the door.")
    tracker.see()
    assert tracker.locked == {elsewhere}


def test_a_lock_that_did_not_give_way_stays_locked():
    shown = Drawn(*ROOM)
    tracker = tracked(shown)
    tracker.locked = {(Place(0, 1), at(3, 0))}
    shown.say("You fail to pick the lock.")
    tracker.see()
    assert len(tracker.locked) == 1


@pytest.mark.parametrize(
    ("said", "swallowed", "pressed"),
    [
        ({"message": ""}, False, "#te\r\x1b\x1b\x1b"),
        ({"message": "Really attack?", "question": True}, False, ""),  # the keys would answer it
        ({"message": "Call it:", "text": True}, False, ""),
        ({"message": ""}, True, ""),
    ],
)
def test_the_map_without_monsters_is_looked_at_only_while_the_game_waits_for_nothing(
    said, swallowed, pressed
):
    shown = Drawn(*ROOM)
    tracker = tracked(shown)
    shown.say(**said)
    tracker.see()
    tracker.player.world.swallowed = swallowed
    keys: list[int] = []
    tracker.look_under(keys.append)
    assert "".join(map(chr, keys)) == pressed
    assert not tracker.quiet


def test_new_rooms_and_places_that_turn_out_to_be_one_are_told():
    shown = Drawn("|@.  ..|")
    tracker = tracked(shown)
    shown.draw("|@.....|")
    tracker.see()
    texts = [each.text for each in tracker.take_events()]
    assert texts == ["The places 0, 1 are one and the same, now number 0."]
    shown.put(3, 8, ground("#"))
    tracker.see()
    assert [each.text for each in tracker.take_events()] == ["Found a new corridor with number 2."]


def test_the_zeros_of_a_game_that_is_over_are_no_fall_in_health():
    shown = Drawn(*ROOM)
    tracker = tracked(shown)
    shown.arrays["blstats"][:] = 0
    tracker.see()
    assert tracker.take_events() == []


def alarmed(*changes):
    """What an alarm says after each of these changes."""
    shown, alarm = Drawn("|.@...|"), Alarm()
    said = []
    for change in ({}, *changes):
        for name, value in change.items():
            if name == "put":
                shown.put(*value)
            else:
                shown.number(**{name: value})
        said.append(alarm.event(shown.arrays))
    return said


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ([{}], [""]),
        ([{"hp": 7}], ["hit points fell from 10 to 7"]),
        ([{"hp": 12}], [""]),
        ([{"depth": 2}], ["this is another level"]),
        ([{"hunger": 2}], ["hunger"]),
        ([{"hunger": 2}, {}], ["hunger", ""]),
        ([{"hunger": 2}, {"hunger": 3}], ["hunger", "hunger"]),
        ([{"hunger": 0}], [""]),
        ([{"hunger": 3}, {"hunger": 2}], ["hunger", ""]),
        ([{"put": (5, 1, monster("newt"))}], ["newt came into view"]),
        ([{"put": (5, 1, monster("newt"))}, {"put": (4, 1, monster("newt"))}], ["newt came into view", ""]),
        ([{"put": (5, 1, monster("kitten", "PET"))}], [""]),
        ([{"put": (5, 1, thing("dagger"))}], [""]),
        ([{"hp": 9, "depth": 2, "hunger": 2}], ["hit points fell from 10 to 9"]),
        ([{"depth": 2, "hunger": 2}, {}], ["this is another level", ""]),
    ],
)
def test_what_interrupts_a_program(changes, said):
    assert alarmed(*changes) == ["", *said]


def test_a_monster_that_was_out_of_sight_for_a_moment_is_news_again():
    newt, floor = monster("newt"), ground(".")
    said = alarmed({"put": (5, 1, newt)}, {"put": (5, 1, floor)}, {"put": (5, 1, newt)})
    assert said == ["", "newt came into view", "", "newt came into view"]
