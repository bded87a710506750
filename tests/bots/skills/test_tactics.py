"""Single tactics of the delver: on and off, in the same place."""

import pytest

from balrog_rag.bots.nethack.delver import battle, errands, hero_needs, journey, meals
from balrog_rag.bots.nethack.delver.state import Bot, Plan
from balrog_rag.bots.nethack.delver.switches import Switches
from balrog_rag.bots.nethack.skills import exploring, fighting, gear, looking, magic, missiles, surviving
from balrog_rag.bots.nethack.skills.fight_cost import adjacent, our_damage
from balrog_rag.bots.nethack.skills.told import Told
from balrog_rag.bots.nethack.skills.tuning import TUNING
from balrog_rag.envs.nethack.world import keys
from balrog_rag.envs.nethack.world import known_world as w
from balrog_rag.envs.nethack.world import terrain as t
from balrog_rag.envs.nethack.world.items import Item
from balrog_rag.envs.nethack.world.player import Player, Skill
from balrog_rag.envs.nethack.world.refusals import Act, Refusal
from tests.bots.skills.made import ROOM, made
from tests.bots.skills.test_surviving import ROOM as DEEP_ROOM
from tests.bots.skills.test_surviving import kill_all, take


def without(name: str) -> Plan:
    return Plan(on=Switches(**{name: False}))


def test_a_digger_that_was_heard_is_awaited_for_a_while() -> None:
    with made(ROOM) as game:
        player = game.player
        bot, off = Bot(player), Bot(player, without("listening"))
        assert not journey._digger_about(bot)
        player.world._read("You hear crashing rock.")
        assert journey._digger_about(bot)
        assert not journey._digger_about(off)
        turn = player.body.turn
        for _ in range(TUNING.listen_longest):
            assert journey._digger_about(bot)
            game.run(lambda _: journey._await_digger(bot))
            player.level.dug = player.body.turn
        assert player.body.turn - turn > TUNING.listen_longest
        assert not journey._digger_about(bot)
        player.refusals[Refusal(Act.LISTEN, player.level.place)] = 0
        player.level.dug = player.body.turn - TUNING.dug_lately
        assert not journey._digger_about(bot)


def test_dwarf_lords_are_victims_too() -> None:
    with made(ROOM + "MONSTER:('h',\"dwarf lord\"),(7,1),peaceful\n") as game:
        player = game.player
        player.world.monsters[0].peaceful, player.body.hp, player.body.max_hp = True, 90, 90
        assert Bot(player).victims()
        assert not Bot(player, without("murder")).victims()


HALL = """MAP
-----------------------
|.....................|
-----------------------
ENDMAP
REGION:(0,0,22,2),lit,"ordinary"
BRANCH:(1,1,1,1),(0,0,0,0)
"""


def _dwarven(player: Player) -> Player:
    player.race, player.alignment, player.body.hp, player.body.max_hp = "dwarven", "lawful", 90, 90
    return player


def test_dwarves_are_victims_as_far_as_they_are_seen() -> None:
    with made(HALL + "MONSTER:('h',\"dwarf\"),(18,1),peaceful,asleep\n", "val-dwa-law-fem") as game:
        bot = Bot(_dwarven(game.player))
        (dwarf,) = bot.player.world.monsters
        assert dwarf.peaceful is None
        assert t.distance(dwarf.place, bot.player.here) > TUNING.enemy_sight
        assert bot.prey() == (dwarf, [bot.player.here + 1 + far for far in range(16)])
        assert bot.alarm(), "a long walk ends for it"
        bot.player.level.forbid([dwarf.place - 4])
        assert not bot.prey()
        assert not bot.alarm()
        bot.player.level.allow([dwarf.place - 4])
        assert bot.prey(), "a way is looked for in every turn"


@pytest.mark.parametrize("watched", [False, True])
def test_in_a_town_dwarves_are_attacked_only_while_no_watchman_looks(watched: bool) -> None:
    watchman = "MONSTER:('@',\"watchman\"),(9,1),peaceful,asleep\n"
    dwarf = "MONSTER:('h',\"dwarf\"),(2,1),peaceful,asleep\n"
    with made(HALL + dwarf + watchman * watched, "val-dwa-law-fem") as game:
        bot = Bot(_dwarven(game.player))
        bot.player.level.watched = True
        waits = 0
        while game.run(lambda _: battle._murder(bot)) and waits < TUNING.chase_steps:
            waits += 1
        assert (ord("F") in game.pressed) is not watched
        assert not bot.victims(), "it is dead, or left alone for a while"
        bot.player.race = "human"
        bot.ignored.clear()
        assert not bot.victims(), "in the dark, a human would not see who looks on"


def test_peace_is_asked_of_who_stands_where_a_wall_was() -> None:
    with made(ROOM + "MONSTER:('h',\"dwarf\"),(2,1),peaceful,asleep\nBRANCH:(1,1,1,1),(0,0,0,0)\n") as game:
        (dwarf,) = game.player.world.monsters
        game.player.level.set_terrain(dwarf.place, next(iter(t.WALLS)))
        game.run(fighting.attack, dwarf)
        assert dwarf.peaceful
        assert ord("F") not in game.pressed


@pytest.mark.parametrize("condition", [w.BLIND, w.HALLUCINATING])
def test_who_cannot_tell_a_watchman_waits_in_a_town(condition: int) -> None:
    with made(ROOM) as game:
        player = game.player
        player.body.condition = condition
        assert next(hero_needs.needs(Bot(player)), None) is None
        player.level.watched = True
        begun = player.body.turn
        assert game.run(lambda _: hero_needs.needs(Bot(player)))
        assert player.body.turn > begun
        assert set(game.pressed) == {ord(str(TUNING.short_wait)), keys.SEARCH}
        player.body.condition = condition
        assert next(hero_needs.needs(Bot(player, hurt=True)), None) is None


@pytest.mark.parametrize(("watched", "attacked"), [(False, False), (True, False), (True, True)])
def test_the_confused_strike_in_a_town_only_at_who_attacked_them(watched: bool, attacked: bool) -> None:
    with made(ROOM + "MONSTER:('h',\"hobbit\"),(2,1),peaceful,asleep\nBRANCH:(1,1,1,1),(0,0,0,0)\n") as game:
        player, (hobbit,) = game.player, game.player.world.monsters
        player.level.watched, hobbit.attacked, player.body.condition = watched, attacked, w.CONFUSED
        assert hobbit.peaceful is None
        told = game.run(fighting.attack, hobbit)
        assert told == (Told.WAITED if watched and not attacked else Told.ATTACKED)
        assert (ord("F") in game.pressed) is (told == Told.ATTACKED)


def test_armour_that_was_taken_off_is_put_on_again() -> None:
    with made(ROOM + "OBJECT:('[',\"dwarvish iron helm\"),(5,2)\n") as game:
        player = game.player
        game.run(take, "dwarvish iron helm")
        for _ in range(3):
            helmet = gear.to_wear(player)
            assert helmet
            game.run(gear.wear, helmet)
            assert not gear.to_wear(player)
            game.run(Player.ask, keys.TAKE_OFF, ("want to take off", helmet.letter))


def _worn(player: Player) -> set[str]:
    return {item.name for item in player.world.items if item.worn}


@pytest.mark.parametrize(
    ("character", "gone"), [("ran-hum-neu-mal", ""), ("arc-hum-neu-mal", "leather jacket")]
)
def test_mithril_is_put_on_beneath_a_cloak_and_instead_of_a_jacket(character: str, gone: str) -> None:
    """A Ranger wears a cloak and no body armour, an Archeologist a jacket and a hat."""
    mail = ROOM + "BRANCH:(1,1,1,1),(0,0,0,0)\nOBJECT:('[',\"dwarvish mithril-coat\"),(1,1)\n"
    with made(mail, character) as game:
        player, bot = game.player, Bot(game.player)
        before = _worn(player)
        game.run(take, "mithril")
        while game.run(lambda _: errands.upkeep(bot)):
            pass
        assert _worn(player) == {*before, "dwarvish mithril-coat"} - {gone}


def test_what_goes_beneath_a_cloak_is_put_on_first() -> None:
    things = "OBJECT:('[',\"dwarvish cloak\"),(1,1)\nOBJECT:('[',\"elven mithril-coat\"),(1,1)\n"
    with made(ROOM + "BRANCH:(1,1,1,1),(0,0,0,0)\n" + things, "val-hum-neu-fem") as game:
        for name in ("dwarvish cloak", "mithril"):
            assert game.run(gear.pick_up, lambda text, name=name: name in text) == Told.TOOK
        first = gear.to_wear(game.player)
        assert first is not None
        assert "mithril" in first.name


@pytest.mark.parametrize(
    ("character", "found", "changes"),
    [
        ("rog-hum-cha-mal", "dwarvish mithril-coat", True),
        ("rog-hum-cha-mal", "ring mail", False),
        ("rog-hum-cha-mal", "studded leather armor", False),
        ("wiz-hum-neu-mal", "dwarvish mithril-coat", False),
        ("sam-hum-law-fem", "elven mithril-coat", False),
        ("ran-hum-neu-mal", "chain mail", False),
        ("mon-hum-neu-mal", "leather armor", False),
        ("val-hum-neu-fem", "ring mail", True),
        ("val-hum-neu-fem", "faded pall", True),
    ],
)
def test_body_armour_is_exchanged_for_what_protects_clearly_better(
    character: str, found: str, changes: bool
) -> None:
    with made(ROOM, character) as game:
        game.run(looking.look_at_oneself)
        assert gear.could_wear(game.player, found) is changes


def test_a_cloak_that_could_not_be_taken_off_stays_on() -> None:
    with made(ROOM, "ran-hum-neu-mal") as game:
        player = game.player
        game.run(looking.look_at_oneself)
        (cloak,) = (item for item in player.world.items if item.slot == "cloak")
        assert gear.could_wear(player, "elven mithril-coat")
        player.refusals[Refusal(Act.TAKE_OFF, cloak.text)] = TUNING.take_off_tries + 1
        assert not gear.could_wear(player, "elven mithril-coat")


@pytest.mark.parametrize(("role", "doubtful"), [("Priest", False), ("Samurai", True)])
def test_priests_know_what_is_cursed(role: str, doubtful: bool) -> None:
    with made(ROOM) as game:
        game.player.role = role
        assert gear._doubtful(game.player, Item("z", "a mace", 1, "", None, "mace", "")) is doubtful


def test_a_lichen_is_kept_for_hunger_and_eaten_with_an_enemy_about() -> None:
    beasts = 'MONSTER:(\'d\',"jackal"),(8,2),asleep\nOBJECT:(\'%\',"corpse"),(5,2),montype:"lichen"\n'
    with made(ROOM + beasts) as game:
        player = game.player
        bot, off = Bot(player), Bot(player, without("larder"))
        game.run(take, "lichen corpse")
        assert surviving.rations(player, lichens=True)
        player.body.hunger = w.WEAK
        assert bot.enemies()
        assert meals.mealtime(bot) is not bool(adjacent(player, bot.enemies()))
        assert not meals.mealtime(off)
        player.body.hunger = w.FAINTING
        assert meals.mealtime(bot)
        assert not meals.mealtime(off)
        assert not bot.starving()
        assert off.starving()
        game.run(surviving.eat, True)
        left = player.world.item("lichen corpse")
        assert left is None or "partly eaten" in left.name


def test_nobody_eats_while_swallowed_before_fainting() -> None:
    with made(ROOM) as game:
        player = game.player
        bot = Bot(player)
        player.body.hunger = w.HUNGRY
        assert meals.mealtime(bot)
        player.world.swallowed = True
        assert not meals.mealtime(bot)
        player.body.hunger = w.FAINTING
        assert meals.mealtime(bot)


def test_with_a_weapon_welded_to_the_hand_no_other_is_drawn() -> None:
    with made(ROOM, "ran-elf-cha-fem") as game:
        player = game.player
        player.role = "Ranger"
        assert gear.best_weapon(player) is missiles.launcher(player)
        player._note_state("Your broad pick is welded to your hands!")
        assert player.welded
        assert player.cursed_hands
        held = gear.best_weapon(player)
        assert held is not None
        assert held.wielded


def test_a_were_creature_has_no_hands() -> None:
    with made(ROOM + "OBJECT:('[',\"dwarvish iron helm\"),(5,2)\n") as game:
        player = game.player
        game.run(take, "dwarvish iron helm")
        sword = gear.best_weapon(player)
        player._note_state("You turn into a wererat!")
        assert not player.changed
        player.minds_form = True
        player._note_state("You turn into a wererat!")
        assert not gear.best_weapon(player)
        assert not gear.to_wear(player)
        assert not gear.unarmed(player)
        assert not game.run(lambda _: errands.collect(Bot(player)))
        player._note_state("You return to human form!")
        assert gear.best_weapon(player) == sword
        assert gear.to_wear(player)


def test_empty_hands_take_up_a_weapon() -> None:
    with made(ROOM + "OBJECT:(')',\"long sword\"),(5,2)\n", character="tou-hum-neu-fem") as game:
        player = game.player
        bot, off = Bot(player), Bot(player, Plan(on=Switches(rearm=False, weapons=False)))
        assert gear.unarmed(player)
        assert not errands.wanted(off, "long sword")
        while game.run(lambda _: errands.collect(bot)):
            pass
        assert not gear.unarmed(player)
        assert next(battle._rearm(off), None) is None
        assert game.run(lambda _: battle._rearm(bot))
        assert next(item for item in player.world.items if item.wielded).name == "long sword"
        assert not game.run(lambda _: battle._rearm(bot))


def test_beside_what_ignores_elbereth_one_fights_instead_of_digging() -> None:
    elf = ROOM + "MONSTER:('@',\"Woodland-elf\"),(5,2),asleep\nBRANCH:(4,2,4,2),(0,0,0,0)\n"
    with made(elf, character="arc-hum-neu-mal") as game:
        bot, body = Bot(game.player), game.player.body
        body.level, body.hp = 5, 9
        assert battle.while_digging(bot, bot.enemies()) == bot.enemies() != []
        body.level = TUNING.pit_novice
        assert battle.while_digging(bot, bot.enemies()) == []
        body.level, body.hp = 5, 9
        bot.enemies()[0].species = None
        assert battle.while_digging(bot, bot.enemies()) == []
        body.hp = 90
        assert len(battle.while_digging(bot, bot.enemies())) == 1


@pytest.mark.parametrize(("arrows", "damage"), [(True, TUNING.volley), (False, TUNING.other_weapon)])
def test_a_bow_is_worth_its_arrows(arrows: bool, damage: float) -> None:
    with made(ROOM, "ran-elf-cha-mal") as game:
        player = game.player
        bow = next(item for item in player.world.items if item.name.endswith("bow"))
        game.run(gear.wield, bow)
        if not arrows:
            player.world.items = [item for item in player.world.items if "arrow" not in item.name]
        player.body.strength = 16
        own = next(item.enchantment or 0 for item in player.world.items if item.wielded)
        assert our_damage(player) == damage + (0 if arrows else own)


def test_a_crossbow_shoots_no_arrows() -> None:
    with made(ROOM + "OBJECT:(')',\"crossbow\"),(1,1)\n", "ran-hum-neu-mal") as game:
        player = game.player
        game.run(looking.look_at_oneself)
        game.run(take, "crossbow")
        items = {item.name: item for item in player.world.items}
        game.run(gear.wield, items["crossbow"])
        assert missiles.missile_of(player) == items["dagger"].letter
        assert our_damage(player) < TUNING.volley
        best = gear.best_weapon(player)
        assert best is not None
        assert best.name == "bow"


def test_rangers_shoot_also_from_the_pit() -> None:
    with made(ROOM + "MONSTER:('@',\"Woodland-elf\"),(2,1),hostile,asleep\n", "ran-hum-neu-mal") as game:
        player = game.player
        game.run(looking.look_at_oneself)
        bow = next(item for item in player.world.items if item.name.endswith("bow"))
        game.run(gear.wield, bow)
        (elf,) = adjacent(player, player.world.monsters)
        game.run(fighting.make_sure, [elf])
        assert game.run(lambda _: battle._defend(Bot(player), [elf]))
        assert ord("t") in game.pressed


ELF = ROOM + "MONSTER:('@',\"Woodland-elf\"),(2,1),hostile,asleep\n"


@pytest.mark.parametrize("power", [5, 4])
def test_a_wizard_in_the_pit_casts_while_there_is_power(power: int) -> None:
    with made(ELF, "wiz-hum-neu-mal") as game:
        player = game.player
        game.run(magic.spells)
        (elf,) = adjacent(player, player.world.monsters)
        game.run(fighting.make_sure, [elf])
        player.body.power, begun = power, len(game.pressed)
        assert game.run(lambda _: battle._defend(Bot(player), [elf]))
        assert (keys.CAST in game.pressed[begun:]) is (power == 5)


@pytest.mark.parametrize(("hurt", "on"), [(0.49, True), (0.51, True), (0.49, False)])
def test_a_healer_heals_below_half_of_the_hit_points(hurt: float, on: bool) -> None:
    with made(ELF, "hea-hum-neu-fem") as game:
        player = game.player
        game.run(magic.spells)
        player.body.hp, begun = int(hurt * 100), len(game.pressed)
        player.body.max_hp, player.body.power = 100, 5
        bot = Bot(player, Plan(on=Switches(healing_spells=on)))
        cast = game.run(lambda _: battle._magic(bot, adjacent(player, player.world.monsters), hopeless=False))
        assert bool(cast) is (keys.CAST in game.pressed[begun:]) is (hurt < 0.5 and on)


@pytest.mark.parametrize("on", [True, False])
def test_who_has_turned_into_a_were_creature_waits_where_its_things_fell_off(on: bool) -> None:
    with made(ROOM) as game:
        player, turn = game.player, game.player.body.turn
        player.minds_form = on
        player._note_state("You turn into a wererat!")
        assert (player.shed == (player.level.place, player.here)) is on
        assert game.run(lambda _: errands.upkeep(Bot(player))) is on
        assert (player.body.turn > turn) is on


@pytest.mark.parametrize("here", [True, False])
def test_a_weapon_that_fell_off_is_taken_up_in_a_fight(here: bool) -> None:
    room = ROOM + "BRANCH:(1,1,1,1),(0,0,0,0)\nOBJECT:(')',\"long sword\"),(1,1)\n"
    with made(room, "tou-hum-neu-fem") as game:
        player = game.player
        bot = Bot(player)
        assert gear.unarmed(player)
        player.shed = player.level.place, player.here + (not here)
        player.heard.append("$ - 4 gold pieces.")  # said before the fight: nothing was taken up now
        assert game.run(lambda _: battle._rearm(bot)) is here
        assert gear.unarmed(player) is not here
        assert game.run(lambda _: battle._rearm(bot)) is here
        assert any(item.wielded for item in player.world.items) is here


def test_who_is_held_strikes_at_nobody_else() -> None:
    pair = "MONSTER:('F',\"lichen\"),(2,2),hostile\nMONSTER:(':',\"newt\"),(2,1),hostile,asleep\n"
    with made(DEEP_ROOM + pair, "val-hum-neu-fem") as game:
        player = game.player

        def get_stuck(player: Player) -> Skill:
            for _ in range(60):
                yield from exploring.search(player, 1)
                if player.said("lichen touches you"):
                    newt = next(enemy for enemy in player.hostiles() if enemy.species.name == "newt")
                    yield from fighting.attack(player, newt)
                if player.holder:
                    return player.holder
            return "never"

        assert game.run(get_stuck) == "lichen"
        game.run(fighting.fight, player.hostiles())
        assert player.said("the lichen")
        assert not player.said("cannot escape")
        assert game.run(kill_all) == "nobody is left"


def test_of_two_digging_tools_one_is_enough() -> None:
    tools = "OBJECT:('(',\"pick-axe\"),(5,2)\nOBJECT:('(',\"pick-axe\"),(6,2)\n"
    with made(ROOM + tools, "val-hum-neu-fem") as game:
        bot = Bot(game.player)
        assert errands.wanted(bot, "a pick-axe")
        game.run(take, "pick-axe")
        assert not errands.wanted(bot, "a pick-axe")
        first = gear.digger(game.player)
        game.run(take, "pick-axe")  # nobody asked whether it is wanted
        assert gear.burden(game.player) is None
        game.player.refusals[Refusal(Act.SQUEEZE)] = 1
        spare = gear.burden(game.player)
        assert spare is not None
        assert gear.digs(spare.name)
        assert spare.letter != first.letter


@pytest.mark.parametrize("hurt", [False, True])
def test_who_struck_us_is_no_longer_ignored(hurt: bool) -> None:
    with made(ROOM + "MONSTER:('h',\"dwarf\"),(2,1),hostile,asleep\n") as game:
        bot, (dwarf,) = Bot(game.player), game.player.world.monsters
        bot.ignore([dwarf], 20)
        bot.hurt = hurt
        game.run(lambda _: battle.battle(bot))
        assert (dwarf.number in bot.ignored) is not hurt
