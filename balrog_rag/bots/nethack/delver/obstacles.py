"""What is in the way of exploring: hit it, shoot it or cast at it, lure it out, or wait for it."""

from balrog_rag.bots.nethack.delver.state import Bot, Did
from balrog_rag.bots.nethack.skills import exploring, fighting, magic, moving
from balrog_rag.bots.nethack.skills.tuning import TUNING
from balrog_rag.envs.nethack.world import terrain as t
from balrog_rag.envs.nethack.world.known_world import Monster
from balrog_rag.envs.nethack.world.player import Skill
from balrog_rag.envs.nethack.world.refusals import Act, Refusal
from balrog_rag.envs.nethack.world.routes import Ways, first


def make_way(bot: Bot) -> Did:
    """Hit, shoot or lure out what is in the way; return whether there was anything to do."""
    player = bot.player
    for enemy in player.hostiles():
        species, name = enemy.species, way(bot, enemy)
        if not species or not (species.stays or bot.spares(enemy)) or not _in_the_way(bot, enemy):
            continue
        if player.refusals[name] > TUNING.obstacle_efforts:
            if _alone_with(bot, enemy):
                yield from fighting.attack(player, enemy)
                return True
            continue
        player.refusals[name] += 1
        if (yield from _deal_with(bot, enemy)) not in (fighting.NOTHING_TO_THROW, moving.NO_WAY):
            return True
    return False


def blocked_by_friends(bot: Bot) -> Did:
    """Attack a peaceful monster that sleeps on the only way on."""
    player = bot.player
    if (
        player.level.watched
        or player.refusals[Refusal(Act.SEARCH, player.level.place)] <= TUNING.stuck_searches
    ):
        return False
    for other in player.world.monsters:
        if other.peaceful and not _honoured(other) and _in_the_way(bot, other):
            if t.distance(other.place, player.here) == 1:
                yield from fighting.attack(player, other)
                return True
            return (yield from moving.go_to(player, t.NEAR[other.place], bot.alarm)) != moving.NO_WAY
    return False


def _honoured(other: Monster) -> bool:
    """Whether it is one of those that are always peaceful, and strong."""
    return other.species is None or other.species.always_peaceful


def way(bot: Bot, enemy: Monster, act: Act = Act.WAY) -> Refusal:
    """What efforts against a monster count as: its own number changes out of sight."""
    return Refusal(act, (bot.player.level.place, enemy.species.name if enemy.species else ""))


def _alone_with(bot: Bot, enemy: Monster) -> bool:
    """Whether a monster beside us can at worst cost us time, since no other is there to exploit that."""
    near = t.distance(enemy.place, bot.player.here) == 1
    harmless = enemy.species is not None and enemy.species.paralyses
    stuck = bot.player.refusals[Refusal(Act.SEARCH, bot.player.level.place)] > TUNING.stuck_searches
    well = bot.player.body.hp > TUNING.well * bot.player.body.max_hp
    return near and harmless and stuck and well and not bot.enemies()


def _in_the_way(bot: Bot, enemy: Monster) -> bool:
    """Whether the shortest path to something new would cross a monster."""
    level = bot.player.level
    stairs_down = set(level.spots(t.DOWN)) - set(level.links)

    def wanted(place: int) -> bool:
        return place in stairs_down or level.is_frontier(place)

    blocked = moving.occupied(bot.player)
    path = first(level, bot.player.here, wanted, blocked - {enemy.place})
    if path is not None and enemy.place in path:
        return True
    closed, opened = (Ways(level, bot.player.here, taken) for taken in (blocked, blocked - {enemy.place}))
    return 2 * sum(steps >= 0 for steps in closed.steps) < sum(steps >= 0 for steps in opened.steps)


def _deal_with(bot: Bot, enemy: Monster) -> Skill:
    player = bot.player
    if _to_be_set_off(bot, enemy):
        return (yield from set_off(bot, enemy))
    if fighting.touchable(player, enemy):
        return (yield from moving.go_to(player, t.NEAR[enemy.place], bot.alarm))
    bolts = bot.on.magic and magic.can_cast(player, magic.FORCE_BOLT)
    if bolts and fighting.in_range(player, player.here, enemy):
        return (yield from magic.cast(player, magic.FORCE_BOLT, enemy.place))
    told = yield from fighting.shoot_away(player, enemy, bot.alarm)
    tries, comes = way(bot, enemy, Act.LURE), enemy.species is not None and enemy.species.speed > 0
    if comes and told in (fighting.NOTHING_TO_THROW, moving.NO_WAY) and player.refusals[tries] < TUNING.lures:
        player.refusals[tries] += 1
        told = yield from fighting.lure(player, enemy, bot.alarm)
    return told


def _to_be_set_off(bot: Bot, enemy: Monster) -> bool:
    """Whether we would survive an explosion beside us, or nothing else has helped for long."""
    player = bot.player
    near = t.distance(enemy.place, player.here) == 1
    enough = (
        player.body.max_hp > TUNING.blast_hp or player.refusals[way(bot, enemy)] > TUNING.obstacle_efforts / 2
    )
    return near and enough and enemy.species is not None and enemy.species.explodes


def set_off(bot: Bot, enemy: Monster) -> Skill:
    """Trigger an explosion while we are healthy enough; the monster blocks the way."""
    player = bot.player
    if not player.friends().isdisjoint(t.NEAR[enemy.place]):
        # Killing a pet costs luck, and prayers fail then.
        return (yield from exploring.search(player, 1))
    if player.body.hp < TUNING.blast_hp and player.body.hp < player.body.max_hp:
        return (yield from exploring.search(player, TUNING.blast_wait))
    return (yield from fighting.attack(player, enemy))
