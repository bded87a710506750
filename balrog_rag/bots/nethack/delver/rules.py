"""The rules of the player in their order; the first that applies is followed."""

from collections.abc import Callable, Sequence
from typing import TypeAlias

from balrog_rag.bots.nethack.delver.battle import battle, engulfed
from balrog_rag.bots.nethack.delver.errands import collect, upkeep
from balrog_rag.bots.nethack.delver.hero_needs import escorted, needs, train
from balrog_rag.bots.nethack.delver.journey import journey
from balrog_rag.bots.nethack.delver.meals import eat_corpses
from balrog_rag.bots.nethack.delver.shopping import buy
from balrog_rag.bots.nethack.delver.state import Bot, Did
from balrog_rag.bots.nethack.skills import exploring, looking, magic
from balrog_rag.bots.nethack.skills.tuning import TUNING
from balrog_rag.envs.nethack.world.player import Skill

Rule: TypeAlias = Callable[[Bot], Did]
"""Does something if it applies, and says whether it did."""

FIRST: tuple[Rule, ...] = (train, needs, escorted, engulfed, battle, upkeep)
"""What comes before any errand or way."""
RULES: tuple[Rule, ...] = (*FIRST, eat_corpses, buy, collect, journey)


def play(bot: Bot) -> Skill:
    """Play to the end of the game."""
    bot.player.world.asks, bot.player.bare_hands = True, False
    bot.player.unknown, bot.player.minds_form = bot.unknown, bot.on.rearm
    yield from prepare(bot)
    yield from follow(bot, RULES, lambda: False)
    return "the game is over"


def prepare(bot: Bot) -> Skill:
    """Read who we are, and list the spells."""
    yield from looking.look_at_oneself(bot.player)
    yield from magic.spells(bot.player)
    return "prepared"


def follow(bot: Bot, rules: Sequence[Rule], done: Callable[[], bool]) -> Skill:
    """Follow the first rule that applies, again and again, until it is done or the game is over."""
    idle = 0
    while not bot.player.world.over and not done():
        before = bot.player.body.turn, bot.player.here
        yield from _move(bot, rules)
        idle = idle + 1 if (bot.player.body.turn, bot.player.here) == before else 0
        if idle > TUNING.idle:
            yield from exploring.search(bot.player, TUNING.idle)
            idle = 0
    return "done"


def _move(bot: Bot, rules: Sequence[Rule]) -> Skill:
    bot.hp, before = bot.player.body.hp, bot.felt
    bot.felt, bot.hurt = bot.hp, bot.hp < before
    if bot.hurt:
        bot.struck_at = bot.player.body.turn
    for rule in rules:
        bot.why = rule.__name__
        if (yield from rule(bot)):
            return bot.why
    return "nothing to do"
