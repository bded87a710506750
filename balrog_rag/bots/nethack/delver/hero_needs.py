"""What cannot wait: mortal danger, sickness, hunger, a guard who wants to be followed, a skill to advance."""

from balrog_rag.bots.nethack.delver.meals import eat_corpses, mealtime, must_eat
from balrog_rag.bots.nethack.delver.retreat import fall
from balrog_rag.bots.nethack.delver.state import CURSES, HUNGER, Bot, Did
from balrog_rag.bots.nethack.skills import exploring, gear, moving, surviving
from balrog_rag.bots.nethack.skills.fight_cost import adjacent
from balrog_rag.bots.nethack.skills.told import Told
from balrog_rag.bots.nethack.skills.tuning import TUNING
from balrog_rag.envs.nethack.world import keys
from balrog_rag.envs.nethack.world import known_world as w
from balrog_rag.envs.nethack.world import terrain as t


def train(bot: Bot) -> Did:
    """Advance a skill as soon as the game says that one can be advanced."""
    if not (bot.player.trained and bot.on.training):
        return False
    yield from gear.advance(bot.player)
    return True


def needs(bot: Bot) -> Did:
    """Handle mortal danger and hunger."""
    player = bot.player
    body = player.body
    if surviving.in_mortal_need(player) or body.condition & w.DEADLY:
        if bot.may_pray():
            yield from surviving.pray(player)
            return True
        potion = bot.potion()
        if potion:
            yield from surviving.quaff(player, potion)
            return True
        if (yield from fall(bot, 1.0)):
            return True
        if bot.may_pray(desperate=True):
            yield from surviving.pray(player)
            return True
    cure = player.world.item("sprig of wolfsbane", "sprigs of wolfsbane") if bot.on.rearm else None
    if player.feverish and cure and not adjacent(player, bot.enemies()):
        yield from surviving.eat_item(player, cure)
        return True
    if (player.feverish or player.cursed_hands) and not bot.enemies() and bot.may_pray(CURSES):
        yield from surviving.pray(player)
        return True
    if mealtime(bot) and (yield from surviving.eat(player, bot.on.larder)) == Told.ATE:
        return True
    if body.hunger >= w.WEAK and bot.may_pray(HUNGER, desperate=body.hunger >= w.FAINTING):
        yield from surviving.pray(player)
        return True
    if must_eat(bot) and (yield from eat_corpses(bot, lambda: bool(adjacent(player, bot.enemies())))):
        return True
    if player.level.watched and body.condition & (w.BLIND | w.HALLUCINATING) and not bot.hurt:
        yield from exploring.search(player, TUNING.short_wait)  # whom we run into might be a watchman
        return True
    if _reels_beside_a_pet(bot) and not bot.enemies():
        yield from exploring.search(player, 1)
        return True
    return False


def _reels_beside_a_pet(bot: Bot) -> bool:
    """Whether a step may go astray and strike our pet (uhitm.c:344, is_safepet()): its death costs luck."""
    player = bot.player
    near = any(m.tame and t.distance(m.place, player.here) <= 2 for m in player.world.monsters)
    return near and bool(player.body.condition & (w.STUNNED | w.CONFUSED))


def escorted(bot: Bot) -> Did:
    """Leave a vault as its guard demands: without its gold, and behind him."""
    player, guard = bot.player, bot.guard()
    if guard is None:
        return False
    bot.guard_seen = player.body.turn
    if player.body.gold:
        yield from player.ask(keys.DROP, ("want to drop", "$"))
        return True
    if t.distance(guard.place, player.here) == 1:
        yield from exploring.search(player, 1)
        return True
    told = yield from moving.go_to(player, t.NEAR[guard.place], lambda: bool(bot.enemies()))
    return told not in (moving.NO_WAY, moving.ALARMED)
