"""What is done between fights: rest, armour, weapons, food and things that lie about."""

from collections.abc import Generator
from typing import Any

from balrog_rag.envs.nethack.delver.battle import digging_down
from balrog_rag.envs.nethack.delver.state import Bot
from balrog_rag.envs.nethack.skills import exploring, gear, magic, moving, surviving
from balrog_rag.envs.nethack.world import kinds as k
from balrog_rag.envs.nethack.world import terrain as t
from balrog_rag.envs.nethack.world import world as w
from balrog_rag.envs.nethack.world.items import slot_of
from balrog_rag.envs.nethack.world.species import all_species

Did = Generator[int, Any, bool]

_STARVED = 0.6
"""Part of the hit points until which one rests even though hunger presses."""
_FRESH = 30
"""Turns for which a corpse is surely good."""
_THINGS = ("wand", "potion of healing", "potion of extra healing")
_OWN_KIND = {"dwarven": "dwarf", "gnomish": "gnom", "elven": "elf", "human": "human"}


def upkeep(bot: Bot) -> Did:
    """Put armour on, take the best weapon in hand, rest."""
    player = bot.player
    if bot.enemies():
        return False
    armor = gear.to_wear(player)
    if armor:
        yield from gear.wear(player, armor)
        return True
    best = gear.best_weapon(player)
    if best and not best.wielded and not gear.digger(player):
        yield from gear.wield(player, best)
        return True
    wand = magic.unknown_wand(player)
    if wand:
        yield from magic.try_wand(player, wand)
        return True
    return (yield from _rest(bot))


def _rest(bot: Bot) -> Did:
    body, plan = bot.player.body, bot.plan
    if digging_down(bot) and body.depth > plan.rest_depth:
        return False
    if body.hp < plan.rest_below * body.max_hp:
        bot.resting = True
    until = plan.rest_until if body.hunger < w.WEAK else _STARVED
    if body.hp >= until * body.max_hp or body.hunger >= w.FAINTING:
        bot.resting = False
    if bot.resting and magic.can_cast(bot.player, magic.HEALING):
        yield from magic.cast(bot.player, magic.HEALING, bot.player.here)
    elif bot.resting:
        yield from exploring.search(bot.player, 20)
    return bot.resting


def eat_corpses(bot: Bot) -> Did:
    """Eat what was just killed, if it is good to eat."""
    player, level = bot.player, bot.player.level
    if player.body.hunger < 1 or bot.enemies():
        return False
    turn = player.body.turn
    own = _OWN_KIND.get(player.race, "\0")
    for place, fell in list(level.fresh.items()):
        glyph = level.objects.get(place)
        species = (
            all_species()[k.kinds().species[glyph]]
            if glyph is not None and k.kinds().shows[glyph] == k.CORPSE
            else None
        )
        far = t.distance(place, player.here)
        if (
            species is None
            or not species.edible
            or own in species.name
            or turn - fell > _FRESH
            or far > 10
            or place in level.shop
        ):
            del level.fresh[place]
            continue
        told = yield from moving.go_to(player, [place], bot.alarm)
        if player.here == place:
            del level.fresh[place]
            yield from surviving.eat_corpse(player, species.name)
        elif told != moving.ALARMED:
            del level.fresh[place]
        return True
    return False


def wanted(bot: Bot, text: str) -> bool:
    """Whether a thing of this description is taken along."""
    words = text.split(" (")[0]
    if any(word in words for word in ("corpse", "statue", "wand of nothing")):
        return False
    if any(name in words for name in (*gear.DIGGERS, "dagger", *bot.player.thrown)):
        return True
    if slot_of(words):
        return gear.could_wear(bot.player, words)
    return any(name in words for name in surviving.RATIONS) or any(name in words for name in _THINGS)


def collect(bot: Bot) -> Did:
    """Take wanted things that lie about."""
    player, level = bot.player, bot.player.level
    if bot.enemies():
        return False
    goals = [place for place in level.objects if _worth_a_walk(bot, place)]
    if not goals:
        return False
    told = yield from moving.go_to(player, goals, bot.alarm)
    if player.here in goals:
        bot.looked.add((level.place, player.here, level.objects.get(player.here, 0)))
        yield from gear.pick_up(player, lambda text: wanted(bot, text))
    elif told != moving.ALARMED:
        bot.looked.update(
            (level.place, place, level.objects[place]) for place in goals if place in level.objects
        )
    return True


def _worth_a_walk(bot: Bot, place: int) -> bool:
    level, table = bot.player.level, k.kinds()
    glyph = level.objects[place]
    if place in level.shop or level.terrain[place] in t.TRAPS or (level.place, place, glyph) in bot.looked:
        return False
    if table.shows[glyph] == k.CORPSE:
        return place in level.fresh and "dwarf" in all_species()[table.species[glyph]].name
    symbols = "/)" if bot.player.thrown else "/"
    return wanted(bot, table.name[glyph]) or table.symbol[glyph] in symbols
