"""Activities between fights: rest, armour, weapons and items on the ground."""

from balrog_rag.bots.nethack.delver.battle import digging_down, hurrying
from balrog_rag.bots.nethack.delver.retreat import MISSILES, drink, escape, take_cover
from balrog_rag.bots.nethack.delver.state import DWARVES, Bot, Did, Thing
from balrog_rag.bots.nethack.skills import exploring, gear, magic, moving, surviving, trading
from balrog_rag.bots.nethack.skills.tuning import TUNING
from balrog_rag.envs.nethack.world import glyph_kinds as k
from balrog_rag.envs.nethack.world import known_world as w
from balrog_rag.envs.nethack.world import terrain as t
from balrog_rag.envs.nethack.world.items import slot_of
from balrog_rag.envs.nethack.world.level import Level
from balrog_rag.envs.nethack.world.species import all_species

_DWARVISH = ("dwarvish", "hooded cloak", "hard shoes", "hard hat", "iron shoes", "broad short sword")
"""Words for what dwarves leave behind, sometimes on top of their digging tools."""
_THINGS = ("wand", "potion of healing", "potion of extra healing")


def upkeep(bot: Bot) -> Did:
    """Put on armour, wield the best weapon, rest."""
    player = bot.player
    if bot.enemies():
        return False
    if bot.hurt and player.said(*MISSILES):
        bot.fired_at = player.body.turn
    if player.changed and not bot.starving():  # what fell off us lies here, and naked we would not get far
        yield from exploring.search(player, TUNING.short_wait)
        return True
    if not hurrying(bot) and ((yield from drink(bot, [])) or (yield from take_cover(bot))):
        return True
    armor = gear.to_wear(player) if bot.on.armor else None
    if armor:
        yield from gear.wear(player, armor)
        return True
    burden = trading.unpaid(player) or gear.burden(player)
    if burden:
        yield from gear.drop(player, burden)
        return True
    best = gear.best_weapon(player)
    if bot.on.weapons and best and not best.wielded and not gear.digger(player):
        yield from gear.wield(player, best)
        return True
    return (yield from _use_wands(bot)) or (yield from _rest(bot))


def _use_wands(bot: Bot) -> Did:
    """Learn what an unknown wand does, or speed up."""
    player = bot.player
    if not bot.on.wands:
        return False
    if unknown := magic.unknown_wand(player):
        yield from magic.try_wand(player, unknown)
    elif speed := magic.speed_wand(player):
        yield from magic.speed_up(player, speed)
    else:
        return False
    return True


def _rest(bot: Bot) -> Did:
    body, plan = bot.player.body, bot.plan
    if not bot.on.rest:
        return False
    if (
        body.turn - bot.shot_at < TUNING.rest_elsewhere
        or hurrying(bot)
        or (digging_down(bot) and bot.walled_in())
    ):
        return False
    if body.hp < plan.rest_below * body.max_hp:
        bot.resting = True
    until = plan.rest_until if body.hunger < w.WEAK else TUNING.rest_starved
    if body.hp >= until * body.max_hp or body.hunger >= w.FAINTING:
        bot.resting = False
    if bot.resting and bot.on.healing_spells and magic.can_cast(bot.player, magic.HEALING):
        yield from magic.cast(bot.player, magic.HEALING, bot.player.here)
    elif bot.resting:
        yield from _rest_a_while(bot)
    return bot.resting


def _rest_a_while(bot: Bot) -> Did:
    """Rest, and leave if a monster out of sight shoots at us."""
    player, hp = bot.player, bot.player.body.hp
    yield from exploring.search(player, TUNING.rest_turns)
    if player.body.hp < hp and not bot.enemies():
        bot.shot_at = player.body.turn
        bot.ignored.clear()
        if player.level.terrain[player.here] in t.UP and player.body.depth > 1:
            return (yield from escape(bot, down=False))
    return False


def wanted(bot: Bot, text: str) -> bool:
    """Whether an item of this description is picked up."""
    words = text.split(" (")[0]
    if any(word in words for word in ("corpse", "statue", "wand of nothing")) or trading.PRICE.search(text):
        return False
    if "gold piece" in words:
        return bot.player.body.turn - bot.guard_seen > TUNING.guard_gone
    if gear.digs(words):
        return gear.digger(bot.player) is None  # a second one is only weight
    if any(name in words for name in ("dagger", "spear", *bot.player.thrown)):
        return True
    if bot.on.elbereth and surviving.writes(words) and not surviving.stylus(bot.player):
        return True
    if bot.on.rearm and gear.is_weapon(words) and gear.unarmed(bot.player):
        return True
    if bot.on.weapons and gear.better_weapon(bot.player, text):
        return True
    if slot_of(words):
        return gear.could_wear(bot.player, words)
    return surviving.is_ration(words) or any(name in words for name in _THINGS)


def collect(bot: Bot) -> Did:
    """Collect wanted items on the ground."""
    player, level = bot.player, bot.player.level
    if not bot.on.collecting or bot.enemies() or hurrying(bot) or player.changed:
        return False
    goals = [place for place in level.objects if _worth_a_walk(bot, place)]
    if not goals:
        return False
    if not level.boulders.isdisjoint(goals):
        level.push()  # a dwarf that tunnels leaves boulders behind, one may lie on its things (dig.c:1328)
    told = yield from moving.go_to(player, goals, bot.alarm)
    if player.here in goals:
        bot.looked.add(_thing(level, player.here))
        yield from gear.pick_up(player, lambda text: wanted(bot, text))
    elif told != moving.ALARMED:
        _give_up(bot, goals)
    return True


def _give_up(bot: Bot, goals: list[int]) -> None:
    """Note that no way leads to these things; one to food is looked for again later."""
    level = bot.player.level
    for place in goals:
        if place not in level.objects:
            continue
        thing = _thing(level, place)
        if bot.on.larder and surviving.is_ration(k.kinds().name[thing.glyph]):
            bot.unreached[thing] = bot.player.body.turn
        else:
            bot.looked.add(thing)


def _worth_a_walk(bot: Bot, place: int) -> bool:
    level, table = bot.player.level, k.kinds()
    if place in level.shop or level.terrain[place] in t.TRAPS:
        return False
    thing = _thing(level, place)
    if thing in bot.looked:
        return False
    if bot.player.body.turn - bot.unreached.get(thing, -TUNING.tried_again) < TUNING.tried_again:
        return False
    if not gear.digger(bot.player) and _a_dwarfs(thing):
        return True
    if table.shows[thing.glyph] == k.CORPSE:
        return place in level.fresh and "dwarf" in all_species()[table.species[thing.glyph]].name
    armed = not bot.player.thrown and not (bot.on.rearm and gear.unarmed(bot.player))
    symbols = "/" if armed else "/)"
    return wanted(bot, table.name[thing.glyph]) or table.symbol[thing.glyph] in symbols


def _thing(level: Level, place: int) -> Thing:
    """What lies on a square, as far as it is known."""
    fallen = level.left.get(place, ())
    dwarves = sum(all_species()[kind].name in DWARVES for kind in fallen)
    return Thing(level.place, place, level.objects.get(place, 0), dwarves)


def _a_dwarfs(thing: Thing) -> bool:
    """Whether it may hide a digging tool: a dwarf's clothes, its corpse, or what lies where it fell."""
    table = k.kinds()
    corpse = table.shows[thing.glyph] == k.CORPSE
    return (
        thing.dwarves > 0
        or any(word in table.name[thing.glyph] for word in _DWARVISH)
        or (corpse and all_species()[table.species[thing.glyph]].name in DWARVES)
    )
