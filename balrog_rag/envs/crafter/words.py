"""A player's surroundings and possessions in Crafter, in BALROG's words."""

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

VITAL = ("health", "food", "drink", "energy")
_ASLEEP = "You are sleeping, and will not be able take actions until energy is full.\n\n"
_DEAD = "You died.\n\n"


def status(inventory: Mapping[str, int], most: Mapping[str, int]) -> str:
    """List the vital signs and the inventory."""
    vital = "\n".join(f"- {name}: {inventory[name]}/{most[name]}" for name in VITAL)
    carried = [f"- {name}: {count}" for name, count in inventory.items() if count and name not in VITAL]
    having = "Your inventory:\n" + "\n".join(carried) if carried else "You have nothing in your inventory."
    return f"Your status:\n{vital}\n\n{having}"


def surroundings(view: NDArray[Any], facing: tuple[int, int], asleep: bool, dead: bool) -> str:
    """List what is near, each kind of thing once, and what the player faces.

    `view` holds names by column and row, with the player in the middle (of a whole view).
    """
    middle = (4, 3)
    state = _ASLEEP if asleep else _DEAD if dead else ""
    seen = "\n".join(f"- {name} {_way(dx, dy)}" for name, (dx, dy) in _nearest(view, middle).items())
    near = f"You see:\n{seen}" if seen else "You see nothing away from you."
    x, y = middle[0] + facing[0], middle[1] + facing[1]
    faced = view[x, y] if x < view.shape[0] and y < view.shape[1] else "nothing"
    return "\n\n".join((*([state] if state else []), near, f"You face {faced} at your front."))


def _nearest(view: NDArray[Any], middle: tuple[int, int]) -> dict[str, tuple[int, int]]:
    """The offset of the nearest thing of each kind; kinds are ordered from west to east."""
    nearest: dict[str, tuple[int, int]] = {}
    for x in range(view.shape[0]):
        for y in range(view.shape[1]):
            dx, dy = x - middle[0], y - middle[1]
            name = view[x, y]
            before = nearest.get(name)
            if (dx, dy) != (0, 0) and (before is None or abs(dx) + abs(dy) < abs(before[0]) + abs(before[1])):
                nearest[name] = (dx, dy)
    return nearest


def _way(dx: int, dy: int) -> str:
    steps = abs(dx) + abs(dy)
    ways = ("north" if dy < 0 else "south" if dy > 0 else "", "west" if dx < 0 else "east" if dx > 0 else "")
    return f"{steps} step{'s' if steps > 1 else ''} to your {'-'.join(filter(None, ways))}"
