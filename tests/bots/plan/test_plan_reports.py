"""What the skills of a plan say when they cannot do something: true, and enough to choose the next call."""

import pytest

from tests.bots.netplay.made import ROOM
from tests.bots.plan.debug_game import debug_game
from tests.bots.plan.made_plan import planned
from tests.bots.plan.test_plan_items import RIVER

WEAK = 3
PASSAGE = """MAP
---------------
|....|   |....|
|....-----....|
|.............|
|....-----....|
|....|   |....|
---------------
ENDMAP
REGION:(0,0,14,6),lit,"ordinary"
NON_DIGGABLE:(0,0,14,6)
BRANCH:(1,1,1,1),(0,0,0,0)
"""


def test_what_was_refused_is_not_called_eaten_or_done() -> None:
    game = planned(ROOM)
    assert game.do("eat a").startswith("failed: katana: You ")
    game = planned(ROOM + "OBJECT:('`',\"statue\"),(2,1)\n", "val-hum-neu-fem")
    game.do("move_to 2 1")
    assert game.do("loot") == "failed: no container is known on this level, and none is underfoot"


def test_a_position_without_stairs_is_refused_and_one_with_a_trap_door_taken() -> None:
    game = planned(ROOM + 'STAIR:(8,1),down\nTRAP:"hole",(5,2)\n')
    x, y = game.here
    stairs = f"({x + 7}, {y})"
    assert game.do(f"down {x + 1} {y + 1}") == (
        f"failed: there are no stairs down at ({x + 1}, {y + 1}), but at {stairs}"
    )
    assert game.last.keys == 0
    assert "hole at" in game.part("rooms")
    assert game.do(f"down {x + 4} {y + 1}").startswith("fell to Dlvl 2")


def test_stairs_to_which_no_way_is_known_are_named() -> None:
    game = planned(RIVER + "STAIR:(8,2),down\n")
    x, y = game.here
    assert game.do("down") == (
        f"failed: no way to the stairs down at ({x + 7}, {y + 1}) is known; explore_level may find one"
    )


def test_a_weak_hero_is_told_why_strike_does_not_fight() -> None:
    jackals = "".join(f"MONSTER:('d',\"jackal\"),({x},3),hostile\n" for x in (5, 6, 7))
    game = planned(ROOM + jackals, "wiz-hum-neu-fem")
    for _ in range(60):
        if game.number("hp") * 2 < game.number("max_hp"):
            break
        game.do("rest 1")
    hp, most = game.number("hp"), game.number("max_hp")
    told = game.do("strike")
    assert told.startswith(f"failed: {hp} of {most} hit points are left, less than half; retreat")
    assert game.last.keys == 0


def test_what_must_not_be_touched_is_left_with_the_reason() -> None:
    """A Healer carries nothing to throw."""
    game = planned(ROOM + "MONSTER:('e',\"floating eye\"),(8,2),asleep\n", "hea-hum-neu-fem")
    x, y = game.at("floating eye")
    assert game.do("strike").startswith(f"failed: touching the floating eye at ({x}, {y}) can be fatal")


def test_what_is_far_off_or_never_moves_is_named_and_not_fought() -> None:
    game = planned(PASSAGE + "MONSTER:('F',\"lichen\"),(13,3),asleep\n")
    x, y = game.here
    game.do(f"move_to {x} {y + 2}")
    told = game.do("strike")
    assert told == f"no enemy to fight is within 8 squares; lichen at ({x + 12}, {y + 2}), 12 squares away"
    game = planned(ROOM + "MONSTER:('F',\"yellow mold\"),(6,2)\n")
    x, y = game.at("yellow mold")
    assert game.do("strike").endswith(f"; yellow mold at ({x}, {y}), 5 squares away, stays where it is")
    assert game.number("turn") == 1
    told = game.do(f"move_to {x} {y}")
    assert told.startswith(f"failed: yellow mold at ({x}, {y}), 1 square away, stands there; melee_attack")


@pytest.mark.slow
def test_a_weak_hero_who_could_pray_may_eat_a_fresh_corpse_instead() -> None:
    with debug_game() as game:
        game.press("d", next(item.letter for item in game.world.items if "ration" in item.name))
        while game.number("hunger") < WEAK:
            game.press("500s")
        told = ""
        for _ in range(20):
            game.create("jackal")
            game.do("strike")
            told = game.do("eat")
            if told.startswith("ate a fresh corpse"):
                break
        assert told.startswith("ate a fresh corpse")
        assert "You finish eating" in told or "jackal corpse" in told


def test_nothing_but_missiles_is_thrown_unless_it_is_named() -> None:
    game = planned(ROOM + "MONSTER:('F',\"lichen\"),(7,1),asleep\n", "hea-hum-neu-fem")
    x, y = game.at("lichen")
    assert game.do(f"throw_at {x} {y}").startswith("failed: you carry no missiles")
    assert game.do(f"throw_at {x} {y} a").startswith("threw a at the lichen")


def test_the_welcome_to_another_experience_level_is_no_shopkeepers() -> None:
    game = planned(ROOM + "MONSTER:('S',\"python\"),(3,2),hostile,asleep\n", "val-hum-neu-fem")
    x, y = game.at("python")
    said = [game.do(f"melee_attack {x} {y}")]
    while not said[-1].startswith("failed") and game.number("experience_level") == 1:
        said.append(game.do(f"melee_attack {x} {y}"))
    assert game.number("experience_level") > 1
    assert not any("message:" in each for each in said)


def test_walls_and_peaceful_monsters_are_not_kicked() -> None:
    game = planned(ROOM + "MONSTER:('h',\"dwarf\"),(8,2),peaceful,asleep\n")
    x, y = game.here
    assert game.do(f"kick {x} {y - 1}") == (
        f"failed: there is a wall at ({x}, {y - 1}); kicking it would only hurt you"
    )
    dwarf = game.at("dwarf")
    assert game.do(f"kick {dwarf[0]} {dwarf[1]}").startswith(
        "failed: not kicked: the monster there is peaceful"
    )
    assert game.part("open question") == ""


def test_a_peaceful_monster_in_the_way_is_named_and_not_attacked() -> None:
    game = planned(PASSAGE + "MONSTER:('h',\"dwarf\"),(7,3),peaceful,asleep\n")
    x, y = game.here
    game.do(f"move_to {x + 4} {y + 2}")
    told = game.do(f"move_to {x + 11} {y + 2}")
    assert told.startswith(f"failed: a peaceful dwarf at ({x + 6}, {y + 2}), ")
    assert told.partition(" (")[0]
    assert game.do(f"move_to {x} {y}").startswith("arrived at ")


def test_a_retreat_ends_where_few_can_stand_next_to_the_hero() -> None:
    game = planned(PASSAGE)
    x, y = game.here
    told = game.do("retreat")
    assert told.startswith("at (")
    assert "where at most 2 can stand next to you" in told
    assert game.here[1] == y + 2
    assert game.here[0] >= x + 4
    assert game.do("retreat").startswith(told.partition(" (")[0])


def test_a_fast_hero_rests_as_many_turns_as_were_asked_for() -> None:
    game = planned(ROOM)
    for _ in range(12):
        assert game.do("rest 3").startswith("rested for ")


def test_a_prayer_is_reported_with_what_the_god_did() -> None:
    with debug_game() as game:
        while game.number("turn") < 320:
            game.press("20s")
        letter = game.wish("glob of green slime")
        assert "you are Slime now, turning into slime within ten turns; a prayer" in game.do(f"eat {letter}")
        told = game.do("pray")
        assert told.startswith("prayed: ")
        assert "slime" in told
        assert game.do("pray").startswith("failed: not prayed: there is no trouble")
