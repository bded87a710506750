"""What a player knows from the screens shown to it: monsters, shops, belongings, open questions."""

import pytest
from nle import nethack as nh

from balrog_rag.envs.nethack.world import glyph_kinds as k
from balrog_rag.envs.nethack.world import terrain as t
from balrog_rag.envs.nethack.world.items import read_item, slot_of
from balrog_rag.envs.nethack.world.known_world import BLIND, HALLUCINATING, World
from balrog_rag.envs.nethack.world.level import Place
from balrog_rag.envs.nethack.world.names import name_of, position
from balrog_rag.envs.nethack.world.popups import popup, waits
from balrog_rag.envs.nethack.world.screen import Screen
from balrog_rag.envs.nethack.world.species import all_species
from balrog_rag.envs.nethack.world.tracked_player import OpenWorld
from tests.envs.drawn import Drawn, at, ground, monster, thing


def seen(*shown, world=None):
    """The world after these screens."""
    world = world or World()
    for each in shown:
        world.see(Screen(each.arrays))
    return world


@pytest.mark.parametrize(
    ("text", "number", "curse", "enchantment", "name", "slot", "worn", "wielded"),
    [
        ("a +1 long sword (weapon in hand)", 1, "", 1, "long sword", "", False, True),
        ("a blessed +0 dagger (alternate weapon; not wielded)", 1, "blessed", 0, "dagger", "", False, False),
        ("2 uncursed food rations", 2, "uncursed", None, "food rations", "", False, False),
        ("an uncursed +3 small shield (being worn)", 1, "uncursed", 3, "small shield", "shield", True, False),
        ("a cursed -1 pair of gloves (being worn)", 1, "cursed", -1, "pair of gloves", "gloves", True, False),
        ("the blessed rustproof +5 Excalibur", 1, "blessed", 5, "Excalibur", "", False, False),
        ("a ruby ring (on left hand)", 1, "", None, "ruby ring", "", True, False),
        ("12 +2 daggers (in quiver)", 12, "", 2, "daggers", "", False, False),
        ("an iron skull cap named +7 helm", 1, "", 7, "helm", "helmet", False, False),
        ("$ - gold", 1, "", None, "$ - gold", "", False, False),
        ("", 1, "", None, "", "", False, False),
        ("a quarterstaff (wielded)", 1, "", None, "quarterstaff", "", False, True),
    ],
)  # fmt: skip
def test_a_line_of_the_inventory(text, number, curse, enchantment, name, slot, worn, wielded):
    item = read_item("a", text)
    assert (item.letter, item.text, item.number, item.curse, item.enchantment) == (
        "a", text, number, curse, enchantment,
    )  # fmt: skip
    assert (item.name, item.slot, item.worn, item.wielded) == (name, slot, worn, wielded)


@pytest.mark.parametrize(
    ("name", "slot"),
    [
        ("pair of hiking boots", "boots"),
        ("hooded cloak", "cloak"),
        ("crystal plate mail", "body"),
        ("red dragon scales", "body"),
        ("T-shirt", "shirt"),
        ("dented pot", "helmet"),
        ("ring mail named cloak", "body"),
        ("scroll called helmet", ""),
        ("helmsman", ""),
    ],
)
def test_where_a_piece_of_armour_is_worn_by_the_words_of_its_own_name(name, slot):
    assert slot_of(name) == slot


def test_the_inventory_is_read_by_its_letters_and_found_by_words_in_their_order():
    shown = Drawn("@")
    shown.carry("a long sword", "2 food rations", "a dagger")
    world = seen(shown)
    assert [(item.letter, item.name) for item in world.items] == [
        ("a", "long sword"),
        ("b", "food rations"),
        ("c", "dagger"),
    ]
    assert world.item("dagger", "sword").letter == "c"
    assert world.item("bow", "sword").letter == "a"
    assert world.item("bow") is None
    shown.carry("a dagger")
    assert [item.letter for item in seen(shown, world=world).items] == ["a"]


def moved(x, turn, name="jackal", offset="MON"):
    shown = Drawn("@" + "." * 20, turn=turn)
    shown.put(x + 1, 1, monster(name, offset))
    return shown


@pytest.mark.parametrize(
    ("first", "then", "same"),
    [
        (moved(3, 1), moved(5, 2), True),
        (moved(3, 1), moved(7, 2), True),  # three squares and one for the turn
        (moved(3, 1), moved(8, 2), False),
        (moved(3, 1), moved(15, 10), True),
        (moved(3, 1), moved(3, 2, "newt"), False),
        (moved(3, 1, "kitten", "PET"), moved(3, 2, "kitten"), False),  # no longer tame
        (moved(3, 1), moved(3, 41), True),
        (moved(3, 1), moved(3, 42), False),  # forgotten
    ],
)
def test_a_monster_is_taken_for_one_met_before_if_it_could_have_come_from_there(first, then, same):
    world = seen(first)
    (before,) = world.monsters
    number = before.number
    (now,) = seen(then, world=world).monsters
    assert (now.number == number) == same
    assert now.seen == world.body.turn


def test_of_two_that_could_be_it_the_nearer_is_taken_and_each_only_once():
    shown = Drawn("@" + "." * 20, turn=1)
    for x in (4, 6):
        shown.put(x + 1, 1, monster("jackal"))
    world = seen(shown)
    left, right = (monster.number for monster in world.monsters)
    shown = Drawn("@" + "." * 20, turn=2)
    for x in (5, 7):
        shown.put(x + 1, 1, monster("jackal"))
    found = {each.place: each.number for each in seen(shown, world=world).monsters}
    assert set(found.values()) == {left, right}
    assert found[at(5, 0)] in (left, right)


@pytest.mark.parametrize(
    ("name", "offset", "tame", "peaceful", "hostile"),
    [
        ("jackal", "MON", False, None, True),
        ("kitten", "PET", True, None, False),
        ("shopkeeper", "MON", False, True, False),
        ("pony", "RIDDEN", True, None, False),
    ],
)
def test_who_is_to_be_reckoned_an_enemy(name, offset, tame, peaceful, hostile):
    (found,) = seen(moved(3, 1, name, offset)).monsters
    assert (found.tame, found.peaceful, found.hostile) == (tame, peaceful, hostile)
    assert found.species.name == name
    found.peaceful = True
    assert not found.hostile


def test_what_is_felt_and_not_seen_has_no_species_and_is_an_enemy():
    shown = Drawn("@..")
    shown.put(2, 1, nh.GLYPH_INVIS_OFF)
    shown.put(3, 1, monster("newt", "DETECT"))
    found = seen(shown).monsters
    assert [each.species for each in found] == [None, None]
    assert all(each.hostile for each in found)


def test_who_hallucinates_sees_no_kinds_and_wakes_up_to_them():
    shown = moved(1, 1, "cockatrice")
    shown.number(condition=HALLUCINATING)
    world = seen(shown)
    assert [each.species for each in world.monsters] == [None]
    shown.number(condition=0, turn=2)
    assert [each.species.name for each in seen(shown, world=world).monsters] == ["cockatrice"]


def test_a_square_that_was_visited_blind_is_gone_to_again():
    world, here = World(), at(1, 0)
    for condition, visited in ((BLIND, 1), (0, 1)):
        seen(Drawn(".@.", condition=condition), world=world)
        assert world.level.visited[here] == visited
    seen(Drawn("@..", condition=BLIND), world=world)
    seen(Drawn("..@"), world=world)
    assert not world.level.visited[at(0, 0)]


@pytest.mark.parametrize(
    ("message", "x", "peaceful"),
    [
        ("The watchman hits!", 1, None),
        ("The watchman misses.", 1, None),
        ("The watchman just misses!  You hear a door open.", 1, None),
        ("The watchman thrusts her short sword.  The watchman misses!", 1, None),
        ("The watchman hits!", 3, True),  # not the one beside us
        ("The watchman hits the kitten.", 1, True),
        ("The watchman thrusts her short sword at the kitten.  The kitten bites!", 1, True),
        ("The jackal bites!", 1, True),
        ("You hit the watchman.", 1, True),
        ("", 1, True),
    ],
)
def test_a_peaceful_monster_that_strikes_is_no_longer_known_to_be(message, x, peaceful):
    shown = moved(x, 1, "watchman")
    world = seen(shown)
    shown.say(message)
    shown.number(turn=2)
    assert seen(shown, world=world).monsters[0].peaceful is peaceful
    assert world.level.watched


def test_the_zeros_of_a_game_that_is_over_change_nothing():
    world = seen(Drawn("@..", hp=7, max_hp=9, turn=33))
    over = Drawn("@..")
    over.arrays["blstats"][:] = 0
    seen(over, world=world)
    assert (world.over, world.body.hp, world.body.turn) == (True, 7, 33)


def test_the_bodys_numbers_are_those_of_the_bottom_lines():
    shown = Drawn("..@..")
    shown.number(hp=8, max_hp=15, depth=4, energy=6, armor_class=-2, experience_level=7, turn=901)
    shown.number(hunger=2, encumbrance=1, condition=33, gold=250, score=1234)
    shown.arrays["blstats"][2:4] = 118, 18  # strength with its percentage, and without
    body = seen(shown).body
    assert body.place == at(2, 0)
    assert (body.hp, body.max_hp, body.depth, body.power, body.armor, body.level) == (8, 15, 4, 6, -2, 7)
    assert (body.turn, body.hunger, body.load, body.condition) == (901, 2, 1, 33)
    assert (body.gold, body.score, body.strength) == (250, 1234, 18)


def test_when_a_pet_was_last_seen_on_a_level_is_known():
    assert seen(moved(3, 4)).level.pet is None
    world = seen(moved(3, 4, "kitten", "PET"), moved(3, 9))
    assert world.level.pet == 4


def test_levels_are_told_apart_by_branch_and_number_and_monsters_stay_behind():
    first, mines = moved(3, 5), Drawn("@..", branch=2, level=3, turn=6)
    world = seen(first, mines)
    assert world.place == Place(2, 3)
    assert world.monsters == []
    assert set(world.levels) == {Place(0, 1), Place(2, 3)}
    assert (world.levels[Place(0, 1)].arrived, world.level.arrived) == (5, 6)
    seen(moved(3, 9), world=world)
    assert world.level.arrived == 9
    assert world.monster_at(at(3, 0)).number == 1, "met again"
    assert world.monster_at(at(4, 0)) is None


@pytest.mark.parametrize(
    ("message", "stairs"),
    [
        ("There is a staircase down here.", t.STAIRS_DOWN),
        ("There is a staircase up here.  You see here a dagger.", t.STAIRS_UP),
        ("You see here a dagger.", None),
    ],
)
def test_stairs_under_a_thing_are_known_by_what_is_said_of_them(message, stairs):
    shown = Drawn("@..")
    shown.say(message)
    assert (seen(shown).level.terrain[at(0, 0)] == stairs) == (stairs is not None)


SHOP = ["|.....", "|....'#@", "|....."]


def shop(sign="@"):
    shown = Drawn(*[row.replace("@", sign) for row in SHOP])
    shown.put(3, 2, monster("shopkeeper"))
    return shown


def test_no_way_leads_through_a_shop_unless_one_is_in_it():
    world = seen(shop())
    inside = at(2, 1)
    assert inside in world.level.shop
    assert world.level.forbidden == world.level.shop
    entered = Drawn("|.....", "|..@.'##", "|.....", turn=2)
    entered.put(3, 2, monster("shopkeeper"))
    seen(entered, world=world)
    assert world.level.forbidden == set()
    assert inside in world.level.shop


def test_a_shop_grows_as_more_of_it_is_seen():
    dark = Drawn("|", "|....'#@", "|....", turn=1)
    dark.put(3, 2, monster("shopkeeper"))
    world = seen(dark)
    assert at(2, 1) in world.level.shop
    assert at(2, 0) not in world.level.shop
    lit = shop()
    lit.put(2, 0, monster("newt"))
    seen(lit, world=world)
    assert at(2, 0) in world.level.shop
    assert world.level.forbidden == world.level.shop


def test_in_a_world_for_language_models_a_shop_is_a_room_and_nothing_said_closes_a_way():
    shown = shop()
    shown.say("This shop appears to be deserted. Closed for inventory")
    world = seen(shown, world=OpenWorld())
    assert (world.level.shop, world.level.forbidden) == (set(), set())


def test_a_shopkeeper_out_in_the_open_makes_no_shop_of_a_cavern():
    shown = Drawn(*["." * 20] * 10, "@")
    shown.put(5, 5, monster("shopkeeper"))
    assert seen(shown).level.shop == set()


def test_a_thing_for_sale_tells_a_shop_whose_keeper_is_not_in_sight():
    shown = Drawn("|...", "|@..", "|...")
    shown.say("You see here a dagger (for sale, 4 zorkmids).")
    world = seen(shown)
    assert len(world.level.shop) == 9
    assert world.level.forbidden == set(), "we are in it"


@pytest.mark.parametrize(
    ("text", "closed"),
    [
        ("Closed for inventory", True),
        ("(|osc? f?r    c? c?y", True),
        ("C|?s?? ??? ?????????", False),
        ("Closed_for_inventory", False),
        ("Closed for inventor", False),
        ("Elbereth", False),
    ],
)
def test_a_closed_shops_door_is_not_tried(text: str, closed: bool):
    shown = Drawn("|..|", "--+-", "  @ ")
    shown.say(f'You read: "{text}".')
    assert seen(shown).level.forbidden == ({at(2, 1)} if closed else set())


def test_when_swallowed_there_is_nobody_else_and_the_map_is_not_the_levels():
    world = seen(moved(3, 1))
    inside = Drawn("@..", turn=2)
    inside.put(1, 0, nh.GLYPH_SWALLOW_OFF)
    seen(inside, world=world)
    assert world.swallowed
    assert world.monsters == []
    assert not seen(moved(3, 3), world=world).swallowed


@pytest.mark.parametrize(
    ("glyph", "name"),
    [
        (monster("newt"), "newt"),
        (monster("newt", "PET"), "tame newt"),
        (monster("newt", "BODY"), "newt corpse"),
        (monster("newt", "STATUE"), "statue of a newt"),
        (monster("newt", "DETECT"), "unseen monster"),
        (thing("dagger"), "dagger"),
        (thing("elven dagger"), "runed dagger"),
        (thing("identify"), "scroll"),
        (thing("speed boots"), "piece of armor"),
        (thing("gold piece"), "gold piece"),
        (thing("boulder"), "boulder"),
        (ground(">"), "stairs down"),
        (ground("."), ""),
        (ground("^"), "pit"),
        (ground("s"), "squeaky board"),
    ],
)
def test_a_thing_is_called_by_what_can_be_seen_of_it_and_never_by_what_it_truly_is(glyph, name):
    assert name_of(glyph) == name


def test_objects_whose_looks_are_shuffled_have_no_name_in_the_tables():
    table = k.kinds()
    for hidden in (
        "identify",
        "magic missile",
        "speed boots",
        "helm of telepathy",
        "ruby",
        "amulet of life saving",
    ):
        glyph = thing(hidden)
        assert (table.name[glyph], bool(table.symbol[glyph])) == ("", True), hidden
    assert table.symbol[thing("dagger")] == ")"


def test_what_is_known_of_monsters():
    known = {species.name: species for species in all_species()}
    assert known["floating eye"].never_touch
    assert known["floating eye"].paralyses
    assert known["cockatrice"].petrifies
    assert known["gas spore"].explodes
    assert (known["jackal"].damage, known["newt"].damage) == (1.5, 2.0)
    assert known["Olog-hai"].damage == 1 + 1.2 * known["Olog-hai"].level, "without a table by its level"
    assert known["long worm tail"].level == 8
    humans = ("shopkeeper", "Woodland-elf", "high priest")
    for name in (
        *humans,
        "minotaur",
        "couatl",
        "ki-rin",
        "Aleax",
        "Angel",
        "Archon",
        "Death",
        "Pestilence",
        "Famine",
    ):
        assert not known[name].fears_elbereth, name
    for name in ("jackal", "red dragon", "Vlad the Impaler"):
        assert known[name].fears_elbereth, name
    assert known["brown mold"].stays
    assert not known["newt"].stays


@pytest.mark.parametrize(
    ("name", "edible"),
    [("newt", True), ("jackal", True), ("gnome", True), ("kitten", False), ("cockatrice", False),
     ("human", False), ("kobold", False), ("acid blob", False), ("kobold zombie", False)],
)  # fmt: skip
def test_which_corpses_are_good_to_eat(name, edible):
    assert next(species for species in all_species() if species.name == name).edible == edible


@pytest.mark.parametrize(
    ("said", "waiting", "words"),
    [
        ({"message": "You hit it."}, False, ""),
        (
            {"message": "Really attack?", "question": True},
            True,
            "The game waits for an answer: Really attack?",
        ),
        ({"message": "Call it:", "text": True}, True, "The game waits for a line of text: Call it:"),
        ({"message": "You die...--More--", "page": True}, False, ""),
        ({"message": "Inventory", "page": True}, True, "The game shows a menu or a list."),
    ],
)
def test_what_the_game_waits_for(said, waiting, words):
    shown = Drawn("@")
    shown.say(**said)
    screen = Screen(shown.arrays)
    assert (waits(screen), popup(screen)) == (waiting, words)
    assert screen.more == ("--More--" in said["message"])
    assert screen.message == said["message"]


def test_a_question_may_be_three_lines_long_and_no_longer():
    shown = Drawn("@")
    shown.say("a", question=True)
    for row in range(5):
        shown.arrays["tty_chars"][row, :4] = list(b"row%d" % row)
    shown.arrays["tty_cursor"][:] = 4, 4
    assert Screen(shown.arrays).question == "row0 row1 row2"
    shown.arrays["tty_cursor"][:] = 1, 4
    assert Screen(shown.arrays).question == "row0 row1"
    assert Screen(shown.arrays).lines()[4] == "row4"
    assert len(Screen(shown.arrays).lines()) == 24


def test_positions_are_columns_and_rows():
    assert position(t.spot(12, 3)) == "(12, 3)"
