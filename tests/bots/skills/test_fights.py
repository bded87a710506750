"""Whom to shoot, to go to and to count on in a fight, and when to leave the stairs."""

import pytest

from balrog_rag.bots.nethack.delver import errands, meals, retreat
from balrog_rag.bots.nethack.delver.state import Bot
from balrog_rag.bots.nethack.skills import fighting
from balrog_rag.bots.nethack.skills.told import Told
from balrog_rag.envs.nethack.world import known_world as w
from balrog_rag.envs.nethack.world import terrain as t
from tests.bots.skills.made import made
from tests.bots.skills.test_surviving import ROOM

NEAR_KOBOLD = ROOM + "MONSTER:('k',\"large kobold\"),(2,1),hostile,asleep\n"
FAR_KOBOLD = ROOM + "MONSTER:('k',\"large kobold\"),(3,1),hostile,asleep\n"


@pytest.mark.parametrize("came", [False, True])
def test_no_meal_is_begun_before_whom_the_way_there_showed(came: bool, monkeypatch) -> None:
    with made(ROOM + 'OBJECT:(\'%\',"corpse"),(2,1),montype:"jackal"\n') as game:
        player = game.player
        (place,) = player.level.objects
        player.level.fresh[place] = player.body.turn
        looks = iter([False, came])
        monkeypatch.setattr(meals, "_disturbed", lambda _: next(looks))
        assert game.run(lambda _: meals.eat_corpses(Bot(player)))
        assert player.here == place
        assert (ord("e") in game.pressed) is not came
        assert (place in player.level.fresh) is came


@pytest.mark.parametrize("ground", [1, min(t.CLOSED_DOORS)])
def test_who_stands_in_a_wall_or_a_door_can_be_shot(ground: int) -> None:
    with made(FAR_KOBOLD) as game:
        player, (kobold,) = game.player, game.player.world.monsters
        player.level.set_terrain(kobold.place, ground)
        assert fighting.in_range(player, player.here, kobold)
        player.level.set_terrain((player.here + kobold.place) // 2, ground)
        assert not fighting.in_range(player, player.here, kobold)


@pytest.mark.parametrize(("helpless", "told"), [(0, Told.WAITED), (1000, Told.ARRIVED)])
def test_a_sleeper_is_gone_to_since_it_does_not_come(helpless: int, told: Told) -> None:
    with made(FAR_KOBOLD) as game:
        (kobold,) = game.player.world.monsters
        kobold.helpless = helpless
        assert game.run(fighting.approach, [kobold]) == told


def test_who_starves_on_the_stairs_does_not_fight_to_the_death() -> None:
    with made(NEAR_KOBOLD) as game:
        player, enemies = game.player, game.player.hostiles()
        bot = Bot(player)
        player.level.set_terrain(player.here, t.STAIRS_UP)
        player.body.depth, player.body.hp = 2, 1
        bot.flights[player.world.place] = 2
        assert not retreat.losing(bot, enemies)
        player.body.hunger, player.world.items = w.WEAK, []
        assert bot.starving()
        assert retreat.losing(bot, enemies)


@pytest.mark.parametrize(
    "words", ["You hear a nearby zap.  The wand hits you!", "The bolt of cold hits you!"]
)
def test_a_wand_is_fire_too(words: str) -> None:
    with made(ROOM) as game:
        player, bot = game.player, Bot(game.player, hurt=True)
        assert not bot.under_fire()
        player.heard.append(words)
        next(errands.upkeep(bot), None)
        assert bot.under_fire()
