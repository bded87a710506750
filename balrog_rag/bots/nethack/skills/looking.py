"""Look at distant monsters, and at what is underfoot. Both take no game time."""

import re

from balrog_rag.envs.nethack.world import keys
from balrog_rag.envs.nethack.world import terrain as t
from balrog_rag.envs.nethack.world.known_world import Monster
from balrog_rag.envs.nethack.world.player import Keys, Player, Skill

_LEAP = 8
"""Squares that a capital letter moves the cursor."""


def look_at(player: Player, monster: Monster) -> Skill:
    """Ask the game what a monster is, and remember whether it is peaceful."""
    yield from player.begin()
    for key in (keys.FARLOOK, *cursor_keys(player.here, monster.place), keys.DOT):
        yield from player.press(key)
    yield from player.close()
    told = " ".join(player.heard)
    if "peaceful" in told or "tame" in told:
        monster.peaceful = True
    elif monster.peaceful is None:
        monster.peaceful = False
    return told


def cursor_keys(start: int, end: int) -> list[int]:
    """Keys that move the cursor from one square to another."""
    (x, y), (to_x, to_y) = t.xy(start), t.xy(end)
    return _along(to_x - x, "l", "h") + _along(to_y - y, "j", "k")


def _along(squares: int, forth: str, back: str) -> list[int]:
    leaps, rest = divmod(abs(squares), _LEAP)
    key = forth if squares > 0 else back
    return [ord(key.upper())] * leaps + [ord(key)] * rest


def look_here(player: Player) -> Keys:
    """Look at the square underfoot; the game's answer is in `player.heard`, including lists."""
    yield from player.begin()
    yield from player.press(keys.LOOK)
    yield from player.close()


def engraving(player: Player) -> str:
    """The text read on the ground by the last look."""
    found = re.search(r'You (?:read|feel the words): +"(.*?)[".]*$', " ".join(player.heard))
    return found[1] if found else ""


_IDENTITY = re.compile(r"a level \d+ (?:male |female )?(\w+) (\w+)\.")
_ALIGNMENT = re.compile(r"You are (lawful|neutral|chaotic)")
_ROLES = {"Cavewoman": "Caveman", "Priestess": "Priest"}


def look_at_oneself(player: Player) -> Skill:
    """Read role, race and alignment, and whether today is an unlucky day."""
    yield from player.begin()
    yield from player.press(keys.ATTRIBUTES)
    told = " ".join(" ".join(player.screen.lines()).split())
    yield from player.close()
    identity, alignment = _IDENTITY.search(told), _ALIGNMENT.search(told)
    if identity:
        player.race, player.role = identity[1], _ROLES.get(identity[2], identity[2])
    if alignment:
        player.alignment = alignment[1]
    player.unlucky |= "Friday the 13th" in told
    return f"{player.alignment} {player.race} {player.role}"
