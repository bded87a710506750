"""Items: pick up, put on, wield."""

import re
from collections.abc import Callable

from balrog_rag.bots.nethack.skills.fight_cost import WEAPONS
from balrog_rag.bots.nethack.skills.looking import look_here
from balrog_rag.bots.nethack.skills.missiles import launcher
from balrog_rag.bots.nethack.skills.told import Told
from balrog_rag.bots.nethack.skills.tuning import TUNING
from balrog_rag.envs.nethack.world import keys
from balrog_rag.envs.nethack.world import known_world as w
from balrog_rag.envs.nethack.world.items import Item, read_item, slot_of
from balrog_rag.envs.nethack.world.player import Player, Skill
from balrog_rag.envs.nethack.world.refusals import Act, Refusal

Wish = Callable[[str], bool]
"""Whether an item of this description is wanted."""

_ENTRY = re.compile(r"(?:^| )([a-zA-Z]) - (.+)$")
_ALONE = re.compile(r"You (?:see|feel) here (.+?)\.(?:  |$)")
_PAGES = 10
DIGGERS = ("pick-axe", "dwarvish mattock", "broad pick")


GOOD_ARMOR = (
    *(
        "hard hat",
        "hard shoes",
        "iron shoes",
        "iron helm",
        "iron skull cap",
        "leather helm",
        "leather hat",
        "dented pot",
    ),
    *("mithril", "plate mail", "splint mail", "banded mail", "chain mail", "scale mail", "studded leather"),
    *(
        "ring mail",
        "leather armor",
        "orcish helm",
        "elven leather",
        "low boots",
        "high boots",
        "walking shoes",
    ),
    *(
        "jackboots",
        "small shield",
        "orcish shield",
        "Uruk-hai shield",
        "elven shield",
        "dwarvish roundshield",
    ),
    *(
        "round shield",
        "red-eyed",
        "white-handed",
        "blue and green",
        "leather cloak",
        "hooded cloak",
        "elven cloak",
        "cloak of",
    ),
    *("dwarvish cloak", "orcish cloak", "faded pall", "coarse mantelet", "opera cloak", "ornamental cope"),
    *("piece of cloth", "tattered cape", "crested helmet", "leather jacket", "robe", "slippery cloak"),
)
"""Harmless armour, by words in its names; most other kinds may be cursed or harmful."""


_AS_GOOD = ("mithril", "plate", "splint", "banded", "chain")
"""Words for body armour that mithril is not much better than."""


def digs(text: str) -> bool:
    """Whether an item of this description can dig."""
    return any(name in text for name in DIGGERS)


def digger(player: Player) -> Item | None:
    """Our digging tool."""
    tool = player.world.item(*DIGGERS)
    if tool is None or (player.welded and not tool.wielded):
        return None
    worn = shield(player)
    return None if worn and _stuck(player, worn) and _two_handed(tool) else tool


def shield(player: Player) -> Item | None:
    """The shield that we wear."""
    return _worn(player).get("shield")


def _worn(player: Player) -> dict[str, Item]:
    """What we wear, by where."""
    return {item.slot: item for item in player.world.items if item.worn}


def free_hands(player: Player, tool: Item) -> Skill:
    """Take the shield off, if the tool needs both hands."""
    worn = shield(player)
    if worn is None or not _two_handed(tool):
        return Told.HANDS_FREE
    return (yield from _take_off(player, worn))


def _take_off(player: Player, piece: Item) -> Skill:
    player.refusals[Refusal(Act.TAKE_OFF, piece.text)] += 1
    yield from player.ask(keys.TAKE_OFF, ("want to take off", piece.letter))
    return Told.TOOK_OFF


def _stuck(player: Player, piece: Item) -> bool:
    """Whether a piece of armour is known not to come off."""
    return (
        piece.curse == "cursed" or player.refusals[Refusal(Act.TAKE_OFF, piece.text)] > TUNING.take_off_tries
    )


def dig(player: Player, tool: Item, direction: str) -> Skill:
    """Dig in a direction, or continue digging, until it is done or interrupted."""
    yield from player.ask(
        keys.APPLY, ("want to use or apply", tool.letter), ("direction do you want to dig", direction)
    )
    return Told.DUG


def _two_handed(item: Item) -> bool:
    return any(name in item.name for name in TWO_HANDED)


_JUNK = (
    *DIGGERS,  # those that we do not dig with
    *("statue", "rock", "flint", "gray stone", "lance", "spellbook", "sling", "boulder", "chest", "box"),
    *("chain", "tin", "club", "aklys", "spear", "polearm", "guisarme", "partisan", "glaive", "halberd"),
    *("crossbow", "bow", "sword", "axe", "mace", "flail", "hammer", "morning star", "staff", "shield"),
    *("wakizashi", "yumi", "nunchaku", "lamp", " potion"),  # not "potion of", which is known
    *("unlabeled scroll", " labeled "),
)
"""Words for items to drop when carrying too much, in this order."""


def burden(player: Player) -> Item | None:
    """The item to drop if we carry too much to be quick, or to get through a narrow place."""
    if not player.body.load and not player.refusals[Refusal(Act.SQUEEZE)]:
        return None
    spare = loose(player, best_weapon(player), player.world.item(*DIGGERS))
    return next((item for word in _JUNK for item in spare if word in item.name), None)


def loose(player: Player, *kept: Item | None) -> list[Item]:
    """What is neither in use nor kept, nor was dropped in vain before."""
    return [
        item
        for item in player.world.items
        if not (item.worn or item.wielded or item in kept)
        and not player.refusals[Refusal(Act.DROP, item.text)]
    ]


def drop(player: Player, item: Item) -> Skill:
    """Drop an item."""
    yield from put_down(player, item)
    if player.refusals[Refusal(Act.SQUEEZE)]:
        player.refusals[Refusal(Act.SQUEEZE)] = 0
        player.level.forgive()
    return Told.DROPPED


def put_down(player: Player, item: Item, *replies: tuple[str, str]) -> Skill:
    """Put an item on the floor and answer the questions about it; what was dropped in vain is noted."""
    player.refusals[Refusal(Act.DROP, item.text)] += 1
    yield from player.ask(keys.DROP, ("want to drop", item.letter), *replies)
    return Told.DROPPED


def pick_up(player: Player, wish: Wish) -> Skill:
    """Pick up wanted items underfoot.

    Of several the game shows a list; a single one it would lift without asking, so we look first.
    """
    if not player.body.condition & w.BLIND:
        yield from look_here(player)
        alone = _ALONE.search(" ".join(player.heard))
        if alone and not wish(alone[1]):
            return Told.TOOK_NOTHING
    yield from player.begin()
    yield from player.press(keys.PICK_UP)
    if player.screen.menu:
        yield from _choose(player, wish)
    if player.screen.question:  # so heavy that the game asks whether to lift it
        yield from player.answer(("Continue", "y" if digs(player.screen.question) else "n"), ("", "n"))
    yield from player.close()
    return Told.TOOK if player.said(" - ") else Told.TOOK_NOTHING


def _choose(player: Player, wish: Wish) -> Skill:
    for _ in range(_PAGES):
        lines = player.screen.lines()
        for line in lines:
            entry = _ENTRY.search(line)
            if entry and wish(entry[2]):
                yield from player.press(ord(entry[1]))
        last = any("(end)" in line for line in lines) or not _more_pages(lines)
        yield from player.press(keys.ENTER if last else ord(">"))
        if last or not player.screen.menu:
            break
    return Told.CHOSEN


def _more_pages(lines: list[str]) -> bool:
    for line in lines:
        found = re.search(r"\((\d+) of (\d+)\)", line)
        if found:
            return found[1] != found[2]
    return False


def advance(player: Player) -> Skill:
    """Advance a skill that has been trained enough: blows hit more often, and harder. It takes no time."""
    player.trained = False
    yield from player.begin()
    yield from player.press(keys.ENHANCE)
    for _ in range(_PAGES):
        lines = player.screen.lines() if player.screen.menu else []
        entry = next(filter(None, map(_ENTRY.search, lines)), None)
        if entry:
            yield from player.press(ord(entry[1]))
        if entry or not _more_pages(lines):
            break
        yield from player.press(ord(">"))
    yield from player.close()
    return Told.ADVANCED if player.said("You are now") else Told.NOTHING_TO_ADVANCE


def to_wear(player: Player) -> Item | None:
    """A carried piece of armour that could be put on; what is worn beneath a cloak comes first."""
    for item in sorted(player.world.items, key=lambda item: item.slot == "cloak"):
        spoilt = item.curse == "cursed" or (item.enchantment or 0) < 0 or "unpaid" in item.use
        if item.worn or spoilt or player.refusals[Refusal(Act.WEAR, item.text)]:
            continue
        if could_wear(player, item.name):
            return item
    return None


def could_wear(player: Player, name: str) -> bool:
    """Whether armour of this name is harmless, and could be put on, or exchanged for what protects less."""
    slot = "" if player.changed else slot_of(name)
    if not slot or not any(good in name for good in GOOD_ARMOR):
        return False
    if player.role == "Monk" and slot in ("body", "shield"):
        return False
    if slot == "body":
        return _worth_changing(player, name)
    worn = _worn(player)
    if slot in worn or (slot == "shirt" and worn.keys() & {"body", "cloak"}):
        return False
    return slot != "shield" or not _both_hands(player)


def _both_hands(player: Player) -> bool:
    """Whether we wield, or dig with, something that leaves no hand for a shield."""
    tool = player.world.item(*DIGGERS)
    return any(_two_handed(item) for item in player.world.items if item.wielded or item is tool)


TWO_HANDED = ("two-handed", "battle-axe", "double-headed", "mattock", "broad pick", "quarterstaff", "tsurugi")


def _worth_changing(player: Player, name: str) -> bool:
    """Whether to put on body armour; mithril also beneath a cloak, and instead of something worse.

    It is light, and put on within a turn. Metal makes a Wizard's spells fail.
    """
    over = _over_body(player)
    if not over:
        return True
    stuck = any(_stuck(player, piece) for piece in over)
    better = "mithril" in name and not any(kind in item.name for kind in _AS_GOOD for item in over)
    return better and not stuck and player.role != "Wizard"


def _over_body(player: Player) -> list[Item]:
    """The cloak and the body armour that are worn, in the order of taking them off."""
    worn = _worn(player)
    return [worn[slot] for slot in ("cloak", "body") if slot in worn]


def wear(player: Player, item: Item) -> Skill:
    """Put on a piece of armour, for which a cloak and worse armour beneath it are taken off."""
    player.refusals[Refusal(Act.WEAR, item.text)] += 1
    for piece in _over_body(player) if item.slot == "body" else []:
        yield from _take_off(player, piece)
    yield from player.ask(keys.WEAR, ("want to wear", item.letter))
    if any(each.worn and each.letter == item.letter for each in player.world.items):
        player.refusals[Refusal(Act.WEAR, item.text)] = 0  # it may have to be taken off, and put on again
    return Told.WORE


def best_weapon(player: Player, risk: float = TUNING.weld) -> Item | None:
    """The carried weapon that hits hardest; `risk` is what one that may be cursed must do better.

    In our hand a cursed weapon keeps us from digging.
    """
    if player.role == "Monk" or player.changed:
        return None
    if player.welded:  # nothing else can be wielded
        return next((item for item in player.world.items if item.wielded), None)
    if player.role == "Ranger" and (bow := launcher(player)):
        return bow
    usable = [(_worth(item) - (risk if _doubtful(player, item) else 0), item) for item in _weapons(player)]
    usable = [(worth, item) for worth, item in usable if item.wielded or worth > TUNING.bare_hands]
    return max(usable, key=lambda each: each[0], default=(0.0, None))[1]


def better_weapon(player: Player, text: str) -> bool:
    """Whether a thing of this description is better than any weapon carried, though it may be cursed."""
    found, best = read_item("", text), best_weapon(player)
    if player.role in ("Monk", "Ranger") or player.changed or not _wieldable(player, found):
        return False
    return _worth(found) - TUNING.weld > (_worth(best) if best else TUNING.bare_hands)


def _weapons(player: Player) -> list[Item]:
    """Carried weapons that we could wield."""
    return [
        item
        for item in player.world.items
        if _wieldable(player, item) and player.refusals[Refusal(Act.WIELD, item.text)] <= 1
    ]


def _wieldable(player: Player, item: Item) -> bool:
    """Whether it is a weapon that is not known to be cursed, and we have the hands for it."""
    barred = item.slot or item.curse == "cursed" or (_two_handed(item) and shield(player))
    return bool(_worth(item)) and not barred


def _doubtful(player: Player, item: Item) -> bool:
    """Whether a weapon may be cursed: nobody has told, and we never had it in hand."""
    known = item.wielded or item.curse or item.enchantment is not None
    seen = player.role == "Priest"  # who sees curses, and is not told that something is uncursed
    return not (known or seen or player.refusals[Refusal(Act.WIELD, item.text)])


def unarmed(player: Player) -> bool:
    """Whether we fight with bare hands for want of a weapon."""
    return player.role != "Monk" and not player.changed and not _weapons(player)


def is_weapon(name: str) -> bool:
    """Whether something of this name is a weapon to wield."""
    return any(weapon in name for weapon in WEAPONS)


def _worth(item: Item) -> float:
    if item.number > 1:
        return 0.0
    base = next((amount for name, amount in WEAPONS.items() if name in item.name), 0.0)
    if not base:
        return 0.0
    return base + TUNING.enchanted * (item.enchantment or 0) + (TUNING.in_hand if item.wielded else 0.0)


def wield(player: Player, item: Item) -> Skill:
    """Wield a weapon."""
    player.refusals[Refusal(Act.WIELD, item.text)] += 1
    yield from player.ask(keys.WIELD, ("want to wield", item.letter))
    return Told.WIELDED
