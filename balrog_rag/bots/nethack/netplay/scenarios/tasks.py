"""The sixteen scenarios by name: instruction, limit of key presses, level and judge."""

from typing import NamedTuple

from balrog_rag.bots.nethack.netplay.scenarios import judges as j
from balrog_rag.bots.nethack.netplay.scenarios import levels
from balrog_rag.bots.nethack.netplay.scenarios.levels import Made

SHORT, LONG = 200, 500
"""Limits of key presses."""


class Scenario(NamedTuple):
    """One scenario."""

    goal: str
    made: Made
    judge: type[j.Judge]
    limit: int = SHORT
    published: int = 0
    """How often of five times NetPlay's agent solved it."""


_BAG = "Stuff all objects in this room into a bag."
_WAND = "Hit the statue with a wand."
_CARRY = "Drop a plate mail and an iron ball in the room containing the statue."
_ROOM = "Find a new room."
_ESCAPE = "Escape room 0 without using a staircase."

SCENARIOS: dict[str, Scenario] = {
    "bag": Scenario(_BAG, levels.BAG, j.Bag, published=1),
    "guided_bag": Scenario(
        f"{_BAG} Only use pickup with a position, and never move_to before it. When you use the bag, choose "
        "to auto-select every type.",
        levels.BAG,
        j.Bag,
        published=3,
    ),
    "multipickup": Scenario(
        "Pickup all objects in the current room.", levels.MULTIPICKUP, j.Multipickup, published=3
    ),
    "wand": Scenario(_WAND, levels.WAND, j.Wand, published=1),
    "guided_wand": Scenario(
        f"{_WAND} Stand right next to the statue first, not on top of it, and then zap in its direction.",
        levels.WAND,
        j.Wand,
        published=5,
    ),
    "ordered": Scenario(
        "Pickup both wands, then the scroll, and finally use the scroll to identify the wands.",
        levels.ORDERED,
        j.Ordered,
        published=5,
    ),
    "unordered": Scenario(
        "Do the following in any order: drink from the fountain, open both doors, and kill the grid bug.",
        levels.UNORDERED,
        j.Unordered,
        published=3,
    ),
    "alternative": Scenario(
        "Drink from a fountain or drink a potion.", levels.ALTERNATIVE, j.Alternative, published=5
    ),
    "conditional": Scenario(
        "Drink from a fountain. If there is no fountain, drink a potion.",
        levels.CONDITIONAL,
        j.Conditional,
        published=4,
    ),
    "carry": Scenario(_CARRY, levels.CARRY, j.Carry, LONG, published=1),
    "guided_carry": Scenario(
        f"{_CARRY} First defeat any monster. Carry one of the two at a time. Use the wand of teleportation.",
        levels.CARRY,
        j.Carry,
        LONG,
        published=4,
    ),
    "boulder": Scenario(_ROOM, levels.BOULDER, j.Boulder, LONG, published=1),
    "focused_boulder": Scenario(
        f"{_ROOM} If a boulder blocks your path, find a way to remove it.",
        levels.BOULDER,
        j.Boulder,
        LONG,
        published=3,
    ),
    "guided_boulder": Scenario(
        f"{_ROOM} If a boulder blocks your path, remove it with a pick-axe, a mattock or a wand of striking. "
        "Stand next to it, and apply the pick-axe in its direction with h, j, k or l.",
        levels.BOULDER,
        j.Boulder,
        LONG,
        published=5,
    ),
    "escape": Scenario(_ESCAPE, levels.ESCAPE, j.Escape, LONG, published=3),
    "hint_escape": Scenario(_ESCAPE, levels.HINT_ESCAPE, j.Escape, LONG, published=5),
}
