"""Read NetHack's own tables of monsters, objects, roles, races and symbols from the installed nle.

`nle.nethack` exposes only a part of each entry (no attacks, no materials), so the arrays are read from nle's
shared library with the structure layouts of NetHack 3.6.7. Fields that both expose are compared: a library
with another layout is rejected instead of misread.
"""

import ctypes
from functools import cache
from itertools import count, takewhile
from pathlib import Path
from typing import Any

from balrog_rag.contracts.errors import KnowledgeError

_u8, _i8, _i16, _u16 = ctypes.c_ubyte, ctypes.c_byte, ctypes.c_short, ctypes.c_ushort
_text, _ulong = ctypes.c_char_p, ctypes.c_ulong


class Attack(ctypes.Structure):
    """One of a monster's up to six attacks."""

    _fields_ = [("kind", _u8), ("damage", _u8), ("dice", _u8), ("sides", _u8)]


class MonsterEntry(ctypes.Structure):
    """struct permonst."""

    _fields_ = [
        ("name", _text),
        ("letter", _u8),
        ("level", _i8),
        ("speed", _i8),
        ("ac", _i8),
        ("mr", _i8),
        ("alignment", _i8),
        ("generation", _u16),
        ("attacks", Attack * 6),
        ("weight", _u16),
        ("nutrition", _u16),
        ("sound", _u8),
        ("size", _u8),
        ("resists", _u8),
        ("conveys", _u8),
        ("flags1", _ulong),
        ("flags2", _ulong),
        ("flags3", _u16),
        ("difficulty", _u8),
        ("color", _u8),
    ]


class Object(ctypes.Structure):
    """struct objclass."""

    _fields_ = [
        ("name_index", _i16),
        ("description_index", _i16),
        ("user_name", _text),
        ("bits", _u8 * 3),
        ("skill", _i8),
        ("property", _u8),
        ("class_", _i8),
        ("delay", _i8),
        ("color", _u8),
        ("probability", _i16),
        ("weight", _u16),
        ("cost", _i16),
        ("small_damage", _i8),
        ("large_damage", _i8),
        ("one", _i8),
        ("two", _i8),
        ("nutrition", _u16),
    ]

    def bit(self, place: int, width: int = 1) -> int:
        """A bit field; the compiler packs them into three bytes, which ctypes would widen to four."""
        return int.from_bytes(bytes(self.bits), "little") >> place & (1 << width) - 1


class ObjectDescription(ctypes.Structure):
    """struct objdescr: an object's name, and its appearance until it is identified."""

    _fields_ = [("name", _text), ("description", _text)]


class Symbol(ctypes.Structure):
    """struct symdef: a map symbol and its meaning."""

    _fields_ = [("symbol", _u8), ("meaning", _text), ("color", ctypes.c_int)]


class ClassSymbol(ctypes.Structure):
    """struct class_sym: the symbol of a class of monsters or objects."""

    _fields_ = [("symbol", ctypes.c_char), ("name", _text), ("meaning", _text)]


class RoleName(ctypes.Structure):
    """The male form of a name, and the female form if it differs."""

    _fields_ = [("male", _text), ("female", _text)]


class Role(ctypes.Structure):
    """struct Role, up to the last field that is used."""

    _fields_ = [
        ("name", RoleName),
        ("ranks", RoleName * 9),
        ("gods", _text * 3),
        ("code", _text),
        ("home", _text),
        ("between", _text),
        ("male", _i16),
        ("female", _i16),
        ("pet", _i16),
        ("leader", _i16),
        ("guard", _i16),
        ("nemesis", _i16),
        ("enemies", _i16 * 2),
        ("enemy_classes", _i8 * 2),
        ("artifact", _i16),
        ("allowed", _i16),
        ("attributes", _i8 * 6),
        ("spread", _i8 * 6),
        ("rest", ctypes.c_byte * 46),
    ]


class Race(ctypes.Structure):
    """struct Race, up to the last field that is used."""

    _fields_ = [
        ("noun", _text),
        ("adjective", _text),
        ("collective", _text),
        ("code", _text),
        ("individual", RoleName),
        ("numbers", _i16 * 4),
        ("allowed", _i16),
        ("alignment_masks", _i16 * 3),
        ("least", _i8 * 6),
        ("most", _i8 * 6),
        ("advance", _i8 * 12),
    ]


@cache
def _library() -> ctypes.CDLL:
    import nle

    return ctypes.CDLL(str(Path(nle.__file__).parent / "libnethack.so"))


def _array(kind: Any, count: int, symbol: str) -> Any:
    try:
        return (kind * count).in_dll(_library(), symbol)
    except ValueError as error:
        raise KnowledgeError(f"nle's library has no table {symbol}; this needs nle 1.3") from error


def text(value: bytes | None) -> str:
    """Decode a name in a table; empty if there is none."""
    return (value or b"").decode("latin-1")


@cache
def monsters() -> list[Any]:
    """Return every monster, checked against nle's own data."""
    from nle import nethack

    table = list(_array(MonsterEntry, nethack.NUMMONS, "mons"))
    for number, monster in enumerate(table):
        shown = nethack.permonst(number)
        ours = (
            monster.level,
            monster.speed,
            monster.weight,
            monster.flags1,
            monster.flags2,
            monster.difficulty,
        )
        theirs = (shown.mlevel, shown.mmove, shown.cwt, shown.mflags1, shown.mflags2, shown.difficulty)
        if ours != theirs:
            raise KnowledgeError(
                f"nle's monster table has another layout at {shown.mname}; this needs nle 1.3"
            )
    return table


def living(monster: Any) -> Any | None:
    """The living kind whose corpse this undead monster leaves, according to the game's own function."""
    table = monsters()
    number = next(place for place, each in enumerate(table) if each is monster)
    corpse: int = _library().undead_to_corpse(number)
    return None if corpse == number else table[corpse]


def other_form(monster: Any) -> Any | None:
    """The human form of a lycanthrope in its animal form, according to the game's own function; else None."""
    table = monsters()
    other: int = _library().counter_were(next(n for n, each in enumerate(table) if each is monster))
    human = monster_classes()[table[other].letter][0] == "@" if other >= 0 else False
    return table[other] if human else None


class ObjectEntry:
    """An object with its names: `appearance` is how it looks until it is identified, often empty."""

    def __init__(self, data: Any, name: str, appearance: str) -> None:
        self.data, self.name, self.appearance = data, name, appearance


@cache
def objects() -> list[ObjectEntry]:
    """Return every object that has a name or an appearance, checked against nle's own data."""
    from nle import nethack

    table = _array(Object, nethack.NUM_OBJECTS, "objects")
    names = _array(ObjectDescription, nethack.NUM_OBJECTS, "obj_descr")
    things = []
    for number, entry in enumerate(table):
        shown = nethack.objclass(number)
        ours = (entry.weight, entry.cost, entry.probability, entry.delay, entry.property, chr(entry.class_))
        theirs = (
            shown.oc_weight,
            shown.oc_cost,
            shown.oc_prob,
            shown.oc_delay,
            shown.oc_oprop,
            shown.oc_class,
        )
        if ours != theirs:
            raise KnowledgeError(
                f"nle's objects are laid out otherwise at entry {number}; this needs nle 1.3"
            )
        things.append(ObjectEntry(entry, text(names[number].name), text(names[number].description)))
    return things


def artifacts() -> list[str]:
    """Return the names of all artifacts."""
    name_of = _library().artiname
    name_of.restype = _text
    return [text(name_of(number)) for number in takewhile(name_of, count(1))]


def god_of_none() -> str:
    """Return the god of those who have no alignment."""
    name_of = _library().align_gname
    name_of.restype = _text
    return text(name_of(ctypes.c_byte(-128)))


def materials() -> list[str]:
    """Return the names of materials by number."""
    return [text(name) for name in _array(_text, 22, "materialnm")]


def map_symbols() -> list[tuple[str, str]]:
    """Return the symbols of the map with their meaning."""
    return [
        (chr(entry.symbol), text(entry.meaning)) for entry in _array(Symbol, 96, "defsyms") if entry.meaning
    ]


def monster_classes() -> list[tuple[str, str]]:
    """Return the letters of monsters with their meaning, by class number."""
    return [(text(entry.symbol), text(entry.meaning)) for entry in _array(ClassSymbol, 61, "def_monsyms")]


def object_classes() -> list[tuple[str, str, str]]:
    """Return the symbols of objects with their plural and meaning, by class number."""
    table = _array(ClassSymbol, 18, "def_oc_syms")
    return [(text(entry.symbol), text(entry.name), text(entry.meaning)) for entry in table]


def roles() -> list[Any]:
    """Return the thirteen roles."""
    return [role for role in _array(Role, 14, "roles") if role.name.male]


def races() -> list[Any]:
    """Return the five races."""
    return [race for race in _array(Race, 6, "races") if race.noun]
