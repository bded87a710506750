"""Wands: what they do is learned by writing with them, and used."""

import pytest

from balrog_rag.bots.nethack.delver import battle, errands
from balrog_rag.bots.nethack.delver.state import Bot, Plan
from balrog_rag.bots.nethack.delver.switches import Switches
from balrog_rag.bots.nethack.skills import exploring, magic
from balrog_rag.envs.nethack.world import terrain as t
from balrog_rag.envs.nethack.world.items import Item
from balrog_rag.envs.nethack.world.player import Player
from tests.bots.skills.made import ROOM, MadeGame, made
from tests.bots.skills.test_surviving import take


def wand(player: Player) -> Item:
    """The only wand that is carried."""
    (found,) = (item for item in player.world.items if "wand" in item.name)
    return found


def upkeep(game: MadeGame, plan: Plan) -> bool:
    """Let the delver do one thing between fights; whether there was anything."""
    bot = Bot(game.player, plan)
    return bool(game.run(lambda _: errands.upkeep(bot)))


@pytest.mark.parametrize(
    ("name", "kind", "attacks"),
    [
        ("sleep", "sleep or death", True),
        ("striking", "striking", True),
        ("cold", "cold", True),
        ("magic missile", "magic missile", True),
        ("slow monster", "slow monster", True),
        ("speed monster", "speed monster", False),
        ("fire", "fire", True),
        ("locking", "", False),
    ],
)
def test_writing_tells_what_a_wand_does(name: str, kind: str, attacks: bool) -> None:
    with made(ROOM + f"OBJECT:('/',\"{name}\"),(5,2)\n") as game:
        player = game.player
        game.run(take, "wand")
        assert magic.kind_of_wand(player, wand(player)) == ""
        assert upkeep(game, Plan())
        assert magic.kind_of_wand(player, wand(player)) == kind
        assert magic.unknown_wand(player) is None
        assert (magic.attack_wand(player) == wand(player)) is attacks


def test_what_is_no_wand_has_no_kind() -> None:
    with made(ROOM) as game:
        assert {magic.kind_of_wand(game.player, item) for item in game.player.world.items} == {""}


@pytest.mark.parametrize("on", [True, False])
def test_a_wand_of_speed_monster_is_zapped_at_oneself_once(on: bool) -> None:
    plan = Plan(on=Switches(wands=on))
    with made(ROOM + "OBJECT:('/',\"speed monster\"),(5,2)\n", "val-hum-neu-fem") as game:
        player = game.player
        game.run(take, "wand")
        game.run(lambda player: magic.try_wand(player, wand(player)))
        assert upkeep(game, plan) is on
        assert player.said("You speed up") is on
        assert (wand(player).name == "wand of speed monster") is on
        assert not upkeep(game, plan)


def test_what_may_be_a_wand_of_death_is_not_zapped_where_its_ray_comes_back() -> None:
    with made(ROOM + "MONSTER:('k',\"kobold\"),(5,2),hostile,asleep\n", "ran-elf-cha-mal") as game:
        bot, (kobold,) = Bot(game.player), game.player.world.monsters
        bot.player.race = "elven"
        doubtful = Item("z", "an oak wand", 1, "", None, "oak wand", "")
        sure = Item("z", "a wand of sleep", 1, "", None, "wand of sleep", "")
        bot.player.wands["oak wand"] = "sleep or death"
        assert battle._safe_to_zap(bot, sure, kobold)
        assert not battle._safe_to_zap(bot, doubtful, kobold)


@pytest.mark.parametrize(("told", "sleeps"), [("It hits the kobold.", True), ("misses the kobold", False)])
def test_who_sleeps_is_left_out_of_account_until_it_moves_or_strikes(told: str, sleeps: bool) -> None:
    beasts = "MONSTER:('k',\"kobold\"),(5,2),hostile,asleep\nMONSTER:('k',\"kobold\"),(5,3),hostile,asleep\n"
    with made(ROOM + beasts + "BRANCH:(2,2,2,2),(0,0,0,0)\n") as game:
        player = game.player
        level, turn = {t.xy(each.place)[1]: each for each in player.world.monsters}, player.body.turn
        aside, hit = level[max(level)], level[min(level)]
        player.heard = [told]
        battle._put_to_sleep(Bot(player), hit, 6)
        assert (hit.helpless > turn + 40) is sleeps
        assert not aside.helpless
        hit.helpless = turn + 40
        hit.place = t.NEAR[player.here][0]
        player.world._read("The kobold hits!")
        assert not hit.helpless


def test_who_is_seen_to_move_does_not_sleep() -> None:
    """A jackal runs up; a mold never moves."""
    with made(ROOM + "MONSTER:('d',\"jackal\"),(9,1),hostile\nMONSTER:('F',\"yellow mold\"),(9,3)\n") as game:
        player = game.player
        for each in player.world.monsters:
            each.helpless = player.body.turn + 40
        game.run(exploring.search, 2)
        assert {each.species.name: bool(each.helpless) for each in player.world.monsters if each.species} == {
            "jackal": False,
            "yellow mold": True,
        }
