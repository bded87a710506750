"""What bears on the next decision although the game says nothing of it now.

A way down that is being dug, wounds after a fight, fresh corpses, and unused things in the pack.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from balrog_rag.contracts.measures import Numbers
from balrog_rag.contracts.signals import Concern
from balrog_rag.envs.nethack.world.items import Item, read_item

DIGGING = "dug a pit while digging down: Elbereth in the pit before digging on"
FRESH = "which corpses are safe to eat fresh"
WOUNDED = "wounded and nothing near: resting between fights"
ARMOR = "better armour on the first levels: what to wear"
WANDS = "identify wands by engraving"
UNARMED = "no weapon in hand"
MISSILES = "use missiles before contact: daggers"

DUG, KILLED = "dug", "killed"
"""Names of deeds."""
_DEEDS = (
    (DUG, re.compile(r"digging downward|\bdig a (?:pit|hole)\b")),
    (KILLED, re.compile(r"\bYou kill\b")),
)
_DIG, _KEEPS = 20, 30
"""Turns for which digging goes on after the last message about it, and for which a corpse is surely fresh."""
_REST = 0.9
"""Share of the hit points below which a hero with nothing near should rest."""
_UNKNOWN_WAND = re.compile(r"\bwands?\b(?! (?:of|called))")
_MISSILE = re.compile(r"\b(?:daggers?|darts?|shurikens?|arrows?|javelins?|spears?)\b")
_WEAPON = re.compile(
    r"\b(?:sword|sabers?|scimitar|katana|(?<!-)axe|mace|club|flail|hammer|spear|trident|dagger|knife|staff|quarterstaff"
    r"|aklys|lance|scalpel)\b"
)


def deeds(message: str, turn: int) -> dict[str, int]:
    """Return what a message says that the hero has just done, with the turn."""
    return {name: turn for name, pattern in _DEEDS if pattern.search(message)}


def digging(numbers: Numbers, done: Mapping[str, int]) -> Iterator[Concern]:
    """Yield how to dig on, while a way down is being dug."""
    if _lately(DUG, _DIG, numbers, done):
        yield Concern(DIGGING, lasting=True)


def standing(
    numbers: Numbers, inventory: str, done: Mapping[str, int], near: bool, seen: bool
) -> Iterator[Concern]:
    """Yield the other standing concerns; `near`: a monster is close, `seen`: one is in view."""
    pack = pack_of(inventory)
    if seen and pack.missiles:
        yield Concern(MISSILES, lasting=True)
    if near:
        return
    if numbers.get("hunger", 0) > 0 and _lately(KILLED, _KEEPS, numbers, done):
        yield Concern(FRESH, lasting=True)
    if _wounded(numbers):
        yield Concern(WOUNDED, lasting=True)
    yield from pack.unused


def _lately(deed: str, turns: int, numbers: Numbers, done: Mapping[str, int]) -> bool:
    return deed in done and numbers.get("turn", 0) - done[deed] <= turns


def _wounded(numbers: Numbers) -> bool:
    most = numbers.get("max_hp", 0)
    return most > 0 and numbers.get("hp", most) < _REST * most


def _unused(items: Sequence[Item]) -> Iterator[Concern]:
    """Things that wait to be put to use while nothing is near."""
    worn = {each.slot for each in items if each.worn and each.slot}
    if any(each.slot and not each.worn and each.slot not in worn for each in items):
        yield Concern(ARMOR, lasting=True)
    if any(_UNKNOWN_WAND.search(each.name) for each in items):
        yield Concern(WANDS, lasting=True)
    if not any(each.wielded for each in items) and any(_WEAPON.search(each.name) for each in items):
        yield Concern(UNARMED, lasting=True)


class Pack(NamedTuple):
    """What an inventory gives reason to ask about."""

    missiles: bool
    """Whether something to throw or shoot is not in hand."""
    unused: tuple[Concern, ...]
    """Things that wait to be put to use."""


@lru_cache(maxsize=64)
def pack_of(inventory: str) -> Pack:
    """Read an inventory with a line for each item, `a: a dagger (weapon in hand)`.

    Cached, because it seldom changes from one step to the next.
    """
    lines = (line.partition(": ") for line in inventory.splitlines())
    items = [read_item(letter, text) for letter, found, text in lines if found]
    missiles = any(_MISSILE.search(each.name) and not each.wielded for each in items)
    return Pack(missiles, tuple(_unused(items)))
