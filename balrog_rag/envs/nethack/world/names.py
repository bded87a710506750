"""Names of things on the map, by what a player can see of them."""

from balrog_rag.envs.nethack.world import glyph_kinds as k
from balrog_rag.envs.nethack.world import terrain as t
from balrog_rag.envs.nethack.world.species import all_species

_CLASSES = {
    ")": "weapon",
    "[": "piece of armor",
    "=": "ring",
    '"': "amulet",
    "(": "tool",
    "%": "food item",
    "!": "potion",
    "?": "scroll",
    "+": "spellbook",
    "/": "wand",
    "$": "gold",
    "*": "gem or stone",
    "`": "boulder",
    "0": "iron ball",
    "_": "iron chain",
}
"""Classes of objects by their symbols."""

_TRAPS = (
    *("arrow trap", "dart trap", "falling rock trap", "squeaky board", "bear trap", "land mine"),
    *("rolling boulder trap", "sleeping gas trap", "rust trap", "fire trap", "pit", "spiked pit", "hole"),
    *("trap door", "teleportation trap", "level teleporter", "magic portal", "web", "statue trap"),
    *("magic trap", "anti-magic field", "polymorph trap"),
)
FEATURES: dict[int, str] = {
    **dict.fromkeys(t.OPEN_DOORS, "open door"),
    **dict.fromkeys(t.CLOSED_DOORS, "closed door"),
    **dict.fromkeys(t.BRIDGES_DOWN, "lowered drawbridge"),
    **dict.fromkeys(t.BRIDGES_UP, "raised drawbridge"),
    **dict(enumerate(_TRAPS, min(t.TRAPS))),
    t.BARS: "iron bars",
    t.STAIRS_UP: "stairs up",
    t.STAIRS_DOWN: "stairs down",
    t.LADDER_UP: "ladder up",
    t.LADDER_DOWN: "ladder down",
    t.ALTAR: "altar",
    t.GRAVE: "grave",
    t.THRONE: "throne",
    t.SINK: "sink",
    t.FOUNTAIN: "fountain",
    t.VIBRATING_SQUARE: "vibrating square",
}
"""Ground worth naming, by NetHack's numbering."""

NEWS = frozenset((*t.DOWN, t.ALTAR, t.FOUNTAIN))
"""Ground that interrupts a skill when it comes into view."""


def name_of(glyph: int) -> str:
    """The name of what a glyph shows; empty for plain ground and for missiles and effects."""
    table = k.kinds()
    shows = table.shows[glyph]
    if shows == k.TERRAIN:
        return FEATURES.get(table.terrain[glyph], "")
    if shows == k.OBJECT:
        return table.name[glyph] or _CLASSES.get(table.symbol[glyph], "object")
    if shows == k.UNSEEN:
        return "unseen monster"
    if shows not in (k.MONSTER, k.PET, k.CORPSE, k.STATUE):
        return ""
    name = all_species()[table.species[glyph]].name
    return {k.PET: f"tame {name}", k.CORPSE: f"{name} corpse", k.STATUE: f"statue of a {name}"}.get(
        shows, name
    )


def position(place: int) -> str:
    """Format a square as agents read it."""
    return "({}, {})".format(*t.xy(place))
