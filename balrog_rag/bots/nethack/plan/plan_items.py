"""Skills for items: eat, equip, use, collect, loot, escape with what is carried."""

from collections.abc import Collection

from balrog_rag.bots.nethack.delver.errands import wanted
from balrog_rag.bots.nethack.delver.meals import eat_corpses
from balrog_rag.bots.nethack.plan.plan_fights import ZAP_WAYS
from balrog_rag.bots.nethack.plan.plan_game import PlanGame, said
from balrog_rag.bots.nethack.skills import gear, magic, missiles, moving, stairs, surviving
from balrog_rag.bots.nethack.skills.fight_cost import WEAPONS
from balrog_rag.contracts.programs import ProgramFailed
from balrog_rag.envs.nethack.world import glyph_kinds as k
from balrog_rag.envs.nethack.world import keys
from balrog_rag.envs.nethack.world import known_world as w
from balrog_rag.envs.nethack.world import terrain as t
from balrog_rag.envs.nethack.world.items import Item, slot_of
from balrog_rag.envs.nethack.world.names import position
from balrog_rag.envs.nethack.world.player import Player, Skill

CLASS_WORDS = {
    "scroll": ("scroll", "scrolls"),
    "spellbook": ("spellbook", "spellbooks", "book"),
    "potion": ("potion", "potions"),
    "wand": ("wand", "wands"),
    "ring": ("ring", "rings"),
    "amulet": ("amulet", "amulets"),
    "gold": ("gold",),
    "gem": ("gem", "gems", "stone", "stones", "flint", "rock", "rocks"),
}
"""Classes of items by the words in their names."""
KINDS = ("useful", "all", *CLASS_WORDS, "food", "weapon", "armor", "tool")
_SYMBOLS = {
    "scroll": "?",
    "spellbook": "+",
    "potion": "!",
    "wand": "/",
    "ring": "=",
    "amulet": '"',
    "gold": "$",
    "gem": "*",
    "food": "%",
    "weapon": ")",
    "armor": "[",
    "tool": "(",
}
_FETCHED, _PIECES, _REPLIES = 12, 8, 20
_CONTAINERS = ("large box", "chest", "ice box", "sack", "bag")
_COMMANDS = {
    "scroll": (keys.READ, "want to read"),
    "spellbook": (keys.READ, "want to read"),
    "potion": (keys.QUAFF, "want to drink"),
    "ring": (keys.PUT_ON, "want to put on"),
    "amulet": (keys.PUT_ON, "want to put on"),
    "armor": (keys.WEAR, "want to wear"),
    "weapon": (keys.WIELD, "want to wield"),
    "food": (keys.EAT, "want to eat"),
    "tool": (keys.APPLY, "want to use or apply"),
}
_REMOVE = ord("R")
_REFUSED = ("You don't have anything", "You cannot eat", "silly thing to", surviving.INTERRUPTED)
"""Parts of messages after which a command on an item was not carried out."""


def carried(player: Player, letter: str) -> Item:
    """The item with this letter; fails if there is none."""
    item = player.world.carried(letter)
    if item is None:
        raise ProgramFailed(f"you carry nothing under the letter {letter!r}")
    return item


def class_of(name: str) -> str:
    """The class of an item by its name; `tool` if no other fits."""
    words = name.split(" named ")[0].split(" called ")[0].split()
    for kind, known in CLASS_WORDS.items():
        if any(word in known for word in words):
            return kind
    if surviving.is_ration(name) or {"corpse", "corpses", "tin", "tins"} & set(words):
        return "food"
    if slot_of(name):
        return "armor"
    thrown = not (missiles.THROWN | missiles.AMMUNITION).isdisjoint(words)
    armed = thrown or any(weapon in name for weapon in (*WEAPONS, *missiles.LAUNCHED))
    return "weapon" if armed and not gear.digs(name) else "tool"


def _done(player: Player, what: str) -> str:
    """What the game said of a command; fails if it was refused."""
    told = said(player)
    if any(words in told for words in _REFUSED):
        raise ProgramFailed(f"{what}: {told}")
    return told


def eat(game: PlanGame, item_letter: str | None = None) -> Skill:
    """Eat an item, or a fresh corpse near by that is safe, or the best food that is carried."""
    player = game.player
    if player.body.hunger == 0:
        raise ProgramFailed("you are satiated; more food could choke you")
    if item_letter is not None:
        item = carried(player, item_letter)
        if "corpse" in item.name and not any(safe in item.name for safe in ("lichen", "lizard")):
            raise ProgramFailed("a carried corpse may be tainted; press_key e eats it anyway")
        replies = ("eat it", "n"), ("eat one", "n"), ("want to eat", item_letter), ("Stop eating", "y")
        yield from player.ask(keys.EAT, *replies, ("Continue eating", "y"))
        return f"ate: {_done(player, item.name)}"
    fresh = set(player.level.fresh)
    if (yield from eat_corpses(game.bot(), moving.never)):
        finished = player.here not in player.level.fresh
        if player.here in fresh and (finished or player.said(surviving.INTERRUPTED)):
            return f"ate a fresh corpse: {_done(player, 'a fresh corpse')}"
        raise ProgramFailed("there is a fresh corpse near by that could not be reached")
    if player.body.hunger < w.HUNGRY:
        raise ProgramFailed("you are not hungry, and no fresh corpse lies near by; name an item to eat it")
    if (yield from surviving.eat(player)) == "ate":
        return f"ate: {_done(player, 'not eaten up')}"
    raise ProgramFailed("no safe food is carried, and no fresh corpse that is safe lies near by")


def equip(game: PlanGame) -> Skill:
    """Put on harmless armour that is carried, and wield the weapon that hits hardest."""
    player, done = game.player, list[str]()
    for _ in range(_PIECES):
        armor = gear.to_wear(player)
        if armor is None:
            break
        yield from gear.wear(player, armor)
        done.append(f"put on {armor.name}")
    best = gear.best_weapon(player, risk=0)
    if best is not None and not best.wielded:
        yield from gear.wield(player, best)
        done.append(f"wielded {best.name}")
    return ", ".join(done) or "nothing better is carried"


def use(game: PlanGame, item_letter: str, direction: str | None = None) -> Skill:
    """Read, drink, put on, wear, wield, eat or apply an item, by its kind; take off what is worn."""
    player, item = game.player, carried(game.player, item_letter)
    kind = class_of(item.name)
    if kind == "wand":
        raise ProgramFailed("zap points a wand at something; identify tries an unknown one")
    if kind not in _COMMANDS:
        raise ProgramFailed(f"{item.text} is of no use here")
    command, question = _COMMANDS[kind]
    if item.worn:
        command = _REMOVE if kind in ("ring", "amulet", "tool") else keys.TAKE_OFF
        question = "want to"
    way = ZAP_WAYS[direction] if direction is not None else "\x1b"
    yield from player.ask(
        command,
        ("here; ", "n"),
        ("Drink from the", "n"),
        (question, item_letter),
        ("ring-finger", "r"),
        ("direction", way),
    )
    return _done(player, item.name) or "done"


def collect(game: PlanGame, kind: str) -> Skill:
    """Walk to items of a kind that are seen on this level, and pick them up."""
    player, level, bot = game.player, game.level, game.bot()

    def wish(text: str) -> bool:
        words = text.split(" (")[0]
        if kind == "all":
            return True
        return wanted(bot, text) if kind == "useful" else class_of(words) == kind

    took, before, tried = 0, {item.text for item in player.world.items}, set[int]()
    for _ in range(_FETCHED):
        goals = set(_lying(game, kind)) - tried
        if not goals:
            break
        told = yield from moving.go_to(player, goals)
        if player.level is not level:
            return "on another level"
        if player.here not in goals:
            if not took:
                raise ProgramFailed(f"could not get to the nearest one: {told}")
            break
        tried.add(player.here)
        took += (yield from gear.pick_up(player, wish)) == "took"
    new = [item.text for item in player.world.items if item.text not in before]
    if new:
        return f"you carry now: {', '.join(new)[:200]}"
    if not tried:
        raise ProgramFailed(f"nothing of that kind is known to lie on this level{_on_sale(game)}")
    return f"nothing was picked up: {said(player)}"


def _on_sale(game: PlanGame) -> str:
    return ", outside of shops" if game.level.shop else ""


def _lying(game: PlanGame, kind: str) -> Collection[int]:
    """Squares with such items on top, outside of shops."""
    level, table, bot = game.level, k.kinds(), game.bot()
    found = []
    for place, glyph in level.objects.items():
        if place in level.shop or place in level.boulders or table.shows[glyph] == k.STATUE:
            continue
        symbol = "%" if table.shows[glyph] == k.CORPSE else table.symbol[glyph]
        useful = symbol in "$/" or wanted(bot, table.name[glyph]) or symbol in "!?"
        if kind == "all" or (useful if kind == "useful" else symbol == _SYMBOLS[kind]):
            found.append(place)
    return found


def loot(game: PlanGame) -> Skill:
    """Go to the nearest container on this level, open it, and take everything out."""
    player, level, table = game.player, game.level, k.kinds()
    boxes = [at for at, glyph in level.objects.items() if table.name[glyph] in _CONTAINERS]
    boxes = [at for at in boxes if at not in level.shop]
    if player.here not in boxes and boxes:
        told = yield from moving.go_to(player, boxes)
        if player.here not in boxes:
            raise ProgramFailed(f"could not get to the container: {told}")
    before = {item.text for item in player.world.items}
    yield from player.begin()
    yield from player.press(keys.LOOT)
    yield from _take_out(player)
    yield from player.close()
    new = [item.text for item in player.world.items if item.text not in before]
    if new:
        return f"you carry now: {', '.join(new)[:200]}"
    if player.said("Loot in what direction", "don't find anything"):
        raise ProgramFailed("no container is known on this level, and none is underfoot")
    if player.said("locked"):
        raise ProgramFailed("it is locked; kick it from beside it, or open it with a tool")
    raise ProgramFailed(f"nothing was taken: {said(player)}")


def _take_out(player: Player) -> Skill:
    """Answer the questions of looting: yes, take out, every type, everything."""
    for _ in range(_REPLIES):
        screen = player.screen
        if screen.menu:
            lines = screen.lines()
            if any("take something out" in line for line in lines):
                yield from player.press(ord("o"))
            elif any("Auto-select every item" in line for line in lines):
                yield from player.press(ord("A"))
                yield from player.press(keys.ENTER)
            elif any("(end)" in line or "(1 of" in line for line in lines) and _selectable(lines):
                yield from player.press(ord(","))
                yield from player.press(keys.ENTER)
            else:
                yield from player.press(keys.ESC)
        elif screen.asks:
            question = screen.question
            yes = "loot it" in question or "open" in question or "take something out" in question
            yield from player.press(keys.YES if yes else ord("n"))
        else:
            break
    return "looted"


def _selectable(lines: list[str]) -> bool:
    return any(" - " in line for line in lines)


def escape(game: PlanGame) -> Skill:
    """Leave at once with what is at hand: stairs underfoot, a wand of digging, a scroll of teleportation."""
    player, level = game.player, game.level
    ground = level.terrain[player.here]
    if ground in t.STAIRS and not (ground in t.UP and player.body.depth <= 1):
        yield from stairs.take_stairs(player, ground in t.DOWN)
        if player.level is not level:
            return f"left by the stairs; Dlvl {player.body.depth}"
    wand = magic.digging_wand(player)
    if wand is not None and (yield from magic.zap_down(player, wand)) == "fell":
        return f"fell through a hole to Dlvl {player.body.depth}"
    scroll, here = player.world.item("scroll of teleportation", "scrolls of teleportation"), player.here
    if scroll is not None:
        yield from player.ask(keys.READ, ("want to read", scroll.letter))
        if player.here != here or player.level is not level:
            return f"teleported to {position(player.here)} on Dlvl {player.body.depth}"
    wand = player.world.item("wand of teleportation")
    if wand is not None:
        yield from magic.zap(player, wand, ".")
        if player.here != here or player.level is not level:
            return f"teleported to {position(player.here)} on Dlvl {player.body.depth}"
    raise ProgramFailed(
        "no stairs underfoot, and no wand of digging, scroll or wand of teleportation that is known and works"
    )
