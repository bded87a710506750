"""The name of each of NetHack's glyphs in a language observation.

The wording is fixed by published results: prompts written from these words have been played and scored, so
the odd ones ("alter", "area of ice", "leather gloveses") are kept as they are. Monsters and objects are
named by NetHack's own tables; an object with an appearance is named by its unshuffled appearance, as the
observation has always done.
"""

import functools
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

# Every value that 16 bits can hold has an entry, so no glyph, legal or not, can miss the tables.
GLYPH_VALUES = 1 << 16

# The map's symbols in NetHack's order, from bare stone to the last corner of a swallower's inside.
_SYMBOL_LIST = (
    "dark area,vertical wall,horizontal wall,northwest room corner,northeast room corner,southwest corner,"
    "southeast corner,cross wall,t up wall,t down wall,t west wall,t east wall,doorway,vertical open door,"
    "horizontal open door,vertical closed door,horizontal closed door,bars,tree,room floor,dark room floor,"
    "corridor floor,lit corridor floor,stairs up,stairs down,ladder up,ladder down,alter,grave,throne,sink,"
    "fountain,pool,ice,lava,vertical lowered drawbridge,horizontal lowered drawbridge,"
    "vertical raised drawbridge,horizontal raised drawbridge,air floor,cloud floor,water floor,arrow trap,"
    "dart trap,falling rock trap,squeaky board,bear trap,land mine,rolling boulder trap,sleeping gas trap,"
    "rust trap,fire trap,pit,spiked pit,hole,trap door,teleportation trap,level teleporter,magic portal,web,"
    "statue trap,magic trap,anti magic trap,polymorph trap,vibrating square,vertical beam,horizontal beam,"
    "left slant beam,right slant beam,dig beam,flash beam,boom left,boom right,shield 1,shield 2,shield 3,"
    "shield 4,poison cloud,valid position,swallow top left,swallow top center,swallow top right,"
    "swallow middle left,swallow middle right,swallow bottom left,swallow bottom center,swallow bottom right"
)
_SYMBOLS = _SYMBOL_LIST.split(",")
_OPAQUE = frozenset(_SYMBOLS[:12])
_LANDMARKS = frozenset((*_SYMBOLS[15:19], *_SYMBOLS[23:35], *_SYMBOLS[37:39]))
_FLOORS = frozenset(_SYMBOLS[19:23])

_ROWS, _COLUMNS = ("top", "middle", "bottom"), ("left", "center", "right")
_NINE_CELLS = [f"{row} {column}" for row in _ROWS for column in _COLUMNS]
_EXPLOSIONS = [f"explosion {cell}" for cell in _NINE_CELLS]
_SWALLOWS = [f"swallow {cell}" for cell in _NINE_CELLS if cell != "middle center"]
_ZAPS = [f"{slant} zap beam" for slant in ("horizontal", "vertical", "left slant", "right slant")]
_WORRIES = ("worry", "concern", "anxiety", "disquiet", "alarm", "dread")

# Nouns that are plural already.
_UNCHANGED = ("boots", "shoes", "scales", "lenses", "bars")
_IRREGULAR = {
    "can of grease": "cans of grease",
    "Master of Thieves": "Masters of Thieves",
    "ice": "area of ice",
    "lava": "area of lava",
}
# Phrases whose first words take the ending: the words, up to where it goes.
_HEADS = ("boom", "shield", "swallow", "scroll", "worthless piece", "unknown creature")
# "ch" is missing from the hissing endings: "lichs" is how it has always been written.
_HISSES = ("s", "x", "z", "sh")


class GlyphNames(NamedTuple):
    """Every noun once, and the noun of each glyph; noun 0 is "no name"."""

    nouns: tuple[str, ...]
    plurals: tuple[str, ...]
    noticed: NDArray[np.int32]
    """By glyph: its noun if it is named anywhere on the map."""
    in_sight: NDArray[np.int32]
    """By glyph: its noun if it is named only on the straight lines from the player."""
    opaque: frozenset[int]
    """The nouns that end such a line."""


def plural(noun: str) -> str:
    """The noun for several of a kind in one direction."""
    if noun.endswith(_UNCHANGED):
        return noun
    if noun in _IRREGULAR:
        return _IRREGULAR[noun]
    for head in _HEADS:
        if noun.startswith(f"{head} "):
            return f"{head}s{noun[len(head) :]}"
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return f"{noun[:-1]}ies"
    if noun.endswith("f"):
        return f"{noun.removesuffix('f').removesuffix('f')}ves"
    return f"{noun}es" if noun.endswith(_HISSES) else f"{noun}s"


@functools.cache
def glyph_names() -> GlyphNames:
    """Build the tables at the first call."""
    ids = {"": 0}
    noticed = np.zeros(GLYPH_VALUES, np.int32)
    in_sight = np.zeros(GLYPH_VALUES, np.int32)
    for first, noun in _placed_nouns():
        noticed[first] = ids.setdefault(noun, len(ids))
    for glyph, symbol in enumerate(_SYMBOLS, _nethack().GLYPH_CMAP_OFF):
        if symbol not in _LANDMARKS and symbol not in _FLOORS:
            in_sight[glyph] = ids.setdefault(symbol, len(ids))
    return GlyphNames(
        nouns=tuple(ids),
        plurals=tuple(map(plural, ids)),
        noticed=noticed,
        in_sight=in_sight,
        opaque=frozenset(ids[symbol] for symbol in _OPAQUE),
    )


@functools.cache
def monster_names() -> Mapping[str, str]:
    """The name of each kind of monster, by the nouns for one and for several of it."""
    nh = _nethack()
    names = [nh.permonst(index).mname for index in range(nh.NUMMONS)]
    return {**{plural(name): name for name in names}, **{name: name for name in names}}


def _nethack() -> Any:
    from nle import nethack  # loads the game's library, so only when a game is played

    return nethack


def _placed_nouns() -> Iterator[tuple[int, str]]:
    """The noun of each glyph that is named anywhere on the map."""
    nh = _nethack()
    monsters = [nh.permonst(index).mname for index in range(nh.NUMMONS)]
    objects = [_object_noun(nh, index) for index in range(nh.NUM_OBJECTS)]
    symbols = [symbol if symbol in _LANDMARKS else "" for symbol in _SYMBOLS]
    runs = (
        (nh.GLYPH_MON_OFF, monsters),
        (nh.GLYPH_PET_OFF, [f"tame {monster}" for monster in monsters]),
        (nh.GLYPH_INVIS_OFF, ["invisible creature"]),
        (nh.GLYPH_DETECT_OFF, [f"detected {monster}" for monster in monsters]),
        (nh.GLYPH_BODY_OFF, [f"{monster} corpse" for monster in monsters]),
        (nh.GLYPH_RIDDEN_OFF, [f"ridden {monster}" for monster in monsters]),
        (nh.GLYPH_OBJ_OFF, objects),
        (nh.GLYPH_CMAP_OFF, symbols),
        (nh.GLYPH_EXPLODE_OFF, _EXPLOSIONS * nh.EXPL_MAX),
        (nh.GLYPH_ZAP_OFF, _ZAPS * nh.NUM_ZAP),
        (nh.GLYPH_SWALLOW_OFF, _SWALLOWS * nh.NUMMONS),
        (nh.GLYPH_WARNING_OFF, [f"unknown creature causing you {worry}" for worry in _WORRIES]),
        (nh.GLYPH_STATUE_OFF, [f"{monster} statue" for monster in monsters]),
    )
    for start, nouns in runs:
        yield from enumerate(nouns, start)


def _object_noun(nh: Any, index: int) -> str:
    """The noun of an object, from its class, name and appearance; one of the last two may be missing."""
    entry = nh.objdescr.from_idx(index)
    name, look = entry.oc_name or "", entry.oc_descr or ""
    kind = ord(nh.objclass(index).oc_class)
    suffixes = {
        nh.RING_CLASS: "ring",
        nh.POTION_CLASS: "potion",
        nh.SPBOOK_CLASS: "spellbook",
        nh.WAND_CLASS: "wand",
        nh.AMULET_CLASS: "amulet",
    }
    if kind == nh.AMULET_CLASS and "Amulet" in look:
        return str(look)
    if kind in suffixes:
        return f"{look} {suffixes[kind]}"
    if kind in (nh.ARMOR_CLASS, nh.TOOL_CLASS):
        return str(look or name)
    if kind == nh.SCROLL_CLASS:
        return f"scroll labeled {look}"
    if kind == nh.VENOM_CLASS:
        return f"splash of {name}"
    if kind == nh.GEM_CLASS and look not in name:
        return f"{look} {name}"
    return str(name)
