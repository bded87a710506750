"""Hunger: what is eaten off the ground and bought, and what only for want of anything better."""

import pytest

from balrog_rag.bots.nethack.delver import errands, hero_needs, meals, shopping
from balrog_rag.bots.nethack.delver.state import Bot, Plan
from balrog_rag.bots.nethack.delver.switches import Switches
from balrog_rag.bots.nethack.plan import plan_items
from balrog_rag.bots.nethack.skills import exploring, looking, surviving
from balrog_rag.bots.nethack.skills.tuning import TUNING
from balrog_rag.envs.nethack.world import known_world as w
from balrog_rag.envs.nethack.world.items import read_item
from tests.bots.skills.made import TWO_ROOMS, made
from tests.bots.skills.test_early import species_of
from tests.bots.skills.test_surviving import ROOM, SHOP, kill_all, wait

NEXT_DOOR = (
    TWO_ROOMS
    + """REGION:(1,1,15,3),lit,"ordinary"
DOOR:open,(8,2)
BRANCH:(1,1,1,1),(0,0,0,0)
OBJECT:('%',"corpse"),(2,1),montype:"rothe"
MONSTER:('d',"jackal"),(9,1),hostile
"""
)
BARS = """MAP
---------
|...F...|
|...F...|
|...F...|
---------
ENDMAP
REGION:(0,0,8,4),lit,"ordinary"
BRANCH:(1,1,1,1),(0,0,0,0)
OBJECT:('%',"food ration"),(6,2)
OBJECT:('/',"sleep"),(6,3)
"""


def just_fell(player):
    """Take the corpses of the level for those of monsters that fell this turn."""
    player.level.fresh.update(dict.fromkeys(player.level.objects, player.body.turn))
    (place,) = player.level.fresh
    return place


@pytest.mark.parametrize(
    "text",
    ["2 cloves of garlic", "3 uncursed sprigs of wolfsbane", "2 lumps of royal jelly", "2 eucalyptus leaves"],
)
def test_food_is_known_in_the_plural(text: str):
    assert surviving.is_ration(text)


@pytest.mark.parametrize(
    ("text", "food"),
    [
        ("2 uncursed tins of jackal meat", True),
        ("an uncursed tin of lichen", True),
        ("a tin of cockatrice meat", False),
        ("a tin of dwarf meat", False),
        ("a tin", False),
    ],
)
def test_tins_are_food_if_what_is_in_them_is_known_and_harms_nobody(text: str, food: bool):
    assert surviving.is_ration(text) is food


@pytest.mark.parametrize(("seed", "tin"), [(2, "newt"), (3, "spinach"), (6, "lichen")])
def test_a_tin_is_eaten_once_it_is_open(seed: int, tin: str):
    with made(ROOM, "tou-hum-neu-mal", seed) as game:
        player = game.player
        (item,) = (each for each in surviving.rations(player) if tin in each.name)
        heard: list[str] = []
        while player.world.item(item.name) == item and len(heard) < 100:
            game.run(surviving.eat_item, item)
            heard += player.heard
        assert any("You consume" in line or "feel like" in line for line in heard), heard
        assert not any("You discard" in line for line in heard)


def test_an_interrupted_meal_is_continued():
    with made(NEXT_DOOR) as game:
        player, bot = game.player, Bot(game.player)
        place = just_fell(player)
        assert game.run(lambda _: meals.eat_corpses(bot))
        assert player.said("You stop eating")
        assert game.run(kill_all) == "nobody is left"
        assert place in player.level.fresh
        assert game.run(lambda _: meals.eat_corpses(bot))
        assert player.said("You finish eating")
        assert place not in player.level.fresh


@pytest.mark.parametrize(("larder", "eaten"), [(True, True), (False, False)])
def test_who_is_weak_eats_while_enemies_are_some_way_off(larder: bool, eaten: bool):
    beasts = 'OBJECT:(\'%\',"corpse"),(3,1),montype:"gecko"\nMONSTER:(\':\',"newt"),(8,3),asleep\n'
    with made(ROOM + beasts) as game:
        player, bot = game.player, Bot(game.player, Plan(on=Switches(larder=larder)))
        place = just_fell(player)
        assert bot.enemies()
        player.prayed = player.body.turn
        assert not game.run(lambda _: hero_needs.needs(bot))
        player.body.hunger = w.WEAK
        assert game.run(lambda _: hero_needs.needs(bot)) is eaten
        assert (player.here == place) is eaten


def test_poison_is_eaten_by_the_fainting_only_and_tainted_meat_by_nobody():
    with made(ROOM, "wiz-gno-neu-mal") as game:
        game.run(looking.look_at_oneself)
        body, bot = game.player.body, Bot(game.player)
        body.hp = TUNING.upset + 1
        for body.hunger, eaten in ((w.WEAK, False), (w.FAINTING, True)):
            assert meals._eats(bot, species_of("kobold")) is eaten
            assert meals._eats(bot, species_of("gnome")) is eaten
            assert not meals._eats(bot, species_of("kobold zombie"))
            assert not meals._eats(bot, species_of("cockatrice"))
            assert not meals._eats(bot, species_of("violet fungus"))  # 200 turns of hallucination
        body.hp = TUNING.upset
        assert not meals._eats(bot, species_of("kobold"))


def test_the_hungry_eat_older_corpses_but_none_that_may_be_tainted():
    with made(ROOM) as game:
        body, bot = game.player.body, Bot(game.player)
        for body.hunger, longest in ((1, TUNING.fresh), (w.HUNGRY, TUNING.untainted)):
            assert meals._is_fresh(bot, body.turn - longest)
            assert not meals._is_fresh(bot, body.turn - longest - 1)
        assert TUNING.untainted < 60  # eat.c: the youngest that may be tainted


@pytest.mark.parametrize(("gold", "bought"), [(150, True), (20, False)])
def test_the_hungry_buy_food_that_they_can_pay(gold: int, bought: bool):
    goods = f"OBJECT:('%',\"food ration\"),(12,2)\nGOLD:{gold},(2,1)\n"
    with made(SHOP + goods, "cav-gno-neu-mal") as game:
        player, bot = game.player, Bot(game.player, Plan(dig=False))
        game.run(lambda _: errands.collect(bot))
        game.run(lambda _: exploring.explore(player, lambda: False))
        assert not game.run(lambda _: shopping.buy(bot))
        assert game.run(wait, w.HUNGRY) == "waited"
        for _ in range(40):
            if not game.run(lambda _: shopping.buy(bot)):
                break
        assert (player.body.gold < gold) is bought
        food = surviving.rations(player)
        assert bool(food) is bought
        assert not any("unpaid" in each.text for each in food)


def test_the_rich_buy_food_before_hunger_comes():
    with made(ROOM) as game:
        body, bot = game.player.body, Bot(game.player)
        for body.gold, buys in ((TUNING.rich, True), (TUNING.rich - 1, False)):
            assert shopping._buys(bot, "a food ration (for sale, 45 zorkmids)") is buys
        body.gold = TUNING.rich
        assert not shopping._buys(bot, "a food ration (for sale, 201 zorkmids)")
        assert not shopping._buys(bot, "a food ration")
        game.player.world.items = [read_item("a", "an uncursed apple")]
        assert not shopping._buys(bot, "a food ration (for sale, 45 zorkmids)")


def test_a_way_to_food_is_looked_for_again():
    with made(BARS) as game:
        player, bot = game.player, Bot(game.player)
        assert len(player.level.objects) == 2
        assert game.run(lambda _: errands.collect(bot))
        assert not game.run(lambda _: errands.collect(bot))
        (food,) = bot.unreached
        bot.unreached[food] -= TUNING.tried_again
        assert errands._worth_a_walk(bot, food[1])
        assert len(bot.looked) == 1


@pytest.mark.parametrize(
    ("name", "kind"),
    [("dwarvish spear", "weapon"), ("uncursed pear", "food"), ("2 cloves of garlic", "food")],
)
def test_the_word_pear_in_spear_makes_no_food(name: str, kind: str):
    assert plan_items.class_of(name) == kind
