"""Staying alive: prayer, Elbereth, food, potions, rest."""

import re

from balrog_rag.bots.nethack.skills.exploring import search
from balrog_rag.bots.nethack.skills.looking import engraving, look_here
from balrog_rag.bots.nethack.skills.moving import Alarm
from balrog_rag.bots.nethack.skills.told import Told
from balrog_rag.bots.nethack.skills.tuning import TUNING
from balrog_rag.envs.nethack.world import keys
from balrog_rag.envs.nethack.world import known_world as w
from balrog_rag.envs.nethack.world.items import Item
from balrog_rag.envs.nethack.world.player import Player, Skill
from balrog_rag.envs.nethack.world.refusals import Act, Refusal

ELBERETH = "Elbereth"
_WRITING = """
pick-axe, potion,tinning kit, touchstone, flint,sack, bag, lamp, bullwhip, club, mace, aklys, quarterstaff,
sling,bow, crossbow, war hammer, flail, stethoscope, lock pick, key, credit card, figurine,candle,tin opener,
can of grease, drum, flute, horn, whistle, gray stone,rock,amulet, arrow,crossbow bolt,boots, shoes, dart,
shuriken,spear,javelin,ya, trident, boomerang,worm tooth, grapnel, lance, halberd, glaive, partisan, staff,
saddle, chest,expensive camera
"""
_STYLUSES = tuple(f" {word.strip()}" for word in _WRITING.split(","))
"""What writes in the dust, by words of its name, the likeliest to stay with us first."""

RATIONS = (
    *(
        "food ration",
        "cram ration",
        "lembas wafer",
        "K-ration",
        "C-ration",
        "pancake",
        "cream pie",
        "fortune",
    ),
    *(
        "candy bar",
        "lump of royal jelly",
        "apple",
        "orange",
        "pear",
        "melon",
        "banana",
        "carrot",
        "slime mold",
    ),
    *(
        "kelp frond",
        "eucalyptus leaf",
        "gunyoki",
        "egg",
        "clove of garlic",
        "sprig of wolfsbane",
        "meat",
        "tripe",
    ),
    *("tin of spinach", "tins of spinach", "tin of lichen", "tins of lichen"),
    *("lumps of royal jelly", "eucalyptus leaves", "cloves of garlic", "sprigs of wolfsbane"),
)
"""Food that is safe to eat as it is, the best first; plurals that do not begin with the singular as well."""
_RATION = re.compile(rf"(?:^| )(?:{'|'.join(map(re.escape, RATIONS))})")
_NO_FOOD = (
    *("corpse", "potion", "spellbook", "orange dragon", "gem"),
    *("trice", "green slime", "Medusa", "bat", "were"),
    *("human", "elf", "dwarf", "gnom", "dog", "cat", "kitten"),
)
"""Words in the names of other things, and of tins that harm or may be of our own kind."""
INTERRUPTED = "You stop eating"
"""Said when a meal is left unfinished; eating again continues it."""
_HEALING = ("full healing", "extra healing", "healing")


def in_mortal_need(player: Player) -> bool:
    """Whether HP is low enough for prayer to count it as major trouble, and losing the rest ends the game."""
    body = player.body
    if player.changed:  # who dies in another form lives on in the old one
        return False
    share = next(share for level, share in TUNING.low_shares if body.level >= level)
    return body.hp <= TUNING.low_hp or body.hp * share <= min(body.max_hp, TUNING.low_hp_a_level * body.level)


def may_pray(player: Player, desperate: bool = False) -> bool:
    """Whether a prayer in great need is likely to be heard, or at least may be if nothing else is left."""
    if player.unlucky or player.body.turn < player.luckless:
        return False
    if player.prayed is None:
        return player.body.turn >= TUNING.first_prayer
    return player.body.turn - player.prayed >= (TUNING.last_resort if desperate else TUNING.next_prayer)


def pray(player: Player) -> Skill:
    """Pray."""
    player.prayed = player.body.turn
    player.cursed_hands = player.welded = False
    yield from player.ask(keys.PRAY, ("Are you sure you want to pray", "y"))
    if player.said("is displeased", "Thou hast angered", "Thou must relearn", "Thou durst", "arrogant"):
        player.unlucky = True
        return Told.NOT_HEARD
    return Told.PRAYED


def stylus(player: Player) -> str:
    """The letter of what writes in the dust as well as a finger; empty if there is nothing of that kind.

    NetHack 3.6.7, doengrave(): blades scratch slowly and get dull; coins, food and scrolls are refused; hard
    gems and some rings engrave; potions, amulets, most tools, other weapons and boots write in the dust.
    """
    if player.bare_hands:
        return "-"
    for word in _STYLUSES:
        for item in player.world.items:
            refused = player.refusals[Refusal(Act.WRITE_WITH, (item.letter, item.name))]
            if not refused and word in f" {item.name} " and not (item.worn and item.slot != "boots"):
                return item.letter
    return ""


def writes(name: str) -> bool:
    """Whether something of this name writes in the dust, and is light enough to be carried for it."""
    return any(word in f" {name} " for word in _STYLUSES) and "rock" not in name and "chest" not in name


def engrave(player: Player, text: str = ELBERETH) -> Skill:
    """Write in the dust underfoot."""
    pen = stylus(player)
    if not pen:
        return Told.COULD_NOT_WRITE
    done = yield from player.ask(
        keys.ENGRAVE,
        ("want to write with", pen),
        ("want to add to the current engraving", "n"),
        ("want to write in the dust", text),
        ("want to engrave", text),
        ("want to write", text),
    )
    if player.said("reach the bottom"):
        return Told.COULD_NOT_WRITE
    if not done and pen != "-":
        held = player.world.carried(pen)
        player.refusals[Refusal(Act.WRITE_WITH, (pen, held.name if held else ""))] += 1
    return Told.WROTE if done else Told.COULD_NOT_WRITE


def steady(player: Player) -> bool:
    """Whether Elbereth may come out whole.

    NetHack 3.6.7, engrave.c:1055: hallucination spoils every second letter, confusion every seventh.
    """
    return not player.body.condition & (w.HALLUCINATING | w.CONFUSED)


def guarded(player: Player) -> Skill:
    """Check whether Elbereth is underfoot: returns `guarded` or `bare`."""
    yield from look_here(player)
    return Told.GUARDED if ELBERETH.lower() in engraving(player).lower() else Told.BARE


def rations(player: Player, lichens: bool = False) -> list[Item]:
    """Carried food that is safe to eat, the best first; corpses of lichens never rot."""
    found = []
    for name in RATIONS:
        found += [item for item in player.world.items if _is_food(item.name, name)]
    return found + [item for item in player.world.items if lichens and "lichen corpse" in item.name]


def is_ration(text: str) -> bool:
    """Whether an item of this description is food that is safe to eat as it is."""
    return _RATION.search(text) is not None and not any(word in text for word in _NO_FOOD)


def _is_food(text: str, name: str) -> bool:
    return f" {name}" in f" {text}" and not any(word in text for word in _NO_FOOD)


def eat(player: Player, lichens: bool = False) -> Skill:
    """Eat a carried item."""
    for item in rations(player, lichens):
        if player.refusals[Refusal(Act.EAT, item.text)] > TUNING.eat_tries:
            continue
        return (yield from eat_item(player, item))
    return Told.NOTHING_TO_EAT


def eat_item(player: Player, item: Item) -> Skill:
    """Eat this carried item."""
    player.refusals[Refusal(Act.EAT, item.text)] += 1
    yield from player.ask(
        keys.EAT,
        ("Eat it?", "y"),  # asked of an open tin
        ("eat it", "n"),
        ("eat one", "n"),
        ("want to eat", item.letter),
        ("Continue eating", "y"),
    )
    return Told.ATE


def eat_corpse(player: Player, name: str) -> Skill:
    """Eat a corpse of this monster underfoot, or what an interrupted meal left of it."""
    yield from player.ask(
        keys.EAT, (f" {name} corpse", "y"), ("here; eat", "n"), ("want to eat", chr(keys.ESC))
    )
    return Told.STOPPED_EATING if player.said(INTERRUPTED) else Told.ATE


def healing(player: Player) -> Item | None:
    """A potion known to heal, the best first."""
    return player.world.item(*(f"potion of {name}" for name in _HEALING)) or player.world.item(
        *(f"potions of {name}" for name in _HEALING)
    )


def quaff(player: Player, item: Item) -> Skill:
    """Drink a potion."""
    yield from player.ask(keys.QUAFF, ("Drink from the", "n"), ("want to drink", item.letter))
    return Told.DRANK


def rest(player: Player, alarm: Alarm) -> Skill:
    """Rest for a while."""
    before = player.body.hp
    while not alarm():
        yield from search(player, TUNING.rest_turns)
        if player.body.hp < before or player.body.hp >= player.body.max_hp:
            return Told.RESTED
        before = player.body.hp
        if player.body.hunger >= w.WEAK:
            return Told.HUNGRY
    return Told.DISTURBED
