"""What each of NetHack's glyphs stands for, as tables looked up by glyph.

A glyph of an unidentified object tells which object it truly is, which no player can see. So objects whose
appearance is shuffled from game to game are known here by their class alone.
"""

import functools
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from balrog_rag.envs.nethack.world.terrain import KNOWN

TERRAIN, MONSTER, PET, OBJECT, CORPSE, STATUE, UNSEEN, EFFECT, SWALLOWED = range(9)
"""What a glyph shows. UNSEEN is a monster felt or sensed without being seen."""

HIDDEN_CLASSES = frozenset('"=?+!/*')
"""Classes of objects that all have shuffled appearances, by their symbols."""
HIDDEN_ARMOR = (
    *("helmet", "helm of brilliance", "helm of opposite alignment", "helm of telepathy"),
    *("leather gloves", "gauntlets of fumbling", "gauntlets of power", "gauntlets of dexterity"),
    *("cloak of protection", "cloak of invisibility", "cloak of magic resistance", "cloak of displacement"),
    *("speed boots", "water walking boots", "jumping boots", "elven boots", "kicking boots"),
    *("fumble boots", "levitation boots"),
)
"""Pieces of armour whose appearances are shuffled."""

_SYMBOLS = ' ])[="(%!?+/$*`0_.'
"""Symbols of NetHack's object classes, by class number less one, with a blank before the first."""


class Kinds(NamedTuple):
    """Tables by glyph; -1 means no entry."""

    shows: list[int]
    terrain: list[int]
    """The symbol of the map, by NetHack's numbering (see `terrain`)."""
    species: list[int]
    """The number of the monster, also for its corpse or statue."""
    name: list[str]
    """The object's appearance, or empty if only its class can be seen."""
    symbol: list[str]
    """The symbol of the object's class."""
    creature: NDArray[np.bool_]
    """Whether any monster is shown."""
    swallowed: NDArray[np.bool_]


@functools.cache
def kinds() -> Kinds:
    """Build the tables at the first call."""
    from nle import nethack as nh

    size = nh.MAX_GLYPH + 1
    shows, terrain, species = [EFFECT] * size, [-1] * size, [-1] * size
    name, symbol = [""] * size, [""] * size
    for first, what in _creatures(nh):
        for number in range(nh.NUMMONS):
            shows[first + number], species[first + number] = what, number
    for place in (nh.GLYPH_INVIS_OFF, *range(nh.GLYPH_WARNING_OFF, nh.GLYPH_STATUE_OFF)):
        shows[place] = UNSEEN
    for number in range(KNOWN):
        shows[nh.GLYPH_CMAP_OFF + number], terrain[nh.GLYPH_CMAP_OFF + number] = TERRAIN, number
    for place in range(nh.GLYPH_SWALLOW_OFF, nh.GLYPH_WARNING_OFF):
        shows[place] = SWALLOWED
    for number in range(nh.NUM_OBJECTS):
        place = nh.GLYPH_OBJ_OFF + number
        shows[place] = OBJECT
        name[place], symbol[place] = _object(nh, number)
    seen = np.array(shows)
    return Kinds(
        shows, terrain, species, name, symbol, np.isin(seen, (MONSTER, PET, UNSEEN)), seen == SWALLOWED
    )


def _creatures(nh: Any) -> tuple[tuple[int, int], ...]:
    return (
        (nh.GLYPH_MON_OFF, MONSTER),
        (nh.GLYPH_PET_OFF, PET),
        (nh.GLYPH_DETECT_OFF, UNSEEN),
        (nh.GLYPH_BODY_OFF, CORPSE),
        (nh.GLYPH_RIDDEN_OFF, PET),
        (nh.GLYPH_STATUE_OFF, STATUE),
    )


def _object(nh: Any, number: int) -> tuple[str, str]:
    """The appearance of an object, and the symbol of its class."""
    entry = nh.objdescr.from_idx(number)
    symbol = _SYMBOLS[ord(nh.objclass(number).oc_class)]
    if symbol in HIDDEN_CLASSES or entry.oc_name in HIDDEN_ARMOR:
        return "", symbol
    return entry.oc_descr or entry.oc_name or "", symbol
