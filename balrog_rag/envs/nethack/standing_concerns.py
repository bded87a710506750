"""What bears on the next decision although the game says nothing of it now.

A pit that the hero has dug, wounds after a fight, and things in the pack that are not put to use.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from balrog_rag.contracts.measures import Numbers
from balrog_rag.contracts.signals import Concern
from balrog_rag.envs.nethack.world.items import Item, read_item

IN_A_PIT = "dug a pit while digging down: Elbereth in the pit before digging on"
WOUNDED = "wounded and nothing near: resting between fights"
ARMOR = "better armour on the first levels: what to wear"
WANDS = "identify wands by engraving"
UNARMED = "no weapon in hand"
MISSILES = "use missiles before contact: daggers"

_DUG = re.compile(r"\bdig a pit\b")
_REST = 0.9
"""Share of the hit points below which a hero with nothing near should rest."""
_UNKNOWN_WAND = re.compile(r"\bwands?\b(?! (?:of|called))")
_MISSILE = re.compile(r"\b(?:daggers?|darts?|shurikens?|arrows?|javelins?|spears?)\b")
_WEAPON = re.compile(
    r"\b(?:sword|sabers?|scimitar|katana|axe|mace|club|flail|hammer|spear|trident|dagger|knife|staff|quarterstaff|mattock"
    r"|pick-axe|aklys|lance|scalpel)\b"
)


def pit(numbers: Numbers) -> str:
    """Return the name of the deed of digging a pit where the hero stands."""
    return "dug a pit at " + " ".join(str(numbers.get(name, "?")) for name in ("branch", "depth", "x", "y"))


def digs_pit(message: str) -> bool:
    """Whether a message says that the hero has just dug a pit."""
    return bool(_DUG.search(message))


def standing(
    numbers: Numbers, inventory: str, done: Mapping[str, int], near: bool, seen: bool
) -> Iterator[Concern]:
    """Yield the standing concerns; `near`: a monster is close, `seen`: one is in view."""
    if pit(numbers) in done:
        yield Concern(IN_A_PIT, lasting=True)
    items = carried(inventory)
    if seen and any(_MISSILE.search(each.name) and not each.wielded for each in items):
        yield Concern(MISSILES, lasting=True)
    if near:
        return
    if _wounded(numbers):
        yield Concern(WOUNDED, lasting=True)
    yield from _unused(items)


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


def carried(inventory: str) -> list[Item]:
    """Parse an inventory with a line for each item, `a: a dagger (weapon in hand)`."""
    lines = (line.partition(": ") for line in inventory.splitlines())
    return [read_item(letter, text) for letter, found, text in lines if found]
