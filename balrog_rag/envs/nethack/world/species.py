"""Common knowledge of NetHack's monsters: damage, whom not to touch, who respects Elbereth.

Levels, speeds and natures come from NetHack's own table. NLE does not expose its table of attacks, so the
average damage per round is listed here for the monsters of the first levels.
"""

import functools
from typing import Any, NamedTuple

_DAMAGE = """
giant ant 2.5; killer bee 4; soldier ant 12.5; fire ant 10; giant beetle 10.5; quivering blob 4.5
gelatinous cube 9; jackal 1.5; fox 2; coyote 2; little dog 3.5; dingo 3.5; dog 3.5; large dog 5; wolf 5
warg 7; winter wolf cub 4.5; hell hound pup 10; gas spore 14; flaming sphere 14; freezing sphere 14
shocking sphere 14; kitten 3.5; housecat 3.5; jaguar 9.5; lynx 10.5; panther 12.5; large cat 5
tiger 15.5; hobbit 4; dwarf 9; bugbear 6; dwarf lord 11; dwarf king 14; mind flayer 30; homunculus 4
manes 6.5; imp 2.5; quasit 6; tengu 4; ochre jelly 10; kobold 3; large kobold 4; kobold lord 4
kobold shaman 3; leprechaun 1.5; small mimic 7.5; large mimic 9; giant mimic 21; goblin 3.5; hill orc 5
Mordor orc 5; Uruk-hai 6.5; orc shaman 4; orc-captain 11; rock piercer 7; iron piercer 10.5; rothe 8.5
sewer rat 2; giant rat 2; rock mole 3.5; woodchuck 3.5; cave spider 1; centipede 4; giant spider 15
pony 5; horse 8; fog cloud 3.5; dust vortex 5; grid bug 1; xan 4; yellow light 8; bat 1.5; giant bat 2
vampire bat 3; raven 6; plains centaur 6; forest centaur 9; gnome lord 5; gnome 3.5; gnomish wizard 4
gnome king 8; newt 2; gecko 2; iguana 2.5; baby crocodile 2.5; crocodile 11; garter snake 1.5; snake 6
water moccasin 6; pit viper 7; python 9; cobra 8; soldier 8; sergeant 11; kobold zombie 2.5
gnome zombie 3.5; orc zombie 3.5; dwarf zombie 4.5; elf zombie 4; human zombie 4.5; ettin zombie 11
giant zombie 18; kobold mummy 2.5; gnome mummy 3.5; orc mummy 3.5; dwarf mummy 3.5; elf mummy 5
human mummy 10; ghoul 8; wererat 5; werejackal 5; werewolf 9; Woodland-elf 13; Green-elf 14; Grey-elf 15
elf-lord 18; straw golem 3; paper golem 2; rope golem 11; gold golem 8; leather golem 7; ape 6
owlbear 16; carnivorous ape 10; white unicorn 10; gray unicorn 10; black unicorn 10; lichen 1
violet fungus 7; leocrotta 21; wumpus 10.5; quantum mechanic 3; water nymph 2; wood nymph 2
mountain nymph 2; shrieker 0; acid blob 1; floating eye 0; blue jelly 0; brown mold 0; green mold 0
yellow mold 3; red mold 0; spotted jelly 0; giant eel 15; electric eel 15; jellyfish 8; piranha 6
shark 18; cockatrice 8; chickatrice 6; minotaur 40; long worm 6; baby long worm 4; baby purple worm 4
barrow wight 6; wraith 8; stalker 12; human 8; elf 10; hill giant 12; stone giant 14; lieutenant 14
captain 25; couatl 14
"""

_DEADLY_TOUCH = frozenset(
    ("floating eye", "blue jelly", "brown mold", "green mold", "gas spore", "spotted jelly", "green slime")
)
_PETRIFYING = frozenset(("cockatrice", "chickatrice"))
_EXPLODING = "gas spore"
_TAIL, _TAILS_LEVEL = "long worm tail", 8
"""The table gives the tail level 0, but hitting it means fighting the worm."""
_SESSILE_SPEED = 1

_HUMAN_CLASS, _MINOTAUR = 53, "minotaur"
_MINION = 0x00001000
_RIDERS = ("Death", "Pestilence", "Famine")
_BAD_TO_EAT = (
    *(
        "cockatrice",
        "chickatrice",
        "were",
        "zombie",
        "mummy",
        "dog",
        "kitten",
        "cat",
        "bat",
        "mimic",
        "Medusa",
    ),
    *("green slime", "stalker", "leprechaun", "nymph", "elf", "human", "nurse", "quantum", "lizard", "golem"),
    *("vampire", "ghoul", "wraith", "doppelganger", "chameleon", "gremlin"),
    "violet fungus",  # hallucination for 200 turns: eat.c, cpostfx()
)
_COMPANIONS = ("little dog", "dog", "large dog", "kitten", "housecat", "large cat")
_POISONOUS, _ACIDIC = 0x10000000, 0x08000000


def _edible(entry: Any) -> bool:
    bad = any(word in entry.mname for word in _BAD_TO_EAT) or ord(entry.mlet) == _HUMAN_CLASS
    return not bad and entry.cnutrit > 0


_HOSTILE, _PEACEFUL = 0x00100000, 0x00200000


def _fears_elbereth(entry: Any) -> bool:
    """Whether Elbereth scares it, by NetHack 3.6.7's onscary() in monmove.c.

    It scares no human or elf (they share a class) and no minotaur. Lawful minions (couatl, Aleax, ki-rin,
    Archon), Angels and the Riders resist all scaring. Every kind with the flag of minions is lawful, an
    Angel or human.
    """
    resists = entry.mflags2 & _MINION or entry.mname in _RIDERS
    return not resists and ord(entry.mlet) != _HUMAN_CLASS and entry.mname != _MINOTAUR


_LAWFUL = frozenset(
    (
        *(
            "hobbit",
            "dwarf",
            "dwarf lord",
            "dwarf king",
            "tengu",
            "white unicorn",
            "couatl",
            "Aleax",
            "Angel",
        ),
        *(
            "ki-rin",
            "Archon",
            "gray dragon",
            "silver dragon",
            "orange dragon",
            "green dragon",
            "yellow dragon",
        ),
        *("giant", "stone giant", "fire giant", "titan", "Keystone Kop", "Kop Sergeant", "Kop Lieutenant"),
        *("Kop Kaptain", "black naga", "golden naga", "guardian naga", "sasquatch", "guard", "horned devil"),
        *("erinys", "barbed devil", "archeologist", "caveman", "cavewoman", "knight", "samurai"),
    )
)
_CHAOTIC = frozenset(
    (
        *("werejackal", "werewolf", "wererat", "winter wolf cub", "warg", "hell hound pup", "beholder"),
        *("gremlin", "gargoyle", "winged gargoyle", "bugbear", "mind flayer", "master mind flayer", "manes"),
        *("homunculus", "imp", "lemure", "quasit", "kobold", "large kobold", "kobold lord", "kobold shaman"),
        *("goblin", "hobgoblin", "orc", "hill orc", "Mordor orc", "Uruk-hai", "orc shaman", "orc-captain"),
        *("mumak", "black unicorn", "forest centaur", "mountain centaur", "hill giant", "frost giant"),
        *("storm giant", "red naga", "ogre", "ogre lord", "ogre king", "disenchanter", "Woodland-elf"),
        *("Green-elf", "Grey-elf", "elf-lord", "Elvenking", "soldier", "sergeant", "lieutenant", "captain"),
        *("watchman", "watch captain", "kraken", "salamander", "ghoul", "barrow wight", "wraith"),
    )
)
"""Alignments of NetHack 3.6.7's monst.c, which NLE does not expose; all others count as neutral."""
_PEOPLES = {"human": 0x8, "elven": 0x10, "dwarven": 0x20, "gnomish": 0x40, "orcish": 0x80}
_LOVED = {"elven": 0x10, "dwarven": 0x60, "gnomish": 0x60}
_HATED = {"human": 0xC0, "elven": 0x80, "dwarven": 0x80, "gnomish": 0x8, "orcish": 0x38}
"""Peoples that a race gets on with, and that it hates: flags of NetHack 3.6.7's role.c."""
_SIGNS = {"lawful": 1, "neutral": 0, "chaotic": -1}


class Species(NamedTuple):
    """One kind of monster."""

    number: int
    name: str
    level: int
    speed: int
    armor: int
    damage: float
    """Average damage of a round in which every attack hits."""
    never_touch: bool
    """Whether hitting it, or standing near when it dies, can be fatal."""
    petrifies: bool
    """Whether touching it without a weapon is fatal."""
    paralyses: bool
    """Whether the only harm of hitting it is paralysis."""
    explodes: bool
    """Whether it explodes beside us, and when it is killed."""
    fears_elbereth: bool
    always_hostile: bool
    always_peaceful: bool
    shopkeeper: bool
    watchman: bool
    vault_guard: bool
    companion: bool
    """Whether it is a dog or cat that people keep: eating one aggravates monsters."""
    edible: bool
    """Whether a fresh corpse of it is safe to eat for all but its own kind."""
    upsetting: bool
    """Whether a fresh corpse of it costs up to 15 hit points, and poison some strength."""
    stays: bool
    """Whether it never, or hardly ever, leaves its square."""
    sign: int = 0
    """1 lawful, 0 neutral, -1 chaotic."""
    peoples: int = 0
    """The peoples it belongs to, as flags."""

    def peaceful_to(self, race: str, alignment: str) -> bool | None:
        """Whether it is peaceful to such a hero (peace_minded() of NetHack 3.6.7); None: by chance."""
        if self.always_peaceful:
            return True
        if self.always_hostile:
            return None if race == "orcish" and self.peoples & _PEOPLES["orcish"] else False
        if self.peoples & _LOVED.get(race, 0):
            return True
        if self.peoples & _HATED.get(race, 0) or alignment not in _SIGNS:
            return None if alignment not in _SIGNS else False
        return None if self.sign == _SIGNS[alignment] else False


@functools.cache
def all_species() -> tuple[Species, ...]:
    """Return every kind of monster, by number."""
    from nle import nethack as nh

    damage = _damage()
    return tuple(_species(nh.permonst(number), number, damage) for number in range(nh.NUMMONS))


def _damage() -> dict[str, float]:
    entries = [entry.rpartition(" ") for line in _DAMAGE.split("\n") for entry in line.split(";") if entry]
    return {name.strip(): float(amount) for name, _, amount in entries}


def _species(entry: Any, number: int, damage: dict[str, float]) -> Species:
    name, level = entry.mname, _TAILS_LEVEL if entry.mname == _TAIL else entry.mlevel
    edible, upsetting = _edible(entry), bool(entry.mflags1 & (_POISONOUS | _ACIDIC))
    return Species(
        number=number,
        name=name,
        level=level,
        speed=entry.mmove,
        armor=entry.ac,
        damage=damage.get(name, 1 + 1.2 * level),
        never_touch=name in _DEADLY_TOUCH,
        petrifies=name in _PETRIFYING,
        paralyses=name == "floating eye",
        explodes=name == _EXPLODING,
        fears_elbereth=_fears_elbereth(entry),
        always_hostile=bool(entry.mflags2 & _HOSTILE),
        always_peaceful=bool(entry.mflags2 & _PEACEFUL),
        shopkeeper=name == "shopkeeper",
        watchman=name in ("watchman", "watch captain"),
        vault_guard=name == "guard",
        companion=name in _COMPANIONS,
        edible=edible and not upsetting,
        upsetting=edible and upsetting,
        stays=entry.mmove <= _SESSILE_SPEED,
        sign=(name in _LAWFUL) - (name in _CHAOTIC),
        peoples=entry.mflags2 & sum(_PEOPLES.values()),
    )
