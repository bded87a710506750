"""The ground of a level: NetHack's map symbols by number, and where one can walk."""

UNKNOWN = -1
STONE = 0
WALLS = frozenset(range(1, 12))
DOORWAY, OPEN_DOORS, CLOSED_DOORS = 12, frozenset((13, 14)), frozenset((15, 16))
BARS, TREE = 17, 18
FLOOR, DARK_FLOOR, CORRIDOR, LIT_CORRIDOR = 19, 20, 21, 22
STAIRS_UP, STAIRS_DOWN, LADDER_UP, LADDER_DOWN = 23, 24, 25, 26
ALTAR, GRAVE, THRONE, SINK, FOUNTAIN = 27, 28, 29, 30, 31
POOL, ICE, LAVA, WATER = 32, 33, 34, 41
BRIDGES_DOWN, BRIDGES_UP = frozenset((35, 36)), frozenset((37, 38))
AIR, CLOUD = 39, 40
PIT, SPIKED_PIT, HOLE, TRAP_DOOR, TELEPORTER, LEVEL_TELEPORTER = 52, 53, 54, 55, 56, 57
MAGIC_PORTAL, WEB, VIBRATING_SQUARE = 58, 59, 64
KNOWN = 65
"""Higher symbols are effects and missiles, not ground."""

UP, DOWN = frozenset((STAIRS_UP, LADDER_UP)), frozenset((STAIRS_DOWN, LADDER_DOWN))
STAIRS = UP | DOWN
WET = frozenset((POOL, LAVA, WATER))
TRAPS = frozenset(range(42, VIBRATING_SQUARE))
HARMLESS = frozenset((45, 60))
"""Traps that only make a noise, or are a statue."""
DOORS = OPEN_DOORS | CLOSED_DOORS | {DOORWAY}
CORRIDORS = frozenset((CORRIDOR, LIT_CORRIDOR))
INDOORS = frozenset((FLOOR, DARK_FLOOR, *STAIRS, ALTAR, GRAVE, THRONE, SINK, FOUNTAIN, ICE, POOL))
"""Ground that makes up the inside of a room."""
STRAIGHT = OPEN_DOORS | CLOSED_DOORS
"""Squares that can only be entered and left in a straight line."""

_BLOCKED, _FREE, _TRAPPED = 0, 1, 2
_FREE_SYMBOLS = frozenset((*range(12, 17), *range(19, 32), ICE, *BRIDGES_DOWN, AIR, CLOUD, VIBRATING_SQUARE))


def _passage() -> tuple[tuple[bool, ...], tuple[bool, ...]]:
    careful = [code in _FREE_SYMBOLS or code in HARMLESS for code in range(KNOWN)] + [False]
    daring = [free or code in TRAPS for code, free in enumerate(careful)]
    return tuple(careful), tuple(daring)


CAREFUL, DARING = _passage()
"""By symbol: whether it can be walked on; `daring` includes traps. UNKNOWN indexes the last entry, false."""

WIDTH, HEIGHT = 79, 21
SIZE = WIDTH * HEIGHT


def spot(x: int, y: int) -> int:
    """A square's number: squares are numbered row by row, as in NLE's flattened arrays."""
    return y * WIDTH + x


def xy(place: int) -> tuple[int, int]:
    """Column and row of a square."""
    return place % WIDTH, place // WIDTH


HEADINGS = {
    (0, -1): "k",
    (1, 0): "l",
    (0, 1): "j",
    (-1, 0): "h",
    (1, -1): "u",
    (1, 1): "n",
    (-1, 1): "b",
    (-1, -1): "y",
}
"""Steps by their keys, the straight ones first."""


def _around(place: int) -> tuple[tuple[int, bool], ...]:
    x, y = xy(place)
    return tuple(
        (spot(x + dx, y + dy), bool(dx and dy))
        for dx, dy in HEADINGS
        if 0 <= x + dx < WIDTH and 0 <= y + dy < HEIGHT
    )


AROUND = tuple(_around(place) for place in range(SIZE))
"""By square: its neighbours, each with whether it is diagonal."""
NEAR = tuple(tuple(place for place, _ in around) for around in AROUND)
"""By square: its neighbours."""
BESIDE = tuple(tuple(place for place, diagonal in around if not diagonal) for around in AROUND)
"""By square: its neighbours in a straight line."""
INSIDE = tuple(0 < place // WIDTH < HEIGHT - 1 and place % WIDTH < WIDTH - 1 for place in range(SIZE))
"""By square: whether it is off the edge of the map, where no passages are (sp_lev.c, dig_corridor())."""


def distance(one: int, other: int) -> int:
    """Steps between two squares without obstacles."""
    return max(abs(one % WIDTH - other % WIDTH), abs(one // WIDTH - other // WIDTH))


def heading(start: int, end: int) -> int:
    """The key that leads from a square straight towards another; 0 if they are not on a line."""
    dx, dy = end % WIDTH - start % WIDTH, end // WIDTH - start // WIDTH
    if (dx or dy) and (not dx or not dy or abs(dx) == abs(dy)):
        return ord(HEADINGS[(dx > 0) - (dx < 0), (dy > 0) - (dy < 0)])
    return 0


def ray(start: int, towards: int, squares: int) -> list[int]:
    """Squares from one towards another, up to a number or the edge of the map."""
    (x, y), (to_x, to_y) = xy(start), xy(towards)
    dx, dy = (to_x > x) - (to_x < x), (to_y > y) - (to_y < y)
    way = [(x + n * dx, y + n * dy) for n in range(1, squares + 1)]
    return [spot(x, y) for x, y in way if 0 <= x < WIDTH and 0 <= y < HEIGHT]
