"""When to eat, and what off the ground: fresh corpses, and by the starving nearly anything."""

from balrog_rag.bots.nethack.delver.battle import hurrying
from balrog_rag.bots.nethack.delver.state import Bot, Did
from balrog_rag.bots.nethack.skills import moving, surviving
from balrog_rag.bots.nethack.skills.fight_cost import adjacent
from balrog_rag.bots.nethack.skills.told import Told
from balrog_rag.bots.nethack.skills.tuning import TUNING
from balrog_rag.envs.nethack.world import glyph_kinds as k
from balrog_rag.envs.nethack.world import known_world as w
from balrog_rag.envs.nethack.world import terrain as t
from balrog_rag.envs.nethack.world.level import Level
from balrog_rag.envs.nethack.world.species import Species, all_species

_BEASTS = ("jackal", "fox", "coyote", "rat", "wolf", "warg")
"""What nobody with lycanthropy must eat: it would be cannibalism."""
_OWN_KIND = {"dwarven": "dwarf", "gnomish": "gnom", "elven": "elf", "human": "human"}


def mealtime(bot: Bot) -> bool:
    """Whether to eat what is carried; to faint beside enemies is worse than to eat beside them."""
    hunger, enemies = bot.player.body.hunger, bot.enemies()
    if hunger < w.HUNGRY or not bot.on.meals:
        return False
    if bot.player.world.swallowed and hunger < w.FAINTING:
        return False  # who digests us is next to us, though it is not seen
    if not must_eat(bot):
        return not enemies
    return hunger >= w.FAINTING or not adjacent(bot.player, enemies)


def must_eat(bot: Bot) -> bool:
    """Whether to eat whatever enemies are in sight."""
    return bot.on.larder and bot.player.body.hunger >= w.WEAK


def eat_corpses(bot: Bot, alarm: moving.Alarm | None = None) -> Did:
    """Eat what was just killed, if it is safe to eat; `alarm` ends the way there, the bot's own if None."""
    player, level = bot.player, bot.player.level
    if not bot.on.corpses or player.body.hunger < (w.HUNGRY if hurrying(bot) else 1) or _disturbed(bot):
        return False
    for place, fell in list(level.fresh.items()):
        species = _corpse(level, place)
        if species is None or not _is_fresh(bot, fell) or not _eats(bot, species) or place in level.shop:
            del level.fresh[place]
            continue
        if t.distance(place, player.here) > TUNING.to_corpse:
            continue
        told = yield from moving.go_to(player, [place], alarm or bot.alarm)
        if player.here == place and not _disturbed(bot):  # who came in sight meanwhile interrupts no meal
            told = yield from surviving.eat_corpse(player, species.name)
        elif player.here == place:
            return True
        if told not in (moving.ALARMED, Told.STOPPED_EATING):
            del level.fresh[place]
        return True
    return False


def _disturbed(bot: Bot) -> bool:
    """Whether enemies keep us from eating off the ground."""
    enemies = bot.enemies()
    return bool(adjacent(bot.player, enemies) if must_eat(bot) else enemies)


def _corpse(level: Level, place: int) -> Species | None:
    """The kind whose corpse lies somewhere."""
    glyph, table = level.objects.get(place), k.kinds()
    if glyph is None or table.shows[glyph] != k.CORPSE:
        return None
    return all_species()[table.species[glyph]]


def _is_fresh(bot: Bot, fell: int) -> bool:
    body = bot.player.body
    hungry = bot.on.larder and body.hunger >= w.HUNGRY
    return body.turn - fell <= (TUNING.untainted if hungry else TUNING.fresh)


def _eats(bot: Bot, species: Species) -> bool:
    """Whether a fresh corpse of a kind is eaten; orcs and cavemen may eat dogs and their own kind."""
    player, body = bot.player, bot.player.body
    if not bot.on.corpse_safety:
        return True
    hardened = player.race == "orcish" or player.role == "Caveman"
    desperate = bot.on.larder and body.hunger >= w.FAINTING
    own = [_OWN_KIND.get(player.race, "\0"), *(_BEASTS if player.feverish else ())]
    if any(kind in species.name for kind in own) and not (hardened or desperate):
        return False
    if species.companion:
        return hardened or body.hunger >= w.WEAK
    return species.edible or (species.upsetting and desperate and body.hp > TUNING.upset)
