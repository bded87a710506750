"""When a fight is being lost, and how to leave it: potions, stairs, Elbereth."""

from collections.abc import Sequence

from balrog_rag.bots.nethack.delver.state import Bot, Did
from balrog_rag.bots.nethack.skills import magic, stairs, surviving
from balrog_rag.bots.nethack.skills.exploring import search
from balrog_rag.bots.nethack.skills.fight_cost import adjacent, cost_of, damage_a_turn, worst_a_turn
from balrog_rag.bots.nethack.skills.moving import ARRIVED, step
from balrog_rag.bots.nethack.skills.told import Told
from balrog_rag.bots.nethack.skills.tuning import TUNING
from balrog_rag.envs.nethack.world import known_world as w
from balrog_rag.envs.nethack.world import terrain as t
from balrog_rag.envs.nethack.world.known_world import Monster
from balrog_rag.envs.nethack.world.refusals import Act, Refusal
from balrog_rag.envs.nethack.world.routes import Ways

MISSILES = (
    *("You are hit by", " shoots ", " throws ", " zaps "),
    *("a nearby zap", "The wand hits you", "magic missile hits you", "ray hits you", "The bolt of"),
)
"""Messages about attackers that Elbereth does not stop."""


def losing(bot: Bot, enemies: Sequence[Monster]) -> bool:
    """Whether the fight against these enemies should end."""
    player = bot.player
    if on_base(bot) and not bot.starving():
        return False  # on stairs we can fight until it becomes serious, and leave then
    hp, cost = player.body.hp, cost_of(player, enemies)
    near = adjacent(player, enemies)
    if sum(worst_a_turn(player, enemy.species) for enemy in near) >= hp:
        return True
    if bot.may_pray():
        return cost > TUNING.losing_praying * hp
    return cost > TUNING.losing * hp or hp < TUNING.losing_low * player.body.max_hp


def on_base(bot: Bot) -> bool:
    """Whether we stand on stairs up, where a fight can be left and resumed.

    So we fight in the Mines, and elsewhere where we were driven off before: those monsters wait there.
    """
    player = bot.player
    place = player.world.place
    fought = place.branch == stairs.MINES or bot.flights[place] >= TUNING.repelled_flights
    return player.level.terrain[player.here] in t.UP and player.body.depth > 1 and fought


def leave_by_stairs(bot: Bot, enemies: Sequence[Monster]) -> Did:
    """From stairs, go up and rest before the situation becomes serious."""
    body, near = bot.player.body, adjacent(bot.player, enemies)
    if not bot.on.base or not on_base(bot) or not (near or bot.hurt) or bot.starving():
        return False
    if body.hp > bot.plan.leave_below * body.max_hp and _next_blows(bot, near) < body.hp:
        return False
    return (yield from escape(bot, down=False))


def _next_blows(bot: Bot, near: Sequence[Monster]) -> float:
    """The damage to expect before our next move: the maximum of one enemy, the average of the others."""
    player = bot.player
    usual = [damage_a_turn(player, enemy.species) for enemy in near] or [0.0]
    worst = [worst_a_turn(player, enemy.species) for enemy in near] or [0.0]
    return sum(usual) + max(most - average for most, average in zip(worst, usual, strict=True))


def escape(bot: Bot, down: bool) -> Did:
    """Take the stairs here, and do not return before we are healthy."""
    bot.resting = True
    bot.fled[bot.player.world.place] = bot.player.body.turn
    bot.flights[bot.player.world.place] += 1
    return (yield from stairs.take_stairs(bot.player, down)) == ARRIVED


def take_cover(bot: Bot) -> Did:
    """Go up stairs near by, out of the line of fire of an unseen attacker."""
    player, level = bot.player, bot.player.level
    if not bot.on.cover or not bot.under_fire() or player.body.depth <= 1 or bot.starving():
        return False
    if player.body.hp > bot.plan.leave_below * player.body.max_hp:
        return False
    if level.terrain[player.here] in t.UP:
        return (yield from escape(bot, down=False))
    ways = Ways(level, player.here, {monster.place for monster in player.world.monsters})
    goal = ways.nearest(stairs.known_stairs(player, down=False))
    if goal is None or ways.steps[goal] > TUNING.cover:
        return False
    return (yield from step(player, ways.to(goal)[0])) == ARRIVED


def drink(bot: Bot, enemies: Sequence[Monster]) -> Did:
    """Drink what heals while somebody strikes at us and little is left."""
    player = bot.player
    body, near, potion = player.body, adjacent(player, enemies), bot.potion()
    low = body.hp < TUNING.drink_low * body.max_hp or (
        body.hp < TUNING.drink_beset * body.max_hp and _next_blows(bot, near) >= body.hp
    )
    if potion is None or not (near or bot.hurt) or not low:
        return False
    yield from surviving.quaff(player, potion)
    return True


def retreat(bot: Bot, enemies: Sequence[Monster]) -> Did:
    """Leave a fight that would be lost, if there is a way."""
    if not bot.on.retreat:
        return False
    if (yield from _flee(bot, enemies)) or (yield from fall(bot, TUNING.fall_first)):
        return True
    return (yield from hold(bot, enemies)) or (yield from fall(bot, TUNING.fall_last))


def fall(bot: Bot, below: float) -> Did:
    """Leave through a hole made with a wand of digging, at this part of the hit points or below."""
    player = bot.player
    wand = magic.digging_wand(player) if bot.on.falling else None
    if wand is None or player.body.hp > below * player.body.max_hp:
        return False
    return (yield from magic.zap_down(player, wand)) == Told.HOLE


def _flee(bot: Bot, enemies: Sequence[Monster]) -> Did:
    """Go to stairs and take them, if we are quick enough."""
    player, level = bot.player, bot.player.level
    ground, depth = level.terrain[player.here], player.body.depth
    down = ground in t.DOWN and player.world.place.branch == stairs.MAIN and depth < TUNING.deepest_entrance
    if (ground in t.UP and depth > 1) or down:
        return not bot.fled_from(level.links.get(player.here)) and (yield from escape(bot, down))
    if depth <= 1:
        return False
    ways = Ways(level, player.here, {enemy.place for enemy in player.world.monsters})
    goal = ways.nearest(stairs.known_stairs(player, down=False))
    if goal is None or bot.fled_from(level.links.get(goal)) or ways.steps[goal] > TUNING.flee_far:
        return False
    hunters = [enemy for enemy in enemies if enemy.species is None or enemy.species.speed > TUNING.slow]
    cost = ways.steps[goal] * sum(damage_a_turn(player, enemy.species) for enemy in hunters)
    if cost > TUNING.flee_cost * player.body.hp:
        return False
    return (yield from step(player, ways.to(goal)[0])) == ARRIVED


def in_haven(bot: Bot) -> bool:
    """Whether we stand where we wrote Elbereth to rest on it."""
    return bot.haven == (bot.player.world.place, bot.player.here)


def _deterred(bot: Bot, enemy: Monster) -> bool:
    """Whether Elbereth keeps a monster off, as far as we know."""
    return enemy.species is None or enemy.species.fears_elbereth or not bot.on.elbereth_kinds


def hold(bot: Bot, enemies: Sequence[Monster]) -> Did:
    """Write Elbereth and rest on it."""
    player = bot.player
    if not (bot.on.elbereth and bot.on.elbereth_rest):
        return False
    near = [enemy for enemy in enemies if t.distance(enemy.place, player.here) <= TUNING.hold_near]
    if bot.under_fire() and not adjacent(player, enemies):
        return False
    if not near or not all(_deterred(bot, enemy) for enemy in near):
        return False
    unable = (
        player.body.condition & w.BLIND
        or not surviving.steady(player)
        or player.level.terrain[player.here] in t.STAIRS
    )
    enough = TUNING.hold_until if in_haven(bot) else TUNING.hold_below
    name = Refusal(Act.HOLD, (player.world.place, player.here, player.body.turn // TUNING.hold_anew))
    if unable or player.body.hp > enough * player.body.max_hp or player.refusals[name] > TUNING.hold_tries:
        return False
    held = Refusal(Act.HELD, (player.world.place, player.here))
    player.refusals[held] += 1
    if player.refusals[held] > TUNING.hold_longest:
        return False
    bot.haven = player.world.place, player.here
    if (yield from surviving.guarded(player)) == Told.GUARDED:
        before = player.body.hp
        yield from search(player, 2)
        player.refusals[name] += player.body.hp < before  # not feared after all
        if player.body.hp < before and player.said(*MISSILES):
            bot.fired_at = player.body.turn
        return True
    player.refusals[name] += 1
    if player.refusals[name] > TUNING.hold_tries:
        return False
    yield from surviving.engrave(player)
    return True
