"""Situations of the first levels: stairs under items, whom to attack, where to fight, when to leave."""

import pytest

from balrog_rag.bots.nethack.delver import battle, journey, meals, obstacles, retreat
from balrog_rag.bots.nethack.delver.state import Bot
from balrog_rag.bots.nethack.skills import exploring, fighting, gear, looking, magic, missiles, stairs
from balrog_rag.bots.nethack.skills.tuning import TUNING
from balrog_rag.envs.nethack.world import glyph_kinds
from balrog_rag.envs.nethack.world import known_world as w
from balrog_rag.envs.nethack.world import terrain as t
from balrog_rag.envs.nethack.world.level import Place
from balrog_rag.envs.nethack.world.refusals import Act, Refusal
from balrog_rag.envs.nethack.world.species import all_species
from tests.bots.skills.made import made
from tests.bots.skills.test_moving import FAR_ROOM, PASSAGE, explore_all
from tests.bots.skills.test_surviving import ROOM, take

FAR_STAIRS = FAR_ROOM + "STAIR:(13,2),down\n"


NARROW = """MAP
-------  -------
|.....|  |.....|
|......# |.....|
|.....| #......|
-------  -------
ENDMAP
REGION:(0,0,15,4),lit,"ordinary"
NON_DIGGABLE:(0,0,15,4)
BRANCH:(1,1,1,1),(0,0,0,0)
STAIR:(14,1),down
"""


def species_of(name):
    return next(species for species in all_species() if species.name == name)


def look_under_all(player):
    while (yield from exploring.look_under(player)) != exploring.EXPLORED:
        pass


def at_once(rule):
    """The result of a rule that must not press any key."""
    return next(rule, None)


def test_stairs_under_a_thing_are_found():
    with made(ROOM + "STAIR:(8,2),down\nOBJECT:(')',\"dagger\"),(8,2)\n") as game:
        player = game.player
        game.run(explore_all)
        assert stairs.known_stairs(player, down=True) == []
        game.run(look_under_all)
        assert stairs.known_stairs(player, down=True) == [player.here]
        assert game.run(exploring.look_under) == exploring.EXPLORED


def test_a_map_is_read_once_and_shows_stairs_out_of_sight():
    with made(FAR_STAIRS, character="tou-hum-neu-fem") as game:
        player = game.player
        assert stairs.known_stairs(player, down=True) == []
        assert game.run(magic.read_map) == "read"
        assert len(stairs.known_stairs(player, down=True)) == 1
        assert game.run(magic.read_map) == magic.NO_MAP


@pytest.mark.parametrize("feverish", [False, True])
def test_who_will_be_a_were_creature_does_not_eat_its_kind(feverish: bool):
    with made(ROOM + 'OBJECT:(\'%\',"corpse"),(2,1),montype:"jackal"\n') as game:
        player = game.player
        (place,) = player.level.objects
        player.feverish = feverish
        player.level.fresh[place] = player.body.turn
        game.run(lambda _: meals.eat_corpses(Bot(player)))
        assert (player.here == place) is not feverish


def test_who_hurts_us_is_not_taken_for_a_peaceful_one_of_its_kind():
    with made(ROOM + "MONSTER:('h',\"hobbit\"),(2,1),hostile,asleep\n") as game:
        bot, (hobbit,) = Bot(game.player), game.player.world.monsters
        hobbit.peaceful = True
        assert not game.run(lambda _: battle.battle(bot))
        bot.hurt = True
        assert game.run(lambda _: battle.battle(bot))
        assert hobbit.peaceful is False


def test_in_towns_all_are_looked_at_twice_before_they_are_struck():
    with made(ROOM + "MONSTER:('h',\"hobbit\"),(2,1),peaceful,asleep\n") as game:
        bot, (hobbit,) = Bot(game.player), game.player.world.monsters
        hobbit.peaceful = False
        game.player.level.watched = True
        assert not game.run(lambda _: battle.battle(bot))
        assert hobbit.peaceful
        assert ord("F") not in game.pressed


def test_a_peaceful_sleeper_in_the_only_passage_is_struck_after_long_searching():
    with made(PASSAGE + "MONSTER:('h',\"hobbit\"),(8,2),peaceful,asleep\n") as game:
        player = game.player
        bot = Bot(player)
        game.run(explore_all)
        for monster in player.world.monsters:
            monster.peaceful = True
        assert not game.run(lambda _: obstacles.blocked_by_friends(bot))
        player.refusals[Refusal(Act.SEARCH, player.level.place)] = TUNING.stuck_searches + 1
        for _ in range(3):
            game.run(lambda _: obstacles.blocked_by_friends(bot))
        assert ord("F") in game.pressed


def test_one_in_the_way_is_the_same_when_it_is_met_again():
    with made(PASSAGE + "MONSTER:('e',\"floating eye\"),(8,2),asleep\n") as game:
        bot, player = Bot(game.player), game.player
        game.run(explore_all)
        (eye,) = player.hostiles()
        name = obstacles.way(bot, eye)
        eye.number += 100
        assert obstacles.way(bot, eye) == name


def test_on_stairs_up_one_fights_until_it_is_serious():
    ants = "".join(f"MONSTER:('a',\"soldier ant\"),({x},2),hostile,asleep\n" for x in (1, 2, 3))
    with made(ROOM + ants) as game:
        player = game.player
        bot, enemies = Bot(player), player.hostiles()
        assert retreat.losing(bot, enemies)
        player.level.set_terrain(player.here, t.STAIRS_UP)
        assert retreat.losing(bot, enemies)
        player.body.depth = 2
        assert retreat.losing(bot, enemies)
        bot.flights[player.world.place] = 2
        assert not retreat.losing(bot, enemies)


def test_nobody_holds_out_on_elbereth_under_fire():
    with made(ROOM + "MONSTER:('k',\"kobold\"),(3,1),hostile,asleep\n") as game:
        player = game.player
        bot, enemies = Bot(player), player.hostiles()
        player.body.hp = player.body.max_hp // 2
        assert at_once(retreat.hold(bot, enemies)) is not None
        bot.fired_at = player.body.turn
        assert at_once(retreat.hold(bot, enemies)) is None


def test_who_is_shot_at_out_of_the_dark_makes_for_the_stairs():
    with made(ROOM) as game:
        player = game.player
        bot = Bot(player)
        up = max(player.level.spots((t.FLOOR,)), key=lambda place: t.distance(place, player.here))
        player.level.set_terrain(up, t.STAIRS_UP)
        player.body.depth, player.body.hp = 2, player.body.max_hp // 2
        assert at_once(retreat.take_cover(bot)) is None
        bot.fired_at, far = player.body.turn, t.distance(player.here, up)
        assert game.run(lambda _: retreat.take_cover(bot))
        assert t.distance(player.here, up) == far - 1


@pytest.mark.parametrize(
    ("hp", "hunger", "since", "recovers"),
    [
        (0.89, 1, 1, True),
        (0.9, 1, 1, False),
        (0.5, w.WEAK, 1, False),
        (0.5, 1, TUNING.shun, False),
    ],
)
def test_beside_where_one_fled_wounds_heal_first(hp: float, hunger: int, since: int, recovers: bool) -> None:
    with made(ROOM) as game:
        bot, body, place = Bot(game.player), game.player.body, Place(0, 2)
        body.max_hp, body.hp, body.hunger = 1000, int(1000 * hp), hunger
        assert not bot.recovering()
        game.player.level.links[game.player.here] = place
        assert not bot.recovering()
        bot.fled[place] = body.turn - since
        assert bot.recovering() is recovers


def test_where_the_mines_lead_no_further_one_goes_back():
    with made(ROOM) as game:
        bot, player = Bot(game.player), game.player
        game.run(explore_all)
        assert not journey._at_the_end(bot)
        player.refusals[Refusal(Act.SEARCH, player.level.place)] = TUNING.mines_given_up + 1
        assert journey._at_the_end(bot)


def test_a_hostile_dog_becomes_a_pet_for_what_it_likes_to_eat():
    with made(
        ROOM + "MONSTER:('d',\"little dog\"),(4,1),hostile,asleep\nOBJECT:('%',\"tripe ration\"),(1,2)\n"
    ) as game:
        player = game.player
        assert game.run(fighting.tame, player.hostiles()) == fighting.NOTHING_TO_THROW
        game.run(take, "tripe ration")
        for _ in range(10):
            if game.run(fighting.tame, player.hostiles()) == fighting.THREW:
                break
            game.run(fighting.approach, player.hostiles())
        (dog,) = player.world.monsters
        assert dog.tame


def test_who_is_far_off_is_looked_at_before_it_is_shot():
    with made(ROOM + "MONSTER:('h',\"hobbit\"),(9,1),peaceful,asleep\n", character="rog-hum-cha-mal") as game:
        player = game.player
        (hobbit,) = player.world.monsters
        assert missiles.missile_of(player)
        assert fighting.in_range(player, player.here, hobbit)
        assert t.distance(player.here, hobbit.place) == 8
        assert not game.run(lambda _: battle.battle(Bot(player)))
        assert hobbit.peaceful
        assert ord("t") not in game.pressed


def test_a_pet_out_of_sight_is_waited_for_if_it_was_seen_of_late():
    with made(ROOM) as game:
        player = game.player
        turn = player.body.turn
        game.run(stairs.wait_for_pet, 10)
        assert player.body.turn == turn
        player.level.pet = turn
        game.run(stairs.wait_for_pet, 10)
        assert player.body.turn > turn + 3


def test_a_corpse_that_its_own_kind_walked_over_is_not_fresh():
    with made(ROOM + 'OBJECT:(\'%\',"corpse"),(5,2),montype:"jackal"\n') as game:
        level, table = game.player.level, glyph_kinds.kinds()
        (place,) = level.objects
        corpse, shown = level.objects[place], level._shown.copy()
        jackal = next(
            glyph
            for glyph, shows in enumerate(table.shows)
            if shows == glyph_kinds.MONSTER and table.species[glyph] == table.species[corpse]
        )
        floor = shown[game.player.here + 1]
        for glyphs, fresh in (((jackal, corpse), []), ((floor, jackal, corpse), [place])):
            for glyph in glyphs:
                shown[place] = glyph
                level.see(shown, turn=7)
            assert list(level.fresh) == fresh


@pytest.mark.parametrize(("character", "eaten"), [("sam-hum-law-fem", False), ("bar-orc-cha-mal", True)])
def test_only_orcs_and_cavemen_eat_dogs_unless_in_need(character: str, eaten: bool):
    with made(ROOM + 'OBJECT:(\'%\',"corpse"),(2,1),montype:"little dog"\n', character) as game:
        player = game.player
        game.run(looking.look_at_oneself)
        (place,) = player.level.objects
        player.level.fresh[place] = player.body.turn
        bot = Bot(player)
        game.run(lambda _: meals.eat_corpses(bot))
        assert (player.here == place) is eaten
        player.body.hunger = w.WEAK
        assert meals._eats(bot, species_of("little dog"))


@pytest.mark.parametrize(("character", "eaten"), [("wiz-gno-neu-mal", False), ("cav-gno-neu-mal", True)])
def test_only_orcs_and_cavemen_eat_their_own_kind(character: str, eaten: bool):
    with made(ROOM, character) as game:
        game.run(looking.look_at_oneself)
        bot = Bot(game.player)
        assert meals._eats(bot, species_of("gnome")) is eaten
        assert meals._eats(bot, species_of("newt"))
        assert not meals._eats(bot, species_of("kobold"))


def test_who_carries_too_much_for_a_narrow_place_leaves_something_behind():
    with made(NARROW + "OBJECT:(')',\"lance\"),(3,2)\n") as game:
        player = game.player
        game.run(take, "lance")
        game.run(explore_all)
        assert not player.body.load
        assert stairs.known_stairs(player, down=True) == []
        game.run(gear.drop, gear.burden(player))
        assert gear.burden(player) is None
        game.run(explore_all)
        assert len(stairs.known_stairs(player, down=True)) == 1
