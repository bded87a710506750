"""When a fight is being lost, and what is done about it: potions, stairs, Elbereth."""

from collections.abc import Generator, Sequence
from typing import Any

from balrog_rag.envs.nethack.delver.state import Bot
from balrog_rag.envs.nethack.skills import stairs, surviving
from balrog_rag.envs.nethack.skills.exploring import search
from balrog_rag.envs.nethack.skills.judging import adjacent, cost_of, worst_a_turn
from balrog_rag.envs.nethack.skills.moving import ARRIVED, step
from balrog_rag.envs.nethack.world import terrain as t
from balrog_rag.envs.nethack.world import world as w
from balrog_rag.envs.nethack.world.paths import Ways
from balrog_rag.envs.nethack.world.world import Monster

Did = Generator[int, Any, bool]

_HOLD_TRIES = 3
_FAST, _FAR = 9, 40
"""Speed from which an enemy cannot be outrun, and steps to stairs that are too many to run."""


def losing(bot: Bot, enemies: Sequence[Monster]) -> bool:
    """Whether the fight against these enemies should not go on."""
    player = bot.player
    hp, cost = player.body.hp, cost_of(player, enemies)
    near = adjacent(player, enemies)
    if sum(worst_a_turn(player, enemy.species) for enemy in near) >= hp:
        return True
    if surviving.may_pray(player):
        return cost > 1.5 * hp
    return cost > 0.7 * hp or hp < player.body.max_hp / 3


def on_base(bot: Bot) -> bool:
    """Whether we stand on stairs that lead up and out of the Mines."""
    player = bot.player
    return player.level.terrain[player.here] in t.UP and player.world.place.branch == stairs.MINES


def leave_by_stairs(bot: Bot, enemies: Sequence[Monster]) -> Did:
    """From the stairs of the Mines, go up and rest before things become serious."""
    body = bot.player.body
    if not on_base(bot) or not adjacent(bot.player, enemies) or body.hp > bot.plan.leave_below * body.max_hp:
        return False
    bot.resting = True
    return (yield from stairs.take_stairs(bot.player, down=False)) == ARRIVED


def retreat(bot: Bot, enemies: Sequence[Monster]) -> Did:
    """Leave a fight that would be lost, if there is a way."""
    player = bot.player
    potion = surviving.healing(player)
    if potion and player.body.hp < player.body.max_hp / 3:
        yield from surviving.quaff(player, potion)
        return True
    if (yield from _flee(bot, enemies)):
        return True
    return (yield from _hold(bot, enemies))


def _flee(bot: Bot, enemies: Sequence[Monster]) -> Did:
    """Go to stairs and take them, if we are quick enough."""
    player, level = bot.player, bot.player.level
    ground, depth = level.terrain[player.here], player.body.depth
    down = ground in t.DOWN and player.world.place.branch == stairs.MAIN and depth < 4
    if (ground in t.UP and depth > 1) or down:
        return (yield from stairs.take_stairs(player, down=down)) == ARRIVED
    if depth <= 1 or any(enemy.species is None or enemy.species.speed > _FAST for enemy in enemies):
        return False
    ways = Ways(level, player.here, {enemy.place for enemy in player.world.monsters})
    goal = ways.nearest(stairs.known_stairs(player, down=False))
    if goal is None or ways.steps[goal] > _FAR:
        return False
    return (yield from step(player, ways.to(goal)[0])) == ARRIVED


def _hold(bot: Bot, enemies: Sequence[Monster]) -> Did:
    """Write Elbereth and rest on it."""
    player = bot.player
    near = adjacent(player, enemies)
    if not near or not all(enemy.species is None or enemy.species.fears_elbereth for enemy in near):
        return False
    unable = player.body.condition & w.BLIND or player.level.terrain[player.here] in t.STAIRS
    if unable or player.body.hp > 0.7 * player.body.max_hp:
        return False
    name = f"hold {player.world.place} {player.here} {player.body.turn // 30}"
    if (yield from surviving.guarded(player)) == "guarded":
        before = player.body.hp
        yield from search(player, 2)
        player.refusals[name] += player.body.hp < before  # shot at, or not feared after all
        return True
    player.refusals[name] += 1
    if player.refusals[name] > _HOLD_TRIES:
        return False
    yield from surviving.engrave(player)
    return True
