"""One page per object, unidentified appearance and price group, from NetHack's table."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache

from balrog_rag.envs.nethack import library_tables as tables
from balrog_rag.envs.nethack.library_tables import ObjectEntry
from balrog_rag.knowledge.corpus.embedded.vocabulary import (
    ARMOR_PLACES,
    DIRECTIONS,
    PROPERTIES,
    SCHOOLS,
    SKILLS,
    article,
    listed,
)
from balrog_rag.knowledge.corpus.embedded.weapons import damage
from balrog_rag.knowledge.passages import Page

WEAPON, ARMOR, RING, AMULET, TOOL, FOOD, POTION, SCROLL, BOOK, WAND, COIN, GEM = range(2, 14)
_FORMS = {
    RING: "ring of {}",
    AMULET: "{}",
    POTION: "potion of {}",
    SCROLL: "scroll of {}",
    BOOK: "spellbook of {}",
    WAND: "wand of {}",
}
_LOOKS = {
    RING: "{} ring",
    AMULET: "{} amulet",
    POTION: "{} potion",
    SCROLL: "scroll labeled {}",
    BOOK: "{} spellbook",
    WAND: "{} wand",
}
_KINDS = {
    WEAPON: "weapon",
    ARMOR: "piece of armor",
    RING: "ring",
    AMULET: "amulet",
    TOOL: "tool",
    FOOD: "piece of food",
    POTION: "potion",
    SCROLL: "scroll",
    BOOK: "spellbook",
    WAND: "wand",
    GEM: "gem or stone",
}
_UNIQUE, _CHARGED, _TWO_HANDED = 6, 5, 8
_NEVER_SHUFFLED = (
    "water",
    "blank paper",
    "mail",
    "novel",
    "Amulet of Yendor",
    "Book of the Dead",
    "cheap plastic imitation of the Amulet of Yendor",
)
_SHUFFLED_RUNS = (
    ("helmet", "helm of telepathy"),
    ("leather gloves", "gauntlets of dexterity"),
    ("cloak of protection", "cloak of displacement"),
    ("speed boots", "levitation boots"),
)
_LARGEST_LAUNCHER = 23
_AMULET = "Amulet of Yendor"
"""The appearance of the real one and of the imitation, which no other amulet has."""
_UNKNOWN = "mysterious"
"""The material for objects whose material is missing from the table."""
_A_PAGE = 14


def pages(notes: Mapping[str, str]) -> Iterator[Page]:
    """Return a page per object, then appearances, then prices; `notes` are effects by object name."""
    for thing in tables.objects():
        if thing.name and thing.data.class_ in _KINDS:
            name = full_name(thing)
            text = "\n".join(part for part in (describe(thing), notes.get(name, "")) if part)
            yield Page(title=name, text=text, path=f"object/{name}")
    yield from _appearances()
    yield from _prices()


def full_name(thing: ObjectEntry) -> str:
    """The name with its class, as the game writes it."""
    if thing.name == "Book of the Dead":
        return thing.name
    return _FORMS.get(thing.data.class_, "{}").format(thing.name)


def describe(thing: ObjectEntry) -> str:
    """Describe an object from its table entry."""
    kind = thing.data.class_
    special = {WEAPON: _weapon, ARMOR: _armor, FOOD: _food, BOOK: _book, WAND: _wand, TOOL: _tool}
    parts = [
        _plain(thing),
        special[kind](thing) if kind in special else "",
        _gives(thing),
        _looks_like(thing),
    ]
    return "\n".join(part for part in parts if part)


def _plain(thing: ObjectEntry) -> str:
    data = thing.data
    material = tables.materials()[data.bit(12, 5)]
    material = {"wooden": "wood", "organic": "organic matter"}.get(material, material)
    made = "" if material == _UNKNOWN else f"is made of {material}, "
    symbol = tables.object_classes()[data.class_][0]
    return (
        f"{full_name(thing)}: {article(_KINDS[data.class_])}, shown as {symbol}. It {made}"
        f"weighs {data.weight} and has a base price of {data.cost} zorkmids."
    )


def _weapon(thing: ObjectEntry) -> str:
    data = thing.data
    bonus = f", with {data.one:+d} to hit" if data.one else ""
    hands = "It needs two hands." if data.bit(_TWO_HANDED) else ""
    return f"It does {damage(thing)}{bonus}. {_skill(data.skill)} {hands}".strip()


def _skill(skill: int) -> str:
    if skill < 0:
        launcher = {21: "a bow", 22: "a sling", 23: "a crossbow"}.get(-skill)
        if launcher:
            return f"It is ammunition to be fired with {launcher} that is wielded."
        return f"It is meant to be thrown; it uses the {SKILLS[-skill]} skill."
    if 21 <= skill <= _LARGEST_LAUNCHER:
        return f"It is a launcher: wield it and fire its ammunition; it uses the {SKILLS[skill]} skill."
    return f"It uses the {SKILLS[skill]} skill." if skill in SKILLS else ""


def _armor(thing: ObjectEntry) -> str:
    data = thing.data
    place = ARMOR_PLACES[data.skill]
    lowers = f"lowers armor class by {data.one}" if data.one else "does not lower armor class"
    cancels = f" and gives magic cancellation {data.two}" if data.two else ""
    turns = f" It takes {data.delay} turns to put on." if data.delay > 1 else ""
    return f"It is worn as {place} and {lowers}{cancels}.{turns}"


def _food(thing: ObjectEntry) -> str:
    turns = f" and takes {thing.data.delay} turns to eat" if thing.data.delay > 1 else ""
    return f"It gives {thing.data.nutrition} nutrition{turns}." if thing.data.nutrition else ""


def _book(thing: ObjectEntry) -> str:
    school = SCHOOLS.get(thing.data.skill)
    if not school:
        return ""
    level = thing.data.two
    aim = DIRECTIONS.get(thing.data.bit(10, 2), "")
    return (
        f"It teaches the level {level} {school} spell {thing.name}. Casting it costs {5 * level} energy. "
        f"{aim}".strip()
    )


def _wand(thing: ObjectEntry) -> str:
    return DIRECTIONS.get(thing.data.bit(10, 2), "")


def _tool(thing: ObjectEntry) -> str:
    data = thing.data
    said = []
    if data.skill in SKILLS and data.small_damage:
        said.append(f"As a weapon it does {damage(thing)} and uses the {SKILLS[data.skill]} skill.")
    if data.bit(_CHARGED):
        said.append(
            "Its number, as in +1, is an enchantment; it never runs out of charges."
            if data.skill
            else "It has charges that are used up."
        )
    return " ".join(said)


def _gives(thing: ObjectEntry) -> str:
    gift = PROPERTIES.get(thing.data.property)
    if not gift or thing.data.class_ == GEM:
        return ""
    how = {ARMOR: "Worn", RING: "Put on a finger", AMULET: "Worn"}.get(thing.data.class_, "Used")
    return f"{how}, it gives {gift}."


def _looks_like(thing: ObjectEntry) -> str:
    data = thing.data
    if not thing.appearance or data.bit(0):
        return ""
    if is_shuffled(thing):
        return f"What it looks like before it is identified differs from game to game: {_shuffled_as(thing)}"
    look = _look(thing)
    several = look.endswith("s") and not look.endswith("ss")  # a pair of boots
    return f"Until it is identified it is called {look if several else article(look)}."


def _shuffled_as(thing: ObjectEntry) -> str:
    kind = _KINDS[thing.data.class_] if thing.data.class_ != ARMOR else ARMOR_PLACES[thing.data.skill]
    return f"one of the appearances of its kind ({kind})."


def _look(thing: ObjectEntry) -> str:
    if thing.data.class_ == GEM:
        stone = tables.materials()[thing.data.bit(12, 5)] == "stone"
        return f"{thing.appearance} {'stone' if stone else 'gem'}"
    if thing.appearance == _AMULET:
        return thing.appearance
    return _LOOKS.get(thing.data.class_, "{}").format(thing.appearance)


def is_shuffled(thing: ObjectEntry) -> bool:
    """Whether a game assigns this appearance at random, as NetHack 3.6's o_init.c does."""
    if thing.data.class_ in _LOOKS:
        return thing.name not in _NEVER_SHUFFLED
    return thing.data.class_ == ARMOR and thing.name in _shuffled_armor()


@cache
def _shuffled_armor() -> frozenset[str]:
    """Four ranges of the table: helmets, gloves, cloaks, boots."""
    names = [thing.name for thing in tables.objects()]
    return frozenset(
        name for first, last in _SHUFFLED_RUNS for name in names[names.index(first) : names.index(last) + 1]
    )


def _appearances() -> Iterator[Page]:
    """A few pages per kind that list all its appearances; one page for each would crowd out every search."""
    for kind in _LOOKS:
        shuffled = [thing for thing in tables.objects() if thing.data.class_ == kind and thing.appearance]
        shuffled = [thing for thing in shuffled if not thing.name or is_shuffled(thing)]
        what = _KINDS[kind]
        looks = sorted({_look(thing) for thing in shuffled})
        for part in range(0, len(looks), _A_PAGE):
            text = _unknown(kind, looks[part : part + _A_PAGE])
            yield Page(title=f"unidentified {what}s", text=text, path=f"appearance/{what}")
        named = sorted(full_name(thing) for thing in shuffled if thing.name)
        text = f"{article(what).capitalize()} whose appearance is unknown can be: {', '.join(named)}."
        yield Page(title=f"what an unidentified {what} can be", text=text, path=f"appearance/{what}-kinds")
    yield from _armor_appearances()


_HOW = {
    RING: "Putting it on may show what it is, but it may be cursed; its price in a shop narrows it down.",
    AMULET: "Putting it on may be deadly (strangulation) if it is not known.",
    POTION: "Drinking it, dipping into it or its price in a shop can show what it is.",
    SCROLL: "Reading it can show what it is; its price in a shop narrows it down.",
    BOOK: "Its price in a shop tells the level of its spell; reading a difficult book can fail badly.",
    WAND: "Engraving with it (E, then its letter) often shows what it is, and so may its price in a shop.",
}


def _unknown(kind: int, looks: list[str]) -> str:
    what = _KINDS[kind]
    return (
        f"{article(what).capitalize()} that is not identified is called by its appearance, which means "
        f"another {what} in every game and says nothing by itself. {_HOW[kind]} Appearances: "
        f"{', '.join(looks)}."
    )


def _armor_appearances() -> Iterator[Page]:
    groups: dict[int, list[ObjectEntry]] = defaultdict(list)
    for thing in tables.objects():
        if thing.data.class_ == ARMOR and thing.name and thing.appearance and is_shuffled(thing):
            groups[thing.data.skill].append(thing)
    for place, things in sorted(groups.items()):
        kind = ARMOR_PLACES[place].removeprefix("a ").removeprefix("pair of ")
        looks = sorted(thing.appearance for thing in things)
        names = sorted(thing.name for thing in things)
        yield Page(
            title=f"unidentified {kind}: appearances",
            text=(
                f"These appearances are dealt out anew in every game: {', '.join(looks)}. "
                f"Each is one of: {', '.join(names)}. Wearing a piece shows most of them, but it may be "
                "cursed."
            ),
            path=f"appearance/{kind}",
        )


def _prices() -> Iterator[Page]:
    """Objects of one kind by base price: a shop's price identifies them."""
    groups: dict[tuple[int, int], list[str]] = defaultdict(list)
    for thing in tables.objects():
        data = thing.data
        if data.class_ in (RING, POTION, SCROLL, BOOK, WAND) and thing.name and not data.bit(_UNIQUE):
            groups[data.class_, data.cost].append(full_name(thing))
    for (kind, cost), names in sorted(groups.items()):
        what = _KINDS[kind]
        yield Page(
            title=f"price identification: {what}s of base price {cost}",
            text=(
                f"{article(what).capitalize()} with a base price of {cost} zorkmids is "
                f"{listed(names, 'or')}. Shops ask the base price or a third more, and still more of a low "
                "charisma or a dunce cap; they offer half of it, or a third."
            ),
            path=f"price/{what}-{cost}",
        )
