"""Where to meet several enemies: in a passage or a corner, where few of them can reach us at once."""

from collections.abc import Sequence

from balrog_rag.bots.nethack.delver.state import Bot, Did
from balrog_rag.bots.nethack.skills.moving import ARRIVED, occupied, step
from balrog_rag.bots.nethack.skills.tuning import TUNING
from balrog_rag.envs.nethack.world import terrain as t
from balrog_rag.envs.nethack.world.known_world import Monster
from balrog_rag.envs.nethack.world.refusals import Act, Refusal
from balrog_rag.envs.nethack.world.routes import Ways


def pack(bot: Bot, enemies: Sequence[Monster]) -> list[Monster]:
    """Those of them that come to us together."""
    here = bot.player.here
    near = [each for each in enemies if t.distance(each.place, here) <= TUNING.pack_near]
    return [each for each in near if not (each.species and each.species.stays)]


def holds_ground(bot: Bot, enemies: Sequence[Monster]) -> bool:
    """Whether to let a pack come to us here, instead of going to meet it."""
    several = len(pack(bot, enemies)) >= TUNING.pack
    return bot.plan.stand and several and exposure(bot, bot.player.here) <= TUNING.nook


def exposure(bot: Bot, place: int) -> int:
    """The number of squares from which somebody could strike at a square."""
    return len(bot.player.level.steps(place))


def take_stand(bot: Bot, enemies: Sequence[Monster]) -> Did:
    """Step towards a square near by where fewer enemies can reach us, before they surround us."""
    player = bot.player
    coming = pack(bot, enemies)
    if not bot.plan.stand or len(coming) < TUNING.pack or exposure(bot, player.here) <= TUNING.nook:
        return False
    tries = Refusal(Act.STAND, (player.level.place, player.body.turn // TUNING.stand_turns))
    if player.refusals[tries] >= TUNING.stand_steps:
        return False
    way = _to_a_nook(bot, coming)
    if not way:
        return False
    player.refusals[tries] += 1
    return (yield from step(player, way[0])) == ARRIVED


def _to_a_nook(bot: Bot, coming: Sequence[Monster]) -> list[int]:
    """The shortest way to a square with few neighbours that we reach before any of them."""
    player = bot.player
    ways = Ways(player.level, player.here, occupied(player))
    nooks = [
        (steps, exposure(bot, place), place)
        for place, steps in enumerate(ways.steps)
        if 0 < steps <= TUNING.stand_steps
        and exposure(bot, place) <= TUNING.nook
        and all(t.distance(each.place, place) >= steps for each in coming)
    ]
    return ways.to(min(nooks)[2]) if nooks else []
