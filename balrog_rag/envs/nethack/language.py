"""NetHack's screen in words: five texts, each a pure function of NLE's observation arrays.

The texts are byte for byte those that earlier published results were played with, including their mistakes:
scores measured here can be compared with those only if the prompts are the same. No input is rejected:
whatever the arrays contain (a player off the map, an unknown glyph, zeros after the last step) has some
wording.
"""

import functools
import itertools
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from balrog_rag.envs.nethack.glyphs import glyph_names

Ints: TypeAlias = NDArray[np.integer[Any]]

_HEIGHT, _WIDTH = 21, 79
_CELLS = _HEIGHT * _WIDTH

_DISTANCES = ("very far", "far", "near", "very near", "adjacent")
_WINDS = (
    *("north", "northnortheast", "northeast", "eastnortheast"),
    *("east", "eastsoutheast", "southeast", "southsoutheast"),
    *("south", "southsouthwest", "southwest", "westsouthwest"),
    *("west", "westnorthwest", "northwest", "northnorthwest"),
)
# East first and then clockwise, as (columns, rows down): the order breaks ties between equal places.
_SIGHT_LINES = ((1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1))
_SIGHT_RANGE = 9

# A thing on the map is one integer, and sorting the integers puts the things into reading order:
# distance (3 bits), wind (4), where it was found (12), noun (12).
_DISTANCE_SHIFT, _WIND_SHIFT, _SERIAL_SHIFT = 28, 24, 12
_NOUN_MASK = (1 << _SERIAL_SHIFT) - 1
_WIND_MASK = len(_WINDS) - 1
# What one line of text is about: a noun at a distance.
_LINE_MASK = ~0 << _DISTANCE_SHIFT | _NOUN_MASK

# Places relative to the player, for a player on the map or one cell off it: NetHack counts columns from one
# and NLE from zero, so a player who is nowhere stands in column -1.
_REACH_X, _REACH_Y = _WIDTH + 1, _HEIGHT + 1
_STRIDE = 2 * _REACH_X + 1

# The cursor is named only where the original's own table reached.
_CURSOR_X, _CURSOR_Y = range(-_WIDTH, _WIDTH), range(-_HEIGHT, _HEIGHT)

# What counts as white space in a screen row: no tab, no NUL, but this one control character.
_BLANKS = b" \x1a"
_PAGE_ENDS = (b"--More--", b"(end)")
_PAGE_MARKS = (*_PAGE_ENDS, b" of ")
# In the second row these mean the list of best games, which has no mark at its end.
_LAST_WORDS = (b"Points", b"list!")

_STATISTICS = (
    "Strength: {3}/{2}\nDexterity: {4}\nConstitution: {5}\nIntelligence: {6}\nWisdom: {7}\nCharisma: {8}\n"
    "Depth: {12}\nGold: {13}\nHP: {10}/{11}\nEnergy: {14}/{15}\nAC: {16}\nXP: {18}/{19}\nTime: {20}\n"
    "Position: {0}|{1}\nHunger: {hunger}\nMonster Level: {17}\nEncumbrance: {load}\nDungeon Number: {23}\n"
    "Level Number: {24}\nScore: {9}\nAlignment: {creed}\nCondition: {conditions}"
).format
_HUNGERS = dict(enumerate(("Satiated", "Not Hungry", "Hungry", "Weak", "Fainting", "Fainted", "Starved")))
_LOADS = dict(enumerate(("Unencumbered", "Burdened", "Stressed", "Strained", "Overtaxed", "Overloaded")))
_CREEDS = {-128: "None", -1: "Chaotic", 0: "Neutral", 1: "Lawful"}
# By falling bit, but riding last but one: the order in which the original's hash table gave them.
_CONDITIONS = (
    *((1 << 11, "Flying"), (1 << 10, "Levitating"), (1 << 9, "Hallucinating"), (1 << 8, "Confused")),
    *((1 << 7, "Stunned"), (1 << 6, "Deaf"), (1 << 5, "Blind"), (1 << 4, "Terminally Ill")),
    *((1 << 3, "Food Poisoning"), (1 << 2, "Strangled"), (1 << 1, "Slimed")),
    *((1 << 12, "Riding"), (1 << 0, "Stoned")),
)


def text_glyphs(glyphs: Ints, blstats: Ints) -> str:
    """What is on the map around the player, a noun and a distance per line, the farthest first."""
    x, y = int(blstats[0]), int(blstats[1])
    grid = _as_unsigned(glyphs)
    things = _noticed(grid, x, y)
    things.extend(_in_sight(grid, x, y))
    things.sort()
    return _describe(things)


def text_cursor(glyphs: Ints, blstats: Ints, tty_cursor: Ints) -> str:
    """Where the cursor is relative to the player, and on what; empty if it is off the map."""
    column, row = int(tty_cursor[1]), int(tty_cursor[0]) - 1
    right, down = column - int(blstats[0]), row - int(blstats[1])
    # A cursor in the screen's last column, which the map lacks, stands for the next row's first cell.
    cell = column + row * _WIDTH
    if right not in _CURSOR_X or -down not in _CURSOR_Y or not 0 < cell < _CELLS:
        return ""
    names = glyph_names()
    noun = names.nouns[names.noticed[int(glyphs.flat[cell]) & 0xFFFF]]
    if not right and not down:
        return f"Yourself a {noun}"
    return f"{_DISTANCES[_distance(right, down)]} {_WINDS[_wind(right, down)]} {noun}"


def text_message(tty_chars: Ints) -> str:
    """The top line; or all rows of a page (a menu, a long message, the final scores), if there is one."""
    columns = tty_chars.shape[1]
    screen = tty_chars.astype(np.uint8, copy=False).tobytes()
    first, second = _trim(screen[:columns]), _trim(screen[columns : 2 * columns])
    if not first and not second:
        return ""
    scores = _has_any(second, _LAST_WORDS)
    page = _page(screen, columns, scores) if scores or _has_any(screen, _PAGE_MARKS) else None
    return (first if page is None else page).decode("latin-1")


def text_blstats(blstats: Ints) -> str:
    """The bottom lines' numbers and states, one per line."""
    values = blstats.astype(np.int64, copy=False).tolist()
    return _STATISTICS(
        *values,
        hunger=_HUNGERS.get(values[21], ""),
        load=_LOADS.get(values[22], ""),
        creed=_CREEDS.get(values[26], ""),
        conditions=_conditions(values[25] & (1 << len(_CONDITIONS)) - 1),
    )


def text_inventory(inv_strs: Ints, inv_letters: Ints, apart: bool = False) -> str:
    """The inventory, one item per line after its letter.

    A description that fills its row has always run on into the next one, unless they are kept `apart`.
    """
    letters = inv_letters.astype(np.uint8, copy=False).tobytes()
    rows = inv_strs.astype(np.uint8, copy=False).tobytes()
    return _inventory(letters.partition(b"\0")[0], rows, inv_strs.shape[1], apart)


# --- the map -----------------------------------------------------------------------------------------------


def _as_unsigned(glyphs: Ints) -> NDArray[np.uint16]:
    """The glyphs in one row, in the 16 bits that index the noun tables."""
    return glyphs.astype(np.uint16, copy=False).ravel()


def _noticed(grid: NDArray[np.uint16], x: int, y: int) -> list[int]:
    """The things that are named anywhere on the map, except the player."""
    nouns = glyph_names().noticed.take(grid)
    if 0 <= x < _WIDTH and 0 <= y < _HEIGHT:
        nouns[y * _WIDTH + x] = 0
    cells = nouns.nonzero()[0]
    offsets = _offsets()
    if -1 <= x <= _WIDTH and -1 <= y <= _HEIGHT:
        places = offsets.codes.take(offsets.of_cell.take(cells) - (y * _STRIDE + x))
    else:  # not a position that the game can report, but no reason to fail
        at = [divmod(cell, _WIDTH) for cell in cells.tolist()]
        places = np.array([_place(column - x, row - y) for row, column in at], np.int64)
    things: list[int] = (places | cells << _SERIAL_SHIFT | nouns.take(cells)).tolist()
    return things


def _in_sight(grid: NDArray[np.uint16], x: int, y: int) -> list[int]:
    """The things that are named only on an open straight line from the player."""
    names = glyph_names()
    opaque = names.opaque
    cells, lengths = _sight_cells(x, y)
    things = []
    rows = names.in_sight.take(grid.take(cells)).tolist()
    for places, nouns, length in zip(_sight_places(), rows, lengths, strict=True):
        for place, noun in zip(places[:length], nouns, strict=False):
            if noun:
                things.append(place | noun)
                if noun in opaque:
                    break
    return things


def _describe(things: list[int]) -> str:
    """Describe things in reading order, one per line; several of a kind in one direction form a plural."""
    once: dict[int, int] = {}
    again: dict[int, int] = {}
    for thing in things:
        line = thing & _LINE_MASK
        wind = 1 << (thing >> _WIND_SHIFT & _WIND_MASK)
        seen = once.get(line, 0)
        if seen & wind:
            again[line] = again.get(line, 0) | wind
        else:
            once[line] = seen | wind
    names = glyph_names()
    subjects = []
    winds = {}
    for line, seen in once.items():
        distance = _DISTANCES[line >> _DISTANCE_SHIFT]
        several = again.get(line, 0)
        # A noun that is its own plural has one entry and so says the same winds on both its lines.
        for nouns, where in ((names.nouns, seen & ~several), (names.plurals, several)):
            if where:
                subject = f"{nouns[line & _NOUN_MASK]} {distance}"
                subjects.append(subject)
                winds[subject] = where
    return "\n".join([f"{subject} {_listed(winds[subject])}" for subject in subjects])


@functools.lru_cache(maxsize=8192)
def _listed(winds: int) -> str:
    """The winds of a bit set, clockwise from north, as an English list."""
    names = [wind for bit, wind in enumerate(_WINDS) if winds >> bit & 1]
    if len(names) < 3:
        return " and ".join(names)
    return f"{', '.join(names[:-1])}, and {names[-1]}"


# --- places relative to the player -------------------------------------------------------------------------


class _Offsets(NamedTuple):
    codes: NDArray[np.int64]
    """The place code of every offset from the player, row by row."""
    of_cell: NDArray[np.int64]
    """By map cell: the index of its code for a player in the map's corner."""


@functools.cache
def _offsets() -> _Offsets:
    downs, rights = range(-_REACH_Y, _REACH_Y + 1), range(-_REACH_X, _REACH_X + 1)
    codes = [_place(right, down) for down, right in itertools.product(downs, rights)]
    rows, columns = np.divmod(np.arange(_CELLS), _WIDTH)
    of_cell = (rows + _REACH_Y) * _STRIDE + columns + _REACH_X
    return _Offsets(np.array(codes, np.int64), of_cell)


def _place(right: int, down: int) -> int:
    return _distance(right, down) << _DISTANCE_SHIFT | _wind(right, down) << _WIND_SHIFT


def _distance(right: int, down: int) -> int:
    """The nearness, 0 to 4, counted in the king's moves of chess."""
    steps = max(abs(right), abs(down))
    return (steps < 20) + (steps < 6) + (steps < 3) + (steps < 2) if steps else 0


def _wind(right: int, down: int) -> int:
    """One of sixteen winds; each of the halfway ones covers all between a straight and a diagonal line."""
    if not right and not down:
        return 0
    side = ("west" if right < 0 else "east") if right else ""
    pole = ("north" if down < 0 else "south") if down else ""
    lean = abs(right) - abs(down)
    if not side or not pole or not lean:
        return _WINDS.index(pole + side)
    return _WINDS.index((side if lean > 0 else pole) + pole + side)


@functools.cache
def _sight_places() -> list[list[int]]:
    """The place codes along the lines of sight, found after everything on the map."""
    return [
        [
            _place(step * right, step * down) | (_CELLS + _SIGHT_RANGE * line + step) << _SERIAL_SHIFT
            for step in range(1, _SIGHT_RANGE + 1)
        ]
        for line, (right, down) in enumerate(_SIGHT_LINES)
    ]


@functools.lru_cache(maxsize=2048)
def _sight_cells(x: int, y: int) -> tuple[NDArray[np.intp], list[int]]:
    """The map cells along the lines of sight from a place, and how many of each line are on the map."""
    cells = np.zeros((len(_SIGHT_LINES), _SIGHT_RANGE), np.intp)
    lengths = []
    for line, (right, down) in enumerate(_SIGHT_LINES):
        places = [(x + step * right, y + step * down) for step in range(1, _SIGHT_RANGE + 1)]
        on_map = itertools.takewhile(lambda at: 0 <= at[0] < _WIDTH and 0 <= at[1] < _HEIGHT, places)
        found = [row * _WIDTH + column for column, row in on_map]
        cells[line, : len(found)] = found
        lengths.append(len(found))
    return cells, lengths


# --- messages, states, belongings --------------------------------------------------------------------------


def _trim(row: bytes) -> bytes:
    """A screen row without its blanks; a lone character in the last column counts as one of them."""
    rest = row.lstrip(_BLANKS)
    return b"" if len(rest) == 1 else rest.rstrip(_BLANKS)


def _page(screen: bytes, columns: int, scores: bool) -> bytes | None:
    """The rows with text, down to the page's end, cut at the first row's indent; None if there is no end."""
    indent = columns - len(screen[:columns].lstrip(b" "))
    if indent == columns:
        # An empty first row has always cut the rows one character too early, and so took the first of them
        # to be the NUL that lies before the screen in memory. Scores are read this way.
        indent = -1
    padded = b"\0" + screen
    said = b""
    blank = 0
    for start in range(1, len(padded), columns):
        row = _trim(padded[start + indent : start + columns])
        said += row
        if _has_any(row, _PAGE_ENDS) or _is_page_number(row):
            return said
        if row:
            said += b"\n"
        blank = 0 if row else blank + 1
        if scores and blank > 1:
            return said
    return None


def _has_any(text: bytes, words: tuple[bytes, ...]) -> bool:
    return any(word in text for word in words)


def _is_page_number(row: bytes) -> bool:
    """Whether the row's first " of " is in "(1 of 2)"; pages from ten on are not recognised."""
    of = row.find(b" of ")
    return of > 1 and row[of - 2 : of - 1] == b"(" and row[of + 5 : of + 6] == b")"


@functools.lru_cache(maxsize=1024)
def _conditions(mask: int) -> str:
    return " ".join(name for bit, name in _CONDITIONS if mask & bit) or "None"


@functools.lru_cache(maxsize=512)
def _inventory(letters: bytes, rows: bytes, width: int, apart: bool) -> str:
    """The items' lines; each description is a C string, so one that fills its row runs on into the next."""
    starts = range(0, width * len(letters), width)
    names = (rows[start : start + width if apart else None].partition(b"\0")[0] for start in starts)
    lines = [b"%c: %b" % item for item in zip(letters, names, strict=True)]
    return b"\n".join(lines).decode("latin-1")
