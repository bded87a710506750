"""Every event that is reported, and every one that stops a skill, in real games on test levels."""

import pytest

from balrog_rag.contracts.data import ProgramPlayer
from tests.bots.netplay.made import HOUSE, ROOM, made

LOOP = """MAP
-------####
|......   #
|.....|   #
|.....|   #
|......####
-------####
ENDMAP
REGION:(1,1,4,4),lit,"ordinary"
NON_DIGGABLE:(0,0,10,5)
BRANCH:(1,1,1,1),(0,0,0,0)
""".replace("-------####", "-------    ", 1).replace("|......   #", "|......####", 1)


def test_a_fall_to_another_level_stops_a_skill() -> None:
    game = made(ROOM + 'TRAP:"hole",(5,2)\n')
    x, y = game.at("hole") if "hole" in game.part("rooms") else (game.here[0] + 4, game.here[1] + 1)
    assert game.do(f"move_to {x} {y}").startswith("interrupted: Changed dungeon level from (0, 1) to (0, 2).")
    assert "Changed dungeon level" in game.part("events")
    assert "appeared" not in game.part("events")


def test_a_teleport_stops_a_skill() -> None:
    game = made(ROOM + 'TRAP:"teleport",(3,1)\n', seed=2)
    x, y = game.here
    assert game.do(f"move_to {x + 2} {y}").startswith(f"interrupted: Teleported from ({x + 1}, {y}) to (")


def test_what_comes_into_view_stops_a_skill_once() -> None:
    game = made(
        HOUSE.format(door="closed")
        + "MONSTER:('F',\"lichen\"),(8,1),asleep\nOBJECT:('[',\"plate mail\"),(9,3)\n"
    )
    told = game.do("explore_level")
    assert "A lichen appeared at" in told
    assert "A plate mail appeared at" in told
    assert "appeared" not in game.do("rest 2")


def test_on_request_only_monsters_that_come_into_view_stop_a_skill() -> None:
    things = "OBJECT:('[',\"plate mail\"),(9,3)\n"
    game = made(HOUSE.format(door="closed") + things, stop_for_things=False)
    assert "has been running" in game.do("explore_level")
    assert "A plate mail appeared at" in game.part("events")
    game = made(
        HOUSE.format(door="closed") + things + "MONSTER:('F',\"lichen\"),(8,1),asleep\n",
        stop_for_things=False,
    )
    told = game.do("explore_level")
    assert "A lichen appeared at" in told
    assert "plate mail" not in told


def test_the_cursor_counts_rows_as_skills_do() -> None:
    game = made(ROOM)
    x, y = game.here
    assert f"You are at ({x}, {y})." in game.part("you")
    assert game.part("cursor").endswith(f"(x={x}, y={y})")
    keys = made(ROOM, actions="full", more_skills=False)  # the screen's rows, as in BALROG
    assert keys.part("cursor").endswith(f"(x={x}, y={y + 1})")


def test_pets_are_no_news() -> None:
    game = made(HOUSE.format(door="closed") + "MONSTER:('d',\"jackal\"),(8,1),asleep\n")
    assert "jackal" not in game.part("events")


def test_low_health_stops_a_skill_and_attributes_do_not() -> None:
    game = made(ROOM + 'TRAP:"land mine",(5,2)\n', character="wiz-elf-cha-mal", seed=3)
    x, y = game.here
    told = game.do(f"move_to {x + 4} {y + 1}")
    events = game.part("events")
    assert "Health is low." in events
    assert "Health is low." in told
    assert "Lost" in events
    assert "Lost" not in told


def test_gained_attributes_are_told() -> None:
    game = made(ROOM + "OBJECT:('!',\"gain ability\"),(1,1),blessed\n")
    for action in ("pickup", "press_key ,", "press_key ENTER"):
        game.do(action)
    letter = next(line[0] for line in game.part("inventory").splitlines() if "potion" in line)
    assert game.do(f"drink {letter}") == "done"
    assert "Gained 1 strength." in game.part("events")


def test_rooms_and_corridors_are_numbered_and_joined() -> None:
    game = made(LOOP)
    x, y = game.here
    assert "You are in room 0." in game.part("rooms")
    game.do(f"move_to {x + 5} {y}")
    assert "Found a new corridor with number 1." in game.part("events")
    game.do(f"move_to {x + 5} {y + 3}")
    assert "Found a new corridor with number 2." in game.part("events")
    told = game.do("explore_room 1")
    assert "The places 1, 2 are one and the same, now number 1." in game.part("events"), told
    assert "corridor 2" not in game.part("rooms")
    assert game.do("go_to 2").startswith(("arrived in corridor 1", "you are in corridor 1"))
    assert game.do("go_to 0") == "arrived in room 0"


def test_a_popup_fails_a_skill_that_walks_and_leaves_the_popup_open() -> None:
    game = made(ROOM + "MONSTER:('h',\"dwarf\"),(2,1),peaceful,asleep\n")
    x, y = game.here
    assert game.do(f"move_to {x + 1} {y}").startswith(
        "failed: cannot handle the popup. The game waits for an answer: Really attack"
    )
    assert "Really attack" in game.part("popup")
    assert game.do("rest").startswith(
        "failed: the game waits for an answer, and only press_key and type_text"
    )
    assert game.do("press_key n") == "pressed n"
    assert game.part("popup") == ""
    assert game.do("rest 1") == "rested for 1 turn"


@pytest.mark.parametrize("skill", ["explore_level", "rest 500"])
def test_a_skill_is_stopped_after_a_hundred_turns(skill: str) -> None:
    game = made(ROOM)
    turn = game.number("turn")
    assert "The skill has been running for" in game.do(skill)
    assert 100 <= game.number("turn") - turn < 112


def test_calls_that_take_no_time_end_the_game() -> None:
    game = made(ROOM)
    for _ in range(9):
        game.do("set_avoid_monster_flag true")
        assert not game.last.ended
    game.do("press_key ESC")
    assert game.last.ended == "no_progress"
    game = made(ROOM, no_progress_calls=0)
    for _ in range(20):
        game.do("set_avoid_monster_flag false")
    assert not game.last.ended


def test_a_player_who_does_nothing_is_ended() -> None:
    game = made(ROOM, no_progress=150)
    done = game.game.run(ProgramPlayer("random", {}, 0), 4096)
    assert (done.ended, set(done.pressed), done.count) == ("no_progress", {"nothing"}, 150)
