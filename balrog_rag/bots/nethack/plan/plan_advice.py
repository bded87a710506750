"""What the delver would do next, in words, without doing it: the part `advice` of an observation."""

import copy
from typing import Any

from balrog_rag.bots.nethack.delver.rules import RULES
from balrog_rag.bots.nethack.delver.state import Bot
from balrog_rag.bots.nethack.plan.plan_game import PlanGame
from balrog_rag.bots.nethack.skills import gear, stairs
from balrog_rag.envs.nethack.world import keys
from balrog_rag.envs.nethack.world import terrain as t
from balrog_rag.envs.nethack.world.popups import waits
from balrog_rag.envs.nethack.world.species import all_species
from balrog_rag.envs.nethack.world.tracker import TrackedScreen

_COMMANDS = {
    keys.PRAY: ("pray", "pray"),
    keys.QUAFF: ("drink a potion", "use"),
    keys.EAT: ("eat", "eat"),
    keys.ENGRAVE: ("write on the floor", "hold_out"),
    keys.ZAP: ("zap a wand", "zap"),
    keys.CAST: ("cast a spell", "press_key Z"),
    keys.FIGHT: ("hit what is next to you", "strike"),
    keys.THROW: ("throw something", "throw_at"),
    keys.FIRE: ("shoot", "throw_at"),
    keys.WEAR: ("put on armor", "equip"),
    keys.TAKE_OFF: ("take off armor", "equip"),
    keys.WIELD: ("wield a better weapon", "equip"),
    keys.ENHANCE: ("advance a skill", "play_on 1"),
    keys.PICK_UP: ("pick things up", "collect useful"),
    keys.UP: ("go up the stairs", "up"),
    keys.DOWN: ("go down the stairs", "down"),
    keys.APPLY: ("dig", "dig_down"),
    keys.SEARCH: ("wait and search", "rest 5"),
    keys.DROP: ("put something down", "press_key d"),
    keys.PAY: ("pay", "shop pay"),
    keys.LOOK: ("look at what lies here", "recall"),
    keys.FARLOOK: ("look at a monster", "strike"),
    keys.READ: ("read a scroll", "use"),
    keys.KICK: ("kick a door", "kick"),
    keys.OPEN: ("open a door", "explore_level"),
}
"""What a first key says, and the skill that comes nearest."""
_WALKS = {
    "needs": "flee",
    "escorted": "follow the guard",
    "battle": "move in the fight",
    "eat_corpses": "go to a fresh corpse",
    "buy": "go to a thing in the shop",
    "collect": "go to a useful item",
}
_WALK_SKILLS = {
    "needs": "escape",
    "escorted": "play_on 20",
    "battle": "strike",
    "upkeep": "rest",
    "eat_corpses": "eat",
    "buy": "go_to shop",
    "collect": "collect useful",
}


def advice(screen: Any) -> str:
    """Say in one line what the delver would do now; "" while the game waits for an answer."""
    assert isinstance(screen, TrackedScreen)
    game = PlanGame(screen.memory.known(), screen.tracker, screen.memory.kept)
    if waits(game.player.screen) or game.player.world.over:
        return ""
    bot = copied(game.bot())
    for rule in RULES:
        steps = rule(bot)
        try:
            key = next(steps)
        except StopIteration as stop:
            if stop.value:
                break
            continue
        steps.close()
        does, skill = _words(bot, rule.__name__, key)
        return f"The delver would now {does}; the nearest skill is {skill}."
    return "The delver would now wait; the nearest skill is rest 5."


def copied(bot: Bot) -> Bot:
    """Copy a bot with what it knows of its present level; rules change what they know before they press."""
    player = bot.player
    memo: dict[int, Any] = {id(player.screen): player.screen, id(player.screen.arrays): player.screen.arrays}
    memo |= {id(level): level for level in player.world.levels.values() if level is not player.level}
    memo |= {id(species): species for species in all_species()}
    return copy.deepcopy(bot, memo)


def _words(bot: Bot, rule: str, key: int) -> tuple[str, str]:
    """What the first key of a rule means, and the nearest skill."""
    if key in _COMMANDS and not (rule == "upkeep" and key == keys.ENGRAVE):
        does, skill = _COMMANDS[key]
        return does, "rest" if rule == "upkeep" and key == keys.SEARCH else skill
    if rule == "upkeep" and key == keys.ENGRAVE:
        return "engrave with an unknown wand", "identify"
    if chr(key).isdigit():
        return (
            "rest or search for some turns",
            "search_hidden" if rule == "journey" and not bot.recovering() else "rest",
        )
    if rule == "journey":
        return _journey(bot)
    return _WALKS.get(rule, "act"), _WALK_SKILLS.get(rule, "play_on 20")


def _journey(bot: Bot) -> tuple[str, str]:
    player = bot.player
    if gear.digger(player):
        deeper = f"dive {player.body.depth + 1}"
        return "go to a place to dig down", deeper
    if player.world.place.branch == stairs.MINES:
        return "look for a dwarf with a pick-axe", "fetch_digger"
    known = player.level.spots(t.DOWN)
    return ("go towards the stairs down", "down") if known else ("explore the level", "explore_level")
