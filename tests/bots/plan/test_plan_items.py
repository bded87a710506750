"""Skills for items, shops and puzzles, on written levels of the real game."""

from tests.bots.netplay.made import ROOM
from tests.bots.plan.made_plan import planned
from tests.bots.skills.test_shop import SHOP

RIVER = """MAP
-----------
|....}....|
|....}....|
|....}....|
-----------
ENDMAP
REGION:(0,0,10,4),lit,"ordinary"
BRANCH:(1,1,1,1),(0,0,0,0)
"""
BOXES = """MAP
-----------
|.........|
|.........|
|......{..|
-----------
ENDMAP
REGION:(0,0,10,4),lit,"ordinary"
BRANCH:(1,3,1,3),(0,0,0,0)
OBJECT:('`',"boulder"),(4,2)
"""


def test_a_container_is_emptied() -> None:
    inside = "OBJECT:('!',\"healing\")\nOBJECT:('?',\"identify\")\n"
    game = planned(ROOM + "CONTAINER:('(',\"sack\"),(5,2) {\n" + inside + "}\n")
    before = len(game.part("inventory").splitlines())
    assert game.do("loot").startswith("you carry now: ")
    assert len(game.part("inventory").splitlines()) == before + 2
    assert game.do("loot").startswith("failed: nothing was taken")


def test_a_wand_of_cold_is_recognized_and_freezes_a_way() -> None:
    game = planned(RIVER + "OBJECT:('/',\"cold\"),(2,2)\n")
    assert game.do("cross_water").startswith("failed: no wand of cold")
    assert game.do("collect wand").startswith("you carry now: a")
    assert "a wand of cold" in game.do("identify")
    x, y = game.here
    assert game.do("cross_water").startswith("a way is frozen")
    assert game.do(f"move_to {x + 6} {y}").startswith("arrived at ")


def test_a_boulder_fills_water() -> None:
    game = planned(RIVER + "OBJECT:('`',\"boulder\"),(3,2)\n")
    assert "Now you can cross it!" in game.do("cross_water")


def test_a_wand_of_sleep_shows_itself_after_the_writing() -> None:
    game = planned(ROOM + "OBJECT:('/',\"sleep\"),(8,3)\n")
    game.do("collect wand")
    assert "a wand of sleep or death" in game.do("identify")


def test_a_known_wand_of_digging_is_an_escape() -> None:
    level = ROOM.replace("NON_DIGGABLE:(0,0,10,4)\n", "") + "OBJECT:('/',\"digging\"),(2,2)\n"
    game = planned(level)
    assert game.do("escape").startswith("failed: no stairs underfoot")
    game.do("collect wand")
    assert "is a wand of digging" in game.do("identify")
    assert game.do("escape").startswith("fell through a hole to Dlvl 2")


def test_a_shopkeeper_is_bought_from_sold_to_and_paid() -> None:
    game = planned(SHOP, character="tou-hum-neu-fem")
    assert "(for sale, " in game.do("identify")
    gold = game.number("gold")
    assert game.do("shop buy").startswith("paid: You bought ")
    assert game.number("gold") < gold
    gold = game.number("gold")
    assert game.do("shop sell b").startswith("sold for ")
    assert game.number("gold") > gold
    assert game.do("shop sell").startswith("failed: name the item")
    assert game.do("shop pay").startswith("could not pay: You do not owe")


def test_a_floating_eye_is_killed_from_a_distance() -> None:
    game = planned(ROOM + "MONSTER:('e',\"floating eye\"),(8,2),asleep\n", "sam-hum-law-fem")
    for _ in range(20):
        if not game.part("close monsters") and not game.part("distant monsters"):
            break
        x, y = game.at("floating eye")
        said = game.do(f"throw_at {x} {y}")
        assert said.startswith(("threw ", "interrupted", "failed: no place")), said
    assert game.number("hp") == game.number("max_hp")


def test_a_level_of_boxes_is_solved_push_by_push() -> None:
    game = planned(BOXES)
    said = [game.do("sokoban_step") for _ in range(4)]
    assert said[0].startswith("pushed; ")
    assert said[3].startswith("pushed; this was the last move")
    assert game.do("sokoban_step").startswith("failed: no solution was found")


def test_armor_is_put_on_and_the_better_weapon_wielded() -> None:
    things = (
        "OBJECT:('[',\"dwarvish iron helm\"),(2,1),uncursed,0\nOBJECT:(')',\"long sword\"),(3,1),uncursed,0\n"
    )
    game = planned(ROOM + things, "hea-hum-neu-fem")
    game.do("collect armor")
    game.do("collect weapon")
    assert game.do("equip").startswith("put on ")
    assert "long sword (weapon in hand)" in game.part("inventory")
    assert game.do("equip") == "nothing better is carried"


def test_safe_food_alone_is_eaten_without_being_named() -> None:
    game = planned(ROOM + 'OBJECT:(\'%\',"corpse"),(2,1),montype:"jackal"\n')
    assert game.do("eat").startswith("failed: you are not hungry")
    game.do("collect food")
    letter = next(line[0] for line in game.part("inventory").splitlines() if "corpse" in line)
    assert game.do(f"eat {letter}").startswith("failed: a carried corpse may be tainted")


def test_what_is_remembered_can_be_asked_for() -> None:
    game = planned(ROOM + "OBJECT:('?',\"identify\"),(5,2)\n")
    turn = game.number("turn")
    assert "items: scroll (" in game.do("recall")
    assert game.do("recall 7").startswith("failed: Dlvl 7 is not known; you know Dlvl 1")
    assert game.number("turn") == turn
