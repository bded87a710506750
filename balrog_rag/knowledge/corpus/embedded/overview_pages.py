"""Pages on roles, races, map symbols, the dungeon's levels and the commands."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from balrog_rag.envs.nethack import library_tables as tables
from balrog_rag.knowledge.corpus.embedded.texts import keys, read
from balrog_rag.knowledge.corpus.embedded.vocabulary import (
    ALIGNMENTS,
    ATTRIBUTES,
    RACES,
    article,
    bits,
    listed,
)
from balrog_rag.knowledge.passages import Page


def pages(data: Path) -> Iterator[Page]:
    """Return all of these pages; `data` is nle's folder of game files."""
    yield from _roles()
    yield from _races()
    yield from _symbols()
    yield from _dungeons(data / "dungeon.def")
    yield from _commands(data)


def _roles() -> Iterator[Page]:
    for role in tables.roles():
        name = tables.text(role.name.male)
        female = tables.text(role.name.female)
        gods = [tables.text(god).lstrip("_") for god in role.gods if god]
        ranks = [tables.text(rank.male) for rank in role.ranks]
        said = [
            f"{name}{f' (female: {female})' if female else ''} is one of the thirteen roles.",
            f"{article(name).capitalize()} can be {listed(bits(RACES, role.allowed), 'or')} and "
            f"{listed(bits(ALIGNMENTS, role.allowed), 'or')}.",
            f"Least starting attributes: {_attributes(role.attributes)}.",
            f"Titles from the lowest to the highest: {', '.join(ranks)}.",
        ]
        if gods:
            said.append(f"The lawful, neutral and chaotic gods are {', '.join(gods)}.")
        said.append(_quest(role))
        yield Page(title=f"{name} (role)", text="\n".join(said), path=f"role/{name}")


def _attributes(values: Any) -> str:
    strength, *rest = values
    rated = [_strength(strength), *map(str, rest)]
    return ", ".join(f"{name} {value}" for name, value in zip(ATTRIBUTES, rated, strict=True))


def _strength(value: int) -> str:
    """Format strength, the only attribute counted in hundredths above 18: up to 18/100, shown as 18/**."""
    return str(value) if value <= 18 else f"18/{value - 18:02d}"


def _quest(role: Any) -> str:
    """Home, leader and nemesis, from their positions in the monster table."""
    monsters = tables.monsters()
    leader = tables.text(monsters[role.leader].name)
    nemesis = tables.text(monsters[role.nemesis].name)
    pet = f" The starting pet is {article(tables.text(monsters[role.pet].name))}." if role.pet >= 0 else ""
    return (
        f"The quest home is {tables.text(role.home)}; its leader is {leader} and its nemesis {nemesis}.{pet}"
    )


def _races() -> Iterator[Page]:
    for race in tables.races():
        noun = tables.text(race.noun)
        most = _attributes(race.most)
        side = listed(bits(ALIGNMENTS, race.allowed), "or")
        text = (
            f"{noun} is one of the five races a player can be. {tables.text(race.adjective).capitalize()} "
            f"characters can be {side}. Highest attributes: {most}."
        )
        yield Page(title=f"{noun} (player race)", text=text, path=f"race/{noun}")


def _symbols() -> Iterator[Page]:
    meanings: dict[str, list[str]] = {}
    for symbol, meaning in tables.map_symbols():
        meanings.setdefault(symbol, []).append(meaning)
    for symbol, plural, _ in tables.object_classes():
        if plural and plural != "illegal objects" and symbol:
            meanings.setdefault(symbol, []).append(plural)
    for letter, kind in tables.monster_classes():
        if letter.strip() and kind:
            meanings.setdefault(letter, []).append(f"monster: {kind}")
    for symbol, all_of_it in sorted(meanings.items()):
        if symbol.isprintable() and symbol.strip() and not symbol.isalpha():
            things = listed(list(dict.fromkeys(all_of_it)), "or")
            yield Page(
                title=f"map symbol {symbol}",
                text=f"On the map {symbol} can be: {things}. Use ; and move the cursor to it to learn which.",
                path=f"symbol/{ord(symbol)}",
            )


_DUNGEON = re.compile(r'DUNGEON:\s*"([^"]+)"\s+"[^"]+"\s+\((\d+),\s*(\d+)\)')
_BRANCH = re.compile(
    r'(BRANCH|CHAINBRANCH):\s*"([^"]+)"\s+(?:"([^"]+)"\s*\+|@)\s*\((-?\d+),\s*(-?\d+)\)\s*(.*)'
)
_LEVEL = re.compile(
    r'(RNDLEVEL|LEVEL|CHAINLEVEL):\s*"([^"]+)"\s+"[^"]+"\s+(?:"([^"]+)"\s*\+|@)\s*\((-?\d+),\s*(-?\d+)\)(.*)'
)
_LEVELS = {
    "rogue": "the tribute level to Rogue, where monsters are capital letters",
    "oracle": "the Oracle's level, Delphi",
    "bigrm": "the Big Room, one large open level",
    "medusa": "Medusa's island, to be crossed over water",
    "castle": "the Castle, with a drawbridge and a wand of wishing; it has stairs up, none down: trap doors "
    "at its eastern end lead to the Valley of the Dead",
    "valley": "the Valley of the Dead, the first level of Gehennom",
    "sanctum": "the sanctum of Moloch, where the Amulet of Yendor is",
    "juiblex": "Juiblex's swamp",
    "baalz": "Baalzebub's lair",
    "asmodeus": "Asmodeus's lair",
    "wizard1": "the Wizard's Tower",
    "wizard2": "the Wizard's Tower, second floor",
    "wizard3": "the Wizard's Tower, third floor",
    "orcus": "Orcus Town",
    "fakewiz1": "a false Wizard's Tower, with the portal to the real one",
    "fakewiz2": "a false Wizard's Tower",
    "minetn": "Minetown, with shops, a temple and peaceful watchmen",
    "minend": "Mines' End, the lowest level of the Mines, where a luckstone lies",
    "knox": "Fort Ludios, a fort of soldiers around a treasury",
    "soko1": "the last Sokoban level, with the prize",
    "soko2": "the third Sokoban level",
    "soko3": "the second Sokoban level",
    "soko4": "the first Sokoban level, where it is entered from below",
    "tower1": "the top of Vlad's Tower, where Vlad is",
    "astral": "the Astral Plane, where the Amulet is offered",
    "water": "the Plane of Water",
    "fire": "the Plane of Fire",
    "air": "the Plane of Air",
    "earth": "the Plane of Earth, the first of the elemental planes",
}


def _dungeons(file: Path) -> Iterator[Page]:
    here = ""
    lines: list[str] = []
    summary: list[str] = []
    for line in [*file.read_text(encoding="latin-1").splitlines(), 'DUNGEON: "" "" (0, 0)']:
        found = _DUNGEON.match(line)
        if found or line.startswith('DUNGEON: ""'):
            if here:
                yield Page(title=f"{here} (dungeon branch)", text="\n".join(lines), path=f"dungeon/{here}")
                summary.append(lines[0])
            here, lines = (found.group(1), [_size(*found.groups())]) if found else ("", [])
        elif said := _branch(line) or _special(line):
            lines.append(said)
    yield Page(title="dungeon overview", text="\n".join(summary), path="dungeon/overview")


def _size(name: str, base: str, spread: str) -> str:
    least, most = int(base), int(base) + max(0, int(spread) - 1)
    count = f"{least} to {most} levels" if most > least else f"{least} level{'s' if least > 1 else ''}"
    return f"{name} has {count}."


def _range(base: int, spread: int, of: str) -> str:
    first, last = base, base + max(0, spread - 1)
    if base < 0:
        return f"{-base} from the bottom" if spread <= 1 else f"between {-base} and {-last} from the bottom"
    return f"level {first}{of}" if first == last else f"between levels {first} and {last}{of}"


def _branch(line: str) -> str:
    found = _BRANCH.match(line)
    if not found:
        return ""
    _, name, anchor, base, spread, how = found.groups()
    first, last = int(base), int(base) + max(0, int(spread) - 1)
    way = "by a magic portal" if "portal" in how else "by stairs up" if "up" in how else "by stairs down"
    if anchor:
        place = anchor.capitalize() if anchor != "oracle" else "the Oracle"
        below = (
            f"{first} to {last} levels below" if last > first else f"{first} level below" if first else "on"
        )
        return f"The way to {name} is {below} the level of {place}, {way}."
    at = f"level {first}" if first == last else f"one of levels {first} to {last}"
    return f"The way to {name} is on {at}, {way}."


def _special(line: str) -> str:
    found = _LEVEL.match(line)
    if not found or found.group(2) not in _LEVELS:
        return ""
    kind, name, anchor, base, spread, rest = found.groups()
    where = f"{base} below {_LEVELS.get(anchor, anchor)}" if anchor else _range(int(base), int(spread), "")
    chance = rest.split()
    maybe = f" It exists in {chance[0]}% of games." if kind == "RNDLEVEL" and len(chance) > 1 else ""
    what = _LEVELS[name]
    return f"{what[0].upper()}{what[1:]}: {where}.{maybe}"


def _commands(data: Path) -> Iterator[Page]:
    """Every command that an agent can give, with its key and the game's own help on that key."""
    from nle import nethack

    told = _told(data)
    for action in nethack.ACTIONS:
        kind = type(action).__name__
        name = _WAYS.get(action.name, action.name.replace("_", " ").lower())
        if "Longer" in kind:
            name = f"far {name}"
        key = _key(int(action))
        said = told.get(key, "")
        what = "Moves" if "Direction" in kind else "Command"
        text = f"{what} {name}: press {_spoken(key)}.{f' {said}.' if said else ''}"
        if key.isdigit():
            text = f"The digit {key}: begins a count before a command, as in 20s, or answers a question."
        yield Page(title=f"{name} command: {key}", text=text, path=f"command/{kind}-{name}")


_WAYS = {
    "N": "north",
    "E": "east",
    "S": "south",
    "W": "west",
    "NE": "northeast",
    "SE": "southeast",
    "SW": "southwest",
    "NW": "northwest",
}


def _key(code: int) -> str:
    if code & 0x80:
        return f"M-{chr(code & 0x7F)}"
    if code < 32:
        return f"^{chr(code + 64)}"
    return chr(code)


def _spoken(key: str) -> str:
    if key.startswith("M-"):
        return f"{key} (Alt or Meta with {key[2:]})"
    return f"{key} (Control with {key[1:]})" if key.startswith("^") and len(key) > 1 else key


def _told(data: Path) -> dict[str, str]:
    """Keys with the game's help on them, with letters for movement."""
    told: dict[str, str] = {}
    for key, words in keys(read(data / "cmdhelp")):
        told.setdefault(key, words.rstrip("."))
    for line in (data / "hh").read_text(encoding="latin-1").splitlines():
        if found := _META.match(line):
            told.setdefault(found.group(1), found.group(2).strip())
    return told


_META = re.compile(r"(M-\S)\s+\S+\s+(.*)")
