"""Our own pets: what would kill them by our hand, and what their death costs."""

import pytest

from balrog_rag.bots.nethack.delver import hero_needs, obstacles
from balrog_rag.bots.nethack.delver.state import Bot
from balrog_rag.bots.nethack.skills import fighting, surviving
from balrog_rag.bots.nethack.skills.tuning import TUNING
from balrog_rag.envs.nethack.world import keys
from balrog_rag.envs.nethack.world import known_world as w
from balrog_rag.envs.nethack.world import terrain as t
from balrog_rag.envs.nethack.world.known_world import Monster
from balrog_rag.envs.nethack.world.player import Player
from tests.bots.skills.made import ROOM, made
from tests.bots.skills.test_early import species_of


def beside(player: Player, place: int) -> int:
    return next(near for near in t.NEAR[place] if near != player.here)


def a_dog(place: int) -> Monster:
    return Monster(place, species_of("little dog"), tame=True)


def test_nothing_is_blown_up_beside_a_friend() -> None:
    with made(ROOM + "MONSTER:('e',\"gas spore\"),(5,2),hostile,asleep\n") as game:
        player, (spore,) = game.player, game.player.world.monsters
        start = spore.place + 3
        assert fighting.in_range(player, start, spore)
        player.world.monsters.append(a_dog(spore.place - t.WIDTH))
        assert not fighting.in_range(player, start, spore)
        game.run(lambda _: obstacles.set_off(Bot(player), spore))
        assert game.pressed == [ord("1"), keys.SEARCH]


def test_whom_the_blind_feel_is_their_pet_until_it_hurts() -> None:
    with made(ROOM) as game:
        player = game.player
        bot, felt = Bot(player), Monster(beside(player, player.here), None, tame=False)
        player.world.monsters.append(felt)
        turn = player.body.turn
        player.body.condition, player.level.pet = w.BLIND, turn
        assert not bot.enemies()
        bot.struck_at = turn
        assert bot.enemies() == [felt]
        bot.struck_at = -100
        player.level.pet = turn - TUNING.pet_about
        assert bot.enemies() == [felt]
        player.level.pet, player.body.condition = turn, 0
        assert bot.enemies() == [felt]


@pytest.mark.parametrize("condition", [w.STUNNED, w.CONFUSED])
def test_who_reels_beside_a_pet_stands_still(condition: int) -> None:
    with made(ROOM) as game:
        player = game.player
        player.body.condition = condition
        assert next(hero_needs.needs(Bot(player)), None) is None
        player.world.monsters.append(a_dog(beside(player, player.here)))
        assert game.run(lambda _: hero_needs.needs(Bot(player)))
        assert game.pressed == [ord("1"), keys.SEARCH]


@pytest.mark.parametrize(
    ("message", "until"),
    [("You hear the rumble of distant thunder...", 1200), ("You kill the watchman!  You murderer!", 1800)],
)
def test_no_god_hears_who_killed_a_friend_until_luck_returns(message: str, until: int) -> None:
    with made(ROOM) as game:
        player = game.player
        player.body.turn = 700
        player._note_state("You kill the jackal!")
        assert surviving.may_pray(player)
        player._note_state(message)
        assert player.luckless == until
        assert not surviving.may_pray(player, desperate=True)
        player.body.turn = until
        assert surviving.may_pray(player)
