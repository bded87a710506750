"""Where to go next: grow on the first levels, fetch a pick-axe in the Mines, dig down."""

from collections.abc import Generator

from balrog_rag.envs.nethack.delver.state import Bot
from balrog_rag.envs.nethack.skills import digging, exploring, fighting, gear, moving, stairs, surviving
from balrog_rag.envs.nethack.skills.judging import adjacent
from balrog_rag.envs.nethack.skills.player import Skill
from balrog_rag.envs.nethack.world import terrain as t
from balrog_rag.envs.nethack.world import world as w
from balrog_rag.envs.nethack.world.level import Level
from balrog_rag.envs.nethack.world.screen import Screen
from balrog_rag.envs.nethack.world.world import Monster

_WAIT = 20
_EFFORTS = 60
_DEEPEST_ENTRANCE = 4
"""The last level of the main dungeon from which stairs may lead to the Mines."""


def journey(bot: Bot) -> Generator[int, Screen, bool]:
    """One leg of the way."""
    player = bot.player
    branch = player.world.place.branch
    if gear.digger(player):
        if branch == stairs.MAIN:
            yield from _dig(bot)
        else:
            yield from _climb(bot)
    elif branch == stairs.MINES:
        yield from _hunt(bot)
    else:
        yield from _main(bot)
    return True


def _dig(bot: Bot) -> Skill:
    player = bot.player
    told = yield from digging.dig_down(player, lambda: dig_alarm(bot))
    if told in (digging.TOO_HARD, moving.NO_WAY, moving.STUCK):
        told = yield from _down(bot, None)
    return told


def dig_alarm(bot: Bot) -> bool:
    """Whether digging must be left for something more pressing."""
    player = bot.player
    if surviving.in_mortal_need(player) and surviving.may_pray(player):
        return True
    near = adjacent(player, bot.enemies())
    return any(enemy.species and not enemy.species.fears_elbereth for enemy in near)


def _climb(bot: Bot) -> Skill:
    told = yield from stairs.go_by_stairs(bot.player, False, None, bot.alarm)
    if told in (moving.NO_WAY, moving.STUCK):
        return (yield from _uncover(bot))
    return told


def _hunt(bot: Bot) -> Skill:
    """Look for dwarves through the Mines, level after level."""
    told = yield from exploring.explore(bot.player, bot.alarm)
    if told != exploring.EXPLORED:
        return told
    return (yield from _down(bot, None))


def _main(bot: Bot) -> Skill:
    """Through the first levels of the main dungeon, and into the Mines."""
    player, plan = bot.player, bot.plan
    body = player.body
    told = yield from _explore(bot)
    if told != exploring.EXPLORED:
        return told
    grown = body.turn > plan.patience or starving(bot)
    mines = _way_to_mines(bot)
    if mines is not None and body.depth <= _DEEPEST_ENTRANCE + 1:
        if body.level < plan.mines and not grown:
            return (yield from exploring.search(player, _WAIT))
        return (yield from _towards(bot, *mines))
    needed = plan.growth[min(body.depth, len(plan.growth) - 1)]
    if body.level < needed and not grown:
        return (yield from exploring.search(player, _WAIT))
    return (yield from _down(bot, stairs.MAIN))


def _way_to_mines(bot: Bot) -> tuple[Level, list[int]] | None:
    """The level and the stairs that lead to the Mines, or may do so, being a second pair."""
    for place, level in bot.player.world.levels.items():
        if place.branch != stairs.MAIN or not 2 <= place.level <= _DEEPEST_ENTRANCE:
            continue
        places = level.spots(t.DOWN)
        linked = [at for at in places if at in level.links]
        entrance = [at for at in linked if level.links[at].branch == stairs.MINES]
        if entrance:
            return level, entrance
        if len(places) > 1 and linked:
            return level, [at for at in places if at not in linked]
    return None


def _towards(bot: Bot, level: Level, places: list[int]) -> Skill:
    """Go to a level of the main dungeon, and there to these stairs and down."""
    player = bot.player
    here = player.world.place.level
    if player.level is level:
        told = yield from moving.go_to(player, places, bot.alarm)
        if player.here in places:
            return (yield from stairs.take_stairs(player, down=True))
    else:
        told = yield from stairs.go_by_stairs(player, here < level.place.level, stairs.MAIN, bot.alarm)
    if told in (moving.NO_WAY, moving.STUCK):
        return (yield from _uncover(bot))
    return told


def _explore(bot: Bot) -> Skill:
    """See all of a level that can be seen without searching."""
    told = yield from exploring.explore(bot.player, bot.alarm)
    if told == exploring.EXPLORED and (yield from _make_way(bot)):
        return "shot"
    return told


def _down(bot: Bot, branch: int | None) -> Skill:
    told = yield from stairs.go_by_stairs(bot.player, True, branch, bot.alarm)
    if told in (moving.NO_WAY, moving.STUCK):
        return (yield from _uncover(bot))
    return told


def _uncover(bot: Bot) -> Skill:
    """See more of the level, if need be by searching for what is hidden."""
    player, level = bot.player, bot.player.level
    told = yield from exploring.explore(player, bot.alarm)
    if told != exploring.EXPLORED:
        return told
    if (yield from _make_way(bot)):
        return "shot"
    if not level.pushing:
        level.push()
        return told
    name = f"search {level.place}"
    player.refusals[name] += 1
    if player.refusals[name] > 3:
        level.dare()
    told = yield from exploring.search_for_exits(player, bot.alarm)
    if told == moving.NO_WAY:
        yield from exploring.search(player, 10)
    return told


def _make_way(bot: Bot) -> Generator[int, Screen, bool]:
    """Deal with what sits in the way: hit it, shoot it, or lure it out; whether there was anything to do."""
    player = bot.player
    for enemy in player.hostiles():
        name = f"way {id(enemy)}"
        if not enemy.species or not (enemy.species.stays or enemy.species.never_touch):
            continue
        player.refusals[name] += 1
        if player.refusals[name] > _EFFORTS:
            continue
        if (yield from _deal_with(bot, enemy)) not in (
            fighting.NOTHING_TO_THROW,
            moving.NO_WAY,
            moving.STUCK,
        ):
            return True
    return False


def _deal_with(bot: Bot, enemy: Monster) -> Skill:
    player = bot.player
    if fighting.touchable(enemy):
        told = yield from moving.go_to(player, t.NEAR[enemy.place], bot.alarm)
    else:
        told = yield from fighting.shoot_away(player, enemy, bot.alarm)
    if told in (fighting.NOTHING_TO_THROW, moving.NO_WAY) and enemy.species and enemy.species.speed:
        told = yield from fighting.lure(player, enemy, bot.alarm)
    return told


def starving(bot: Bot) -> bool:
    """Whether hunger will end the game soon, whatever we do."""
    player = bot.player
    return player.body.hunger >= w.WEAK and not surviving.rations(player)
