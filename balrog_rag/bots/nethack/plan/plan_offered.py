"""The skills of a plan as actions: names, parameters, what stops them, and what they are worth."""

from balrog_rag.bots.nethack.netplay.command_skills import press_key as press
from balrog_rag.bots.nethack.netplay.command_skills import type_text as type_keys
from balrog_rag.bots.nethack.plan import (
    plan_bots,
    plan_fights,
    plan_items,
    plan_puzzles,
    plan_shops,
    plan_travel,
)
from balrog_rag.bots.nethack.plan.plan_game import PlanGame
from balrog_rag.bots.nethack.plan.plan_runner import SkillRules, plan_skill
from balrog_rag.contracts.data import Parameter
from balrog_rag.contracts.programs import ProgramKind
from balrog_rag.envs.nethack.world.player import Skill

X, Y = Parameter("x"), Parameter("y")
HERE = (Parameter("x", optional=True), Parameter("y", optional=True))
ITEM = Parameter("item_letter", "word", optional=True)
THIS = Parameter("item_letter", "word")
TURNS = Parameter("turns", least=1, most=1000, optional=True)

WALKS = SkillRules(("level", "health", "harm", "monster", "feature", "status", "message", "turns"))
GOES = SkillRules(("health", "harm", "monster", "status", "message", "turns"))
"""For skills that change levels themselves."""
FIGHTS = SkillRules(("level", "health", "harm", "monster", "status", "message", "turns"))
FLEES = SkillRules(("status", "message", "turns"))
DIGS = SkillRules(("health", "harm", "status", "message", "turns"))
WAITS = SkillRules(("level", "health", "harm", "monster", "status", "message", "turns"), 1000)
ACTS = SkillRules(("level", "health", "status", "turns"), 100)
"""For single commands."""
PLAYS = SkillRules(("level", "health", "deadly", "turns"), 2000, asks=True)
FETCHES = SkillRules(("health", "deadly", "turns"), 2000, asks=True)
ANSWERS = SkillRules((), 100, answers=True)


def press_key(game: PlanGame, key: str) -> Skill:
    """Press one key; a question that it opens stays open."""
    return (yield from press(game.tracker, key))


def type_text(game: PlanGame, text: str) -> Skill:
    """Press the keys of a text; questions stay open."""
    return (yield from type_keys(game.tracker, text))


OFFERED = (
    plan_skill(
        plan_travel.explore_level,
        WALKS,
        "see more of the level, opening doors; searches for hidden ways if no stairs down are known",
    ),
    plan_skill(
        plan_travel.go_to,
        GOES,
        "go to the nearest such place, or to one on a level you know",
        Parameter("place", "word", choices=plan_travel.PLACES),
        Parameter("level", least=1, most=60, optional=True),
    ),
    plan_skill(plan_travel.move_to, WALKS, "walk to a position", X, Y),
    plan_skill(plan_travel.down, GOES, "take the nearest known stairs down, or those at a position", *HERE),
    plan_skill(plan_travel.up, GOES, "take the nearest known stairs up, or those at a position", *HERE),
    plan_skill(plan_travel.dig_down, DIGS, "dig through the floor, protected by Elbereth in the pit"),
    plan_skill(
        plan_bots.fetch_digger,
        FETCHES,
        "get a pick-axe from a dwarf or a shop; fixed rules reach 25 % with it, 9 % without",
    ),
    plan_skill(
        plan_bots.dive,
        FETCHES,
        "go down by holes and stairs, fighting and resting; fixed rules reach 22 % with it, 3 % by walking",
        Parameter("level", least=2, most=60),
    ),
    plan_skill(
        plan_bots.play_on,
        PLAYS,
        "let a program play until another level or danger; again and again it reaches 23 %",
        Parameter("turns", least=1, most=2000),
    ),
    plan_skill(plan_travel.search_hidden, WAITS, "search for hidden ways where they are likeliest", TURNS),
    plan_skill(plan_fights.melee_attack, FIGHTS, "pursue the monster at a position and hit it", X, Y),
    plan_skill(plan_fights.strike, FIGHTS, "fight what is near, until half of your hit points are gone"),
    plan_skill(plan_fights.throw_at, FIGHTS, "throw or shoot at the monster at a position", X, Y, ITEM),
    plan_skill(
        plan_fights.zap,
        ACTS,
        "zap a wand",
        THIS,
        Parameter("direction", "word", choices=tuple(plan_fights.ZAP_WAYS)),
    ),
    plan_skill(plan_fights.retreat, FLEES, "flee by stairs, else to where few can reach you"),
    plan_skill(plan_fights.hold_out, FLEES, "write Elbereth underfoot and rest on it", TURNS),
    plan_skill(plan_fights.pray, ACTS, "pray if your god will help now; else says why not"),
    plan_skill(
        plan_fights.rest,
        WAITS,
        "let turns pass: a count, or until you are healed",
        Parameter("count", least=1, most=1000, optional=True),
    ),
    plan_skill(
        plan_items.eat, ACTS, "eat an item, or a fresh corpse near by, or what is carried if hungry", ITEM
    ),
    plan_skill(plan_items.escape, FLEES, "leave at once: stairs underfoot, a known digging or teleport item"),
    plan_skill(plan_items.equip, ACTS, "put on harmless armor and wield the best weapon"),
    plan_skill(
        plan_items.use,
        ACTS,
        "read, drink, wear, put on, wield or apply an item, by its kind; take off what is worn",
        THIS,
        Parameter("direction", "word", choices=tuple(plan_fights.ZAP_WAYS), optional=True),
    ),
    plan_skill(plan_shops.identify, ACTS, "engrave with an unknown wand; in a shop learn by a price", ITEM),
    plan_skill(
        plan_items.collect,
        WALKS,
        "walk to items of a kind that lie on this level and pick them up",
        Parameter("kind", "word", choices=plan_items.KINDS),
    ),
    plan_skill(plan_items.loot, WALKS, "open the nearest container and take everything out"),
    plan_skill(
        plan_shops.shop,
        ACTS,
        "in a shop: buy what lies here, pay, or sell an item",
        Parameter("deal", "word", choices=plan_shops.DEALS),
        ITEM,
    ),
    plan_skill(
        plan_puzzles.sokoban_step,
        ACTS,
        "push one boulder on, as a solution of this level does, if one is known or found",
    ),
    plan_skill(plan_puzzles.cross_water, WALKS, "make a way over water or lava with cold or a boulder"),
    plan_skill(
        plan_puzzles.recall,
        ACTS,
        "say all that you remember of a level; takes no time",
        Parameter("level", least=1, most=60, optional=True),
    ),
    plan_skill(plan_fights.kick, FIGHTS, "kick what is at a position, from beside it", X, Y),
    plan_skill(
        press_key, ANSWERS, "press one key: a character, ESC, SPACE or ENTER", Parameter("key", "word")
    ),
    plan_skill(type_text, ANSWERS, "press the keys of a text", Parameter("text", "text")),
)
"""In the order in which a prompt lists them."""


def plan_skills(others: bool) -> tuple[ProgramKind, ...]:
    """Return the offered skills; `others` (env.more_skills) adds NetPlay's that have other names."""
    if not others:
        return OFFERED
    from balrog_rag.bots.nethack.netplay.skills import skills

    names = {kind.name for kind in OFFERED}
    return (*OFFERED, *(kind for kind in skills(others=True) if kind.name not in names))
