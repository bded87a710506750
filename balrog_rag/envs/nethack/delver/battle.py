"""Fight, shoot, hold out on Elbereth, or run."""

from collections.abc import Generator, Sequence

from balrog_rag.envs.nethack.delver.state import Bot
from balrog_rag.envs.nethack.skills import fighting, gear, keys, stairs, surviving
from balrog_rag.envs.nethack.skills.exploring import search
from balrog_rag.envs.nethack.skills.judging import adjacent, cost_of, worst_a_turn
from balrog_rag.envs.nethack.skills.moving import occupied, step
from balrog_rag.envs.nethack.world import terrain as t
from balrog_rag.envs.nethack.world import world as w
from balrog_rag.envs.nethack.world.paths import Ways, first
from balrog_rag.envs.nethack.world.screen import Screen
from balrog_rag.envs.nethack.world.world import Monster

Did = Generator[int, Screen, bool]

_NEAR = 6
_HOLD_TRIES = 3
_OUT_OF_REACH = 20
_CHASE = 30


def engulfed(bot: Bot) -> Did:
    """Fight from inside whoever has swallowed us."""
    if not bot.player.world.swallowed:
        return False
    yield from bot.player.command(keys.FIGHT, ord("j"))
    return True


def battle(bot: Bot) -> Did:
    """One move against the enemies in sight."""
    player = bot.player
    seen = [enemy for enemy in bot.enemies() if t.distance(enemy.place, player.here) <= _NEAR]
    if seen:
        yield from fighting.make_sure(player, seen)
    enemies = bot.enemies()
    if not enemies:
        return (yield from _murder(bot))
    if digging_down(bot):
        return (yield from _while_digging(bot, enemies))
    if _losing(bot, enemies) and (yield from _avoid(bot, enemies)):
        return True
    told = yield from fighting.fight(player, enemies)
    if told in ("nobody within reach", "nobody to go to"):
        bot.ignore(enemies, _OUT_OF_REACH)
        return False
    return True


def _murder(bot: Bot) -> Did:
    """Go and kill a peaceful dwarf for its pick-axe."""
    player = bot.player
    for victim in bot.victims():
        if t.distance(victim.place, player.here) == 1:
            yield from fighting.attack(player, victim, murder=True)
            return True
        way = first(player.level, player.here, t.NEAR[victim.place].__contains__, occupied(player))
        if way and len(way) < _CHASE:
            yield from step(player, way[0])
            return True
        bot.ignore([victim], _OUT_OF_REACH)
    return False


def digging_down(bot: Bot) -> bool:
    """Whether we are on the way down with something to dig with."""
    player = bot.player
    return bool(gear.digger(player)) and player.world.place.branch == stairs.MAIN


def _losing(bot: Bot, enemies: Sequence[Monster]) -> bool:
    player = bot.player
    hp = player.body.hp
    near = adjacent(player, enemies)
    if sum(worst_a_turn(player, enemy.species) for enemy in near) >= hp:
        return True
    if surviving.may_pray(player):
        return cost_of(player, enemies) > 1.5 * hp
    return cost_of(player, enemies) > 0.7 * hp or hp < player.body.max_hp / 3


def _avoid(bot: Bot, enemies: Sequence[Monster]) -> Did:
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
    player = bot.player
    level = player.level
    down = (
        level.terrain[player.here] in t.DOWN
        and player.world.place.branch == stairs.MAIN
        and player.body.depth < 4
    )
    if (level.terrain[player.here] in t.UP and player.body.depth > 1) or down:
        yield from stairs.take_stairs(player, down=down)
        return player.level is not level
    if any(enemy.species is None or enemy.species.speed > 9 for enemy in enemies) or player.body.depth <= 1:
        return False
    ways = Ways(level, player.here, {enemy.place for enemy in player.world.monsters})
    goal = ways.nearest(stairs.known_stairs(player, down=False))
    if goal is None or ways.steps[goal] > 40:
        return False
    told = yield from step(player, ways.to(goal)[0])
    return told == "arrived"


def _hold(bot: Bot, enemies: Sequence[Monster]) -> Did:
    """Write Elbereth and rest on it."""
    player = bot.player
    near = adjacent(player, enemies)
    if (
        not near
        or player.body.condition & w.BLIND
        or not all(m.species is None or m.species.fears_elbereth for m in near)
    ):
        return False
    if player.level.terrain[player.here] in t.STAIRS:
        return False
    if player.body.hp > 0.7 * player.body.max_hp:
        return False
    if (yield from surviving.guarded(player)) == "guarded":
        yield from search(player, 2)
        return True
    name = f"hold {player.world.place} {player.here} {player.body.turn // 30}"
    player.refusals[name] += 1
    if player.refusals[name] > _HOLD_TRIES:
        return False
    yield from surviving.engrave(player)
    return True


def _while_digging(bot: Bot, enemies: Sequence[Monster]) -> Did:
    """While digging down, only what is weak or does not fear Elbereth is fought."""
    player = bot.player
    near = [enemy for enemy in adjacent(player, enemies) if fighting.touchable(enemy)]
    fought = [enemy for enemy in near if _fought(bot, enemy)]
    in_pit = player.level.terrain[player.here] == t.PIT
    if not fought or in_pit or cost_of(player, fought) > 0.6 * player.body.hp:
        return False
    yield from fighting.attack(player, fighting.weakest(player, fought))
    return True


def _fought(bot: Bot, enemy: Monster) -> bool:
    species = enemy.species
    return species is not None and (species.level < bot.player.body.level or not species.fears_elbereth)
