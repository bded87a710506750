"""What is picked up, bought, dropped and used to escape: each provoked on a test level."""

import pytest

from balrog_rag.bots.nethack.delver import battle, errands, journey, shopping
from balrog_rag.bots.nethack.delver.hero_needs import escorted
from balrog_rag.bots.nethack.delver.retreat import fall
from balrog_rag.bots.nethack.delver.rules import RULES
from balrog_rag.bots.nethack.delver.shopping import buy
from balrog_rag.bots.nethack.delver.state import Bot, Plan
from balrog_rag.bots.nethack.delver.switches import Switches
from balrog_rag.bots.nethack.skills import (
    digging,
    exploring,
    fighting,
    gear,
    looking,
    magic,
    moving,
    surviving,
    trading,
)
from balrog_rag.bots.nethack.skills.told import Told
from balrog_rag.bots.nethack.skills.tuning import TUNING
from balrog_rag.envs.nethack.world import glyph_kinds
from balrog_rag.envs.nethack.world import terrain as t
from balrog_rag.envs.nethack.world.items import read_item
from balrog_rag.envs.nethack.world.refusals import Act, Refusal
from tests.bots.skills.made import made
from tests.bots.skills.test_early import species_of
from tests.bots.skills.test_moving import HOUSE, explore_all
from tests.bots.skills.test_surviving import ROOM, SHOP, take

DIG_ROOM = """MAP
-----
|...|
|...|
|...|
-----
ENDMAP
REGION:(0,0,4,4),lit,"ordinary"
BRANCH:(1,1,1,1),(0,0,0,0)
"""


def lift(player, name):
    """Go and pick up an item that is hard to carry."""
    table = glyph_kinds.kinds()
    places = [place for place, glyph in player.level.objects.items() if table.name[glyph] == name]
    yield from moving.go_to(player, places)
    yield from player.begin()
    yield from player.press(ord(","))
    yield from player.answer(("Continue", "y"))
    yield from player.close()


def go_shopping(player):
    """Buy a tool that was seen from the door, and given up because no way led to it yet."""
    bot, level = Bot(player), player.level
    bot.looked.update(errands._thing(level, place) for place in level.objects)
    for _ in range(40):
        if not (yield from buy(bot)):
            yield from exploring.search(player, 1)
        if gear.digger(player):
            return "bought"
    return "not bought"


def test_a_pick_axe_is_lifted_though_it_is_hard_to_carry_and_junk_is_left_behind():
    with made(ROOM + "OBJECT:('(',\"chest\"),(2,1)\nOBJECT:('(',\"pick-axe\"),(5,2)\n") as game:
        player = game.player
        game.run(lift, "chest")
        assert player.body.load
        game.run(take, "pick-axe")
        assert gear.digger(player)
        junk = gear.burden(player)
        assert junk
        assert "chest" in junk.name
        game.run(gear.drop, junk)
        assert not player.body.load


def test_a_pick_axe_is_bought_where_a_shop_sells_one():
    with made(SHOP + "OBJECT:('(',\"pick-axe\"),(12,2)\n", character="tou-hum-neu-fem") as game:
        player = game.player
        gold = player.body.gold
        game.run(explore_all)
        assert game.run(go_shopping) == "bought"
        assert 50 <= gold - player.body.gold <= 150
        assert "unpaid" not in gear.digger(player).text


def test_a_tool_that_is_too_dear_is_paid_with_what_can_be_spared():
    goods = """OBJECT:('(',"pick-axe"),(12,2)
OBJECT:('+',"identify"),(1,1)
OBJECT:('+',"sleep"),(1,1)
"""
    with made(SHOP + goods, character="val-hum-neu-fem", seed=2) as game:
        player = game.player
        game.run(gear.pick_up, lambda text: "spellbook" in text)
        assert player.body.gold < TUNING.cheap
        game.run(explore_all)
        assert game.run(go_shopping) == "bought"
        assert "unpaid" not in gear.digger(player).text
        assert len([item for item in player.world.items if "spellbook" in item.name]) == 1
        assert player.world.item("long sword")


def test_goods_that_no_way_leads_to_are_given_up_after_waiting_for_the_shopkeeper():
    with made(SHOP + "OBJECT:('(',\"pick-axe\"),(12,2)\n", character="tou-hum-neu-fem") as game:
        player, bot = game.player, Bot(game.player)
        game.run(explore_all)
        (door,) = player.level.spots(t.OPEN_DOORS)
        game.run(moving.go_to, [door])
        player.level.refuse(door, door + 1)
        turn = player.body.turn
        for waits in range(TUNING.shop_waits + 1):
            assert not bot.priced, waits
            assert game.run(lambda _: buy(bot))
        assert list(bot.priced.values()) == [0]
        assert player.body.turn >= turn + TUNING.shop_waits
        assert not game.run(lambda _: buy(bot))


def test_what_is_too_dear_is_gone_to_again_when_we_are_richer():
    with made(SHOP + "OBJECT:('(',\"pick-axe\"),(12,2)\n", character="arc-hum-neu-fem") as game:
        bot, player = Bot(game.player), game.player
        player.world.items.clear()
        game.run(explore_all)
        place = next(place for place in player.level.objects if place in player.level.shop)
        for price, gold, going in ((75, 74, False), (75, 75, True), (0, 75, False)):
            bot.priced[player.level.place, place], player.body.gold = price, gold
            assert shopping._sells(bot, place) is going


def test_worn_wielded_and_useful_things_are_not_sold():
    with made(ROOM, character="val-hum-neu-fem") as game:
        player = game.player
        texts = ("a ring mail", "2 scrolls labeled FOO", "a potion of healing", "an uncursed wooden ring",
                 "3 food rations", "a pick-axe")  # fmt: skip
        player.world.items += [read_item(letter, text) for letter, text in zip("pqrstu", texts, strict=True)]
        assert [item.letter for item in trading.salable(player)][:2] == ["q", "s"]
        assert {item.name for item in trading.salable(player)} == {
            "scrolls labeled FOO", "wooden ring", "ring mail", "dagger"
        }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "food"),
    [
        ("a spear", False),
        ("3 orange potions", False),
        ("a blessed spellbook of light", False),
        ("2 oranges", True),
        ("an uncursed pear", True),
        ("3 uncursed food rations", True),
    ],
)
def test_words_of_food_in_other_names_are_no_food(text: str, food: bool):
    with made(ROOM) as game:
        game.player.world.items = [read_item("a", text)]
        assert bool(surviving.rations(game.player)) is food


def test_what_is_in_hand_or_worn_is_never_thrown_away():
    with made(ROOM) as game:
        used = {item.letter for item in game.player.world.items if item.wielded or item.worn}
        assert used
        assert fighting.spare(game.player) not in used


def test_a_wand_of_digging_is_a_way_out():
    with made(ROOM + "OBJECT:('/',\"digging\"),(5,2)\n") as game:
        player = game.player
        bot = Bot(player)
        game.run(take, "wand")
        game.run(lambda player: magic.try_wand(player, magic.unknown_wand(player)))
        assert magic.digging_wand(player)
        assert not game.run(lambda _: fall(bot, 0.5))
        assert game.run(lambda _: fall(bot, 1.0))
        assert player.body.depth == 2


def test_a_cursed_mattock_leaves_no_hand_to_write_with_and_a_shield_comes_off_for_it():
    mattock = "OBJECT:(')',\"dwarvish mattock\"),(5,2),cursed,0\n"
    with made(ROOM + mattock, character="val-dwa-law-fem") as game:
        player = game.player
        game.run(take, "dwarvish mattock")
        assert gear.shield(player)
        assert game.run(digging.dig_down, moving.never) == digging.FELL
        assert not gear.shield(player)
        game.run(surviving.engrave)
        assert player.cursed_hands


def test_with_a_cursed_weapon_in_hand_a_pick_axe_is_no_tool():
    cursed, tool = "OBJECT:(')',\"mace\"),(5,2),cursed,0\n", "OBJECT:('(',\"pick-axe\"),(4,2),uncursed,0\n"
    with made(ROOM + cursed + tool, character="val-dwa-law-fem") as game:
        player = game.player
        game.run(take, "pick-axe")
        game.run(take, "mace")
        assert gear.digger(player)
        game.run(gear.wield, player.world.item("mace"))
        assert (player.welded, player.cursed_hands) == (True, False)  # a god would not free one hand
        assert gear.digger(player) is None


@pytest.mark.parametrize(
    ("held", "found", "taken"),
    [
        ("a +1 long sword (weapon in hand)", "a mace", False),
        ("a +0 dagger (weapon in hand)", "a long sword", False),
        ("a +0 dagger (weapon in hand)", "an uncursed long sword", True),
        ("a +0 dagger (weapon in hand)", "a +0 long sword", True),
        ("a +0 dagger (weapon in hand)", "a two-handed sword", True),
        ("an apple", "a dagger", False),  # hardly better than fists
        ("an apple", "an axe", False),
        ("an apple", "a battle-axe", True),
    ],
)
def test_what_may_be_cursed_is_wielded_only_if_it_is_much_better(held, found, taken):
    with made(ROOM, character="tou-hum-neu-fem") as game:
        game.player.world.items = [read_item("a", held), read_item("b", found)]
        best = gear.best_weapon(game.player)
        assert (best is not None and best.letter == "b") == taken
        assert not gear.unarmed(game.player)  # it is carried, so that no more weapons are collected


def test_a_peaceful_creature_that_strikes_is_looked_at_again():
    with made(ROOM + "MONSTER:('h',\"hobbit\"),(2,1),hostile\n") as game:
        (hobbit,) = game.player.world.monsters
        hobbit.peaceful = True
        hp = game.player.body.hp
        while game.player.body.hp == hp:
            game.run(exploring.search, 1)
        assert hobbit.peaceful is None


def test_where_something_lies_is_no_closed_door():
    with made(HOUSE.format(door="closed")) as game:
        level, table = game.player.level, glyph_kinds.kinds()
        (door,) = level.spots(t.CLOSED_DOORS)
        level._lay(door, table.name.index("dagger"), table)
        assert level.terrain[door] == t.DOORWAY


def test_a_single_thing_that_nobody_wants_is_not_lifted():
    with made(ROOM + "OBJECT:('(',\"tallow candle\"),(5,2)\n") as game:
        player = game.player
        (place,) = player.level.objects
        game.run(moving.go_to, [place])
        assert game.run(gear.pick_up, gear.digs) == Told.TOOK_NOTHING
        assert game.run(gear.pick_up, lambda text: "candle" in text) == Told.TOOK


@pytest.mark.parametrize(
    ("character", "thing", "better"),
    [
        ("tou-hum-neu-fem", "long sword", True),
        ("tou-hum-neu-fem", "cursed long sword", False),
        ("sam-hum-law-fem", "long sword", False),
        ("mon-hum-neu-mal", "long sword", False),
        ("arc-hum-neu-mal", "long sword", False),  # it may be cursed, and the pick-axe is hardly worse
    ],
)
def test_a_weapon_is_collected_if_it_is_better_than_what_is_carried(character: str, thing: str, better: bool):
    with made(ROOM, character=character) as game:
        game.run(looking.look_at_oneself)
        assert gear.better_weapon(game.player, f"a {thing}") is better
        assert errands.wanted(Bot(game.player, Plan(on=Switches(rearm=False))), f"a {thing}") is better


def test_who_carries_too_much_for_narrow_places_drops_unknown_potions_and_scrolls_too():
    unknown = "OBJECT:('!',\"sickness\"),(5,2)\nOBJECT:('?',\"food detection\"),(5,2)\n"
    with made(ROOM + unknown) as game:
        player = game.player
        (place,) = player.level.objects
        game.run(moving.go_to, [place])
        assert game.run(gear.pick_up, lambda _: True) == Told.TOOK
        player.refusals[Refusal(Act.SQUEEZE)] = 1
        dropped = []
        while item := gear.burden(player):
            dropped.append(item.name)
            game.run(gear.drop, item)
            player.refusals[Refusal(Act.SQUEEZE)] = 1
        *others, potion, scroll = dropped
        assert potion.endswith(" potion")
        assert scroll.startswith("scroll labeled ")
        assert "yumi" in others


@pytest.mark.parametrize(
    ("stood", "looked"),
    [(["dwarf"], True), (["dwarf lord"], True), (["hobbit"], False), (["dwarf", "gnome"], True)],
)
def test_where_a_dwarf_fell_one_looks_under_whatever_lies_on_top(stood: list[str], looked: bool):
    pile = "OBJECT:('(',\"pick-axe\"),(8,2)\nOBJECT:('+',\"light\"),(8,2)\n"
    with made(ROOM + pile + "BRANCH:(1,2,1,2),(0,0,0,0)\n") as game:
        bot, level = Bot(game.player), game.player.level
        (place,) = level.objects
        level.left[place] = [species_of(name).number for name in stood]
        game.run(lambda _: errands.collect(bot))
        assert bool(gear.digger(game.player)) is looked


@pytest.mark.parametrize("dwarf", [False, True])
def test_a_boulder_is_pushed_off_what_a_dwarf_left(dwarf: bool):
    pile = "OBJECT:('(',\"pick-axe\"),(5,2)\nOBJECT:('`',\"boulder\"),(5,2)\n"
    with made(ROOM + pile + "BRANCH:(1,2,1,2),(0,0,0,0)\n") as game:
        bot, level = Bot(game.player), game.player.level
        (place,) = level.boulders
        level.left[place] = [species_of("dwarf").number] if dwarf else []
        while game.run(lambda _: errands.collect(bot)):
            pass
        assert bool(gear.digger(game.player)) is dwarf


def test_where_a_further_dwarf_falls_one_looks_again():
    with made(ROOM + "OBJECT:('+',\"light\"),(8,2)\nBRANCH:(1,2,1,2),(0,0,0,0)\n") as game:
        bot, level = Bot(game.player), game.player.level
        (book,), dwarf = level.objects, species_of("dwarf").number
        for _ in range(2):
            level.left.setdefault(book, []).append(dwarf)
            assert game.run(lambda _: errands.collect(bot))
            assert game.player.here == book
            assert not game.run(lambda _: errands.collect(bot))
            game.run(moving.step, book - 1)


def test_who_has_a_digging_tool_looks_under_nothing():
    pile = "OBJECT:('+',\"light\"),(8,2)\nOBJECT:('(',\"pick-axe\"),(2,2)\n"
    with made(ROOM + pile + "BRANCH:(1,2,1,2),(0,0,0,0)\n") as game:
        bot, level = Bot(game.player), game.player.level
        book = max(level.objects)
        for place in level.objects:
            level.left[place] = [species_of("dwarf").number]
        while game.run(lambda _: errands.collect(bot)):
            pass
        assert gear.digger(game.player)
        assert not level.visited[book]


def test_a_dwarfs_corpse_is_looked_under_also_when_it_is_old():
    corpse = 'OBJECT:(\'(\',"pick-axe"),(8,2)\nOBJECT:(\'%\',"corpse"),(8,2),montype:"dwarf"\n'
    with made(ROOM + corpse, character="val-dwa-law-fem") as game:
        bot = Bot(game.player)
        assert not game.player.level.fresh
        game.run(lambda _: errands.collect(bot))
        assert gear.digger(game.player)


def test_goods_are_neither_collected_nor_put_on_before_they_are_paid():
    with made(ROOM) as game:
        player, bot = game.player, Bot(game.player)
        assert errands.wanted(bot, "a pair of low boots")
        assert not errands.wanted(bot, "a pair of low boots (for sale, 6 zorkmids)")
        player.world.items.append(read_item("k", "a pair of low boots (unpaid, 6 zorkmids)"))
        assert gear.to_wear(player) is None
        player.world.items[-1] = read_item("k", "a pair of low boots")
        assert gear.to_wear(player) is player.world.items[-1]


def test_rays_are_not_sent_where_they_come_straight_back_from():
    with made(ROOM + "MONSTER:('k',\"kobold\"),(5,2),hostile,asleep\n") as game:
        bot, (kobold,) = Bot(game.player), game.player.world.monsters
        fire, striking = (read_item("z", f"a wand of {name} (0:4)") for name in ("fire", "striking"))
        assert not battle._safe_to_zap(bot, fire, kobold)
        assert battle._safe_to_zap(bot, striking, kobold)
    assert t.ray(t.spot(70, 10), t.spot(71, 10), 5) == [t.spot(x, 10) for x in range(71, 76)]
    assert t.ray(t.spot(3, t.HEIGHT - 2), t.spot(4, t.HEIGHT - 1), 5) == [t.spot(4, t.HEIGHT - 1)]


def test_who_fell_past_a_level_goes_back_up_to_look_for_the_way_to_the_mines():
    with made(ROOM + "OBJECT:('(',\"pick-axe\"),(5,2)\n") as game:
        player = game.player
        bot = Bot(player, Plan(dig=False))
        game.run(take, "pick-axe")
        for depth in (2, 3):
            assert not journey._passed_by(bot)
            assert game.run(digging.dig_down, moving.never) == digging.FELL
            assert player.body.depth == depth
        assert game.run(digging.dig_down, moving.never) == digging.FELL
        assert journey._passed_by(bot)
        assert game.run(lambda _: follow_rules(bot, until=lambda: player.body.depth == 3), limit=20_000)


def follow_rules(bot, until):
    for _ in range(2000):
        if until():
            return True
        for rule in RULES:
            if (yield from rule(bot)):
                break
    return False


def test_another_creatures_corpse_is_not_eaten_for_its_name():
    with made(ROOM + 'OBJECT:(\'%\',"corpse"),(5,2),montype:"werejackal"\n') as game:
        player = game.player
        game.run(moving.go_to, set(player.level.objects))
        game.run(surviving.eat_corpse, "jackal")
        assert any("corpse here; eat" in said for said in player.heard)
        assert not player.said("You finish eating", "tastes", "cannibal")


VAULT = """MAP
----      -----
|..|      |...|
|..|   ####...|
----      -----
ENDMAP
REGION:(0,0,14,3),unlit,"ordinary"
REGION:(1,1,2,2),lit,"vault"
BRANCH:(2,2,2,2),(0,0,0,0)
"""


def test_the_guard_of_a_vault_is_followed_out_without_its_gold():
    with made(VAULT) as game:
        player = game.player
        bot, begun = Bot(player), player.here
        game.run(take, "gold piece")
        assert player.body.gold
        while not player.world.monsters:
            game.run(exploring.search, 5)
        assert bot.alarm()
        for _ in range(20):
            if not game.run(lambda _: escorted(bot)):
                assert next(errands.collect(bot), None) is None  # the gold that was dropped stays
                game.run(exploring.explore)
        assert player.body.gold == 0
        assert t.distance(player.here, begun) > 3


CLOSET = """MAP
----    ------
|..|    |....|
|..|    |....|
----    ------
ENDMAP
REGION:(0,0,13,3),lit,"ordinary"
"""


@pytest.mark.parametrize(("arrival", "closet"), [("(1,1,1,1)", True), ("(9,1,9,1)", False)])
def test_nobody_waits_where_no_way_leads_out(arrival, closet):
    """The guard of a vault comes to whoever stays there, and slays whoever does not follow him."""
    with made(CLOSET + f"BRANCH:{arrival},(0,0,0,0)\n", character="arc-dwa-law-mal") as game:
        bot = Bot(game.player)
        assert bot.walled_in() is closet
        game.run(lambda _: journey.journey(bot))
        assert (game.player.body.depth == 2) is closet
        assert (game.player.body.turn >= 15) is not closet


def test_a_gas_spore_beside_a_pit_is_no_reason_to_climb_out():
    spore = "MONSTER:('e',\"gas spore\"),(2,1),asleep\n"
    with made(DIG_ROOM + spore, character="arc-dwa-law-mal") as game:
        player = game.player
        bot = Bot(player)
        deep = game.run(digging.dig_down, lambda: player.pit_here is not None and player.pit_here.deep)
        assert deep == moving.ALARMED
        begun = len(game.pressed)
        assert not game.run(lambda _: battle.battle(bot))
        assert len(game.pressed) == begun
