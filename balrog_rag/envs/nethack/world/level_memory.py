"""What is remembered of the levels of a game, in a few lines that an agent can read."""

from collections import Counter
from collections.abc import Iterable, Sequence

from balrog_rag.envs.nethack.world import glyph_kinds as k
from balrog_rag.envs.nethack.world import terrain as t
from balrog_rag.envs.nethack.world.known_world import World
from balrog_rag.envs.nethack.world.level import Level, Place
from balrog_rag.envs.nethack.world.names import FEATURES, name_of, position
from balrog_rag.envs.nethack.world.routes import Ways

BRANCHES = (
    *("Dungeons of Doom", "Gehennom", "Gnomish Mines", "Quest", "Sokoban", "Fort Ludios"),
    *("Vlad's Tower", "Elemental Planes"),
)
"""Branches of the dungeon by their numbers."""
_QUEST, _PLANES = 3, 7
_PLANE_NAMES = ("Astral Plane", "Water", "Fire", "Air", "Earth")
"""The planes by their level numbers; the bottom line has these words for `Dlvl`."""
_NOTED = (*t.STAIRS, t.ALTAR, t.THRONE, t.SINK, t.FOUNTAIN, t.GRAVE, t.HOLE, t.TRAP_DOOR, t.MAGIC_PORTAL)
_MOST_LEVELS, _MOST_PLACES, _MOST_ITEMS = 8, 6, 6


def remembered(world: World) -> str:
    """One line per level, the present one first and then those seen last."""
    levels = sorted(world.levels.values(), key=lambda level: -level.arrived)
    present = world.level
    others = [level for level in levels if level is not present and level.depth]
    lines = [level_line(world, level) for level in (present, *others[:_MOST_LEVELS])]
    if left := len(others) - _MOST_LEVELS:
        lines += [f"{left} more levels are remembered."] if left > 0 else []
    return "\n".join(lines)


def level_line(world: World, level: Level, most: int = _MOST_ITEMS) -> str:
    """Stairs, altars, shops, items left and what is unexplored of one level, in one line."""
    here = level is world.level
    facts = [*_features(world, level), *_shop(level), *_items(world, level, most), *_unexplored(world, level)]
    where = ", here" if here else ""
    return f"{level_name(level)}{where}: {'; '.join(facts) or 'nothing of note'}."


def level_name(level: Level) -> str:
    """Format as `Dlvl 3`, `Dlvl 4 (Gnomish Mines)`, `Home 1 (Quest)` or `Earth (Elemental Planes)`."""
    branch, number = level.place
    if branch == _QUEST:
        return f"Home {number} ({BRANCHES[branch]})"
    if branch == _PLANES and 0 < number <= len(_PLANE_NAMES):
        return f"{_PLANE_NAMES[number - 1]} ({BRANCHES[branch]})"
    name = f" ({BRANCHES[branch]})" if 0 < branch < len(BRANCHES) else ""
    return f"Dlvl {level.depth}{name}"


def _features(world: World, level: Level) -> Iterable[str]:
    for code in _NOTED:
        places = level.spots((code,))
        if places:
            shown = ", ".join(
                position(at) + _leads(world, level.links.get(at)) for at in places[:_MOST_PLACES]
            )
            yield f"{FEATURES[code]} {shown}"


def _leads(world: World, link: Place | None) -> str:
    """The level to which stairs lead, if they were taken."""
    other = world.levels.get(link) if link is not None else None
    return f" to {level_name(other)}" if other is not None and other.depth else ""


def _shop(level: Level) -> Iterable[str]:
    if level.shop:
        yield f"shop around {position(sorted(level.shop)[len(level.shop) // 2])}"


def _items(world: World, level: Level, most: int) -> Iterable[str]:
    """What lies there; what is underfoot is not shown by the map, and may have been picked up."""
    here = world.body.place if level is world.level else None
    names: dict[str, list[int]] = {}
    for place, glyph in sorted(level.objects.items()):
        if place == here or place in level.shop or place in level.boulders:
            continue
        if k.kinds().shows[glyph] == k.OBJECT:
            names.setdefault(name_of(glyph), []).append(place)
    if names:
        chosen = sorted(names.items(), key=lambda each: (len(each[1]), each[1][0]))[:most]
        shown = [f"{name} {position(places[0])}{_more(places)}" for name, places in chosen]
        rest = sum(map(len, names.values())) - sum(len(places) for _, places in chosen)
        yield "items: " + ", ".join([*shown, *([f"{rest} more"] if rest else [])])


def _more(places: Sequence[int]) -> str:
    return f" and {len(places) - 1} more" if len(places) > 1 else ""


def _unexplored(world: World, level: Level) -> Iterable[str]:
    """How many squares may show something new, and closed doors; of the present level only those in reach."""
    reached = Ways(level, world.body.place).steps if level is world.level else None
    edges = [
        place
        for place in range(t.SIZE)
        if t.CAREFUL[level.terrain[place]]
        and level.is_frontier(place)
        and (reached is None or reached[place] >= 0)
    ]
    doors = Counter(level.terrain[place] for place in level.spots(t.CLOSED_DOORS)).total()
    if edges or doors:
        closed = f", {doors} closed door{'' if doors == 1 else 's'}" if doors else ""
        yield f"unexplored: {len(edges)} square{'' if len(edges) == 1 else 's'}{closed}"
    else:
        yield "explored"


_GROUND = {
    **dict.fromkeys(t.WALLS, "#"),
    **dict.fromkeys(t.OPEN_DOORS, "|"),
    **dict.fromkeys(t.CLOSED_DOORS, "+"),
    **dict.fromkeys((t.FLOOR, t.DARK_FLOOR, t.DOORWAY), "."),
    **dict.fromkeys((t.CORRIDOR, t.LIT_CORRIDOR), ","),
    **dict.fromkeys(t.UP, "<"),
    **dict.fromkeys(t.DOWN, ">"),
    **dict.fromkeys(t.WET, "}"),
    **dict.fromkeys(t.TRAPS, "^"),
    t.ALTAR: "_",
    t.FOUNTAIN: "{",
    t.THRONE: "\\",
    t.ICE: "-",
    t.TREE: "T",
    t.BARS: "=",
}
MAP_KEY = "# wall, . floor, , corridor, + closed door, * item, 0 boulder, ^ trap, } water or lava, @ you"


def level_map(world: World, level: Level) -> str:
    """The remembered map of a level, cut to what is known, with the position of its upper left corner."""
    rows = [[_GROUND.get(level.terrain[t.spot(x, y)], " ") for x in range(t.WIDTH)] for y in range(t.HEIGHT)]
    for place in level.objects:
        x, y = t.xy(place)
        rows[y][x] = "0" if place in level.boulders else "*"
    if level is world.level:
        x, y = t.xy(world.body.place)
        rows[y][x] = "@"
    used = [y for y, row in enumerate(rows) if any(char != " " for char in row)]
    columns = [x for x in range(t.WIDTH) if any(row[x] != " " for row in rows)]
    if not used:
        return ""
    shown = ("".join(rows[y][columns[0] : columns[-1] + 1]).rstrip() for y in range(used[0], used[-1] + 1))
    corner = position(t.spot(columns[0], used[0]))
    return "\n".join([f"{level_name(level)}, upper left corner {corner}; {MAP_KEY}", *shown])
