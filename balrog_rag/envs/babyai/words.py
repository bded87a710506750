"""The observation of a Minigrid level in BALROG's words, one line per thing."""

from collections.abc import Iterator, Sequence
from typing import Any

_FORWARD, _LEFT, _RIGHT = (0, -1), (-1, 0), (1, 0)
_LOOKS = ((_FORWARD, "forward"), (_LEFT, "left"), (_RIGHT, "right"))

Cells = Sequence[Sequence[Any]]
"""The things in view by column and row; None where nothing is seen."""


def describe(cells: Cells) -> str:
    """List the carried object, the walls straight ahead, left and right, and every other thing in view.

    The carried object is in the agent's cell. Things are listed from left to right, and within a column from
    far to near.
    """
    return "\n".join((*_carried(cells[len(cells) // 2][-1]), *_walls(cells), *_things(cells)))


def _carried(thing: Any) -> Iterator[str]:
    if thing is not None:
        yield f"You carry a {thing.color} {thing.type}"


def _walls(cells: Cells) -> Iterator[str]:
    """Walls with nothing between them and the agent, which is in the middle of the nearest row."""
    size = len(cells)
    for (dx, dy), way in _LOOKS:
        x, y = size // 2 + dx, size - 1 + dy
        distance = 1
        while 0 <= x < size and y >= 0 and cells[x][y] is None:
            x, y, distance = x + dx, y + dy, distance + 1
        if 0 <= x < size and y >= 0 and cells[x][y].type == "wall":
            yield f"a wall {_steps(distance, way)}"


def _things(cells: Cells) -> Iterator[str]:
    size = len(cells)
    middle, near = size // 2, size - 1
    for x in range(size):
        for y in range(size):
            thing = cells[x][y]
            if thing is None or thing.type == "wall" or (x, y) == (middle, near):
                continue
            where = []
            if x != middle:
                where.append(_steps(abs(x - middle), "left" if x < middle else "right"))
            if y != near:
                where.append(_steps(near - y, "forward"))
            yield f"a {_name(thing)} {' and '.join(where)}"


def _name(thing: Any) -> str:
    name = f"{thing.color} {thing.type}"
    if thing.type != "door":
        return name
    return f"{'open' if thing.is_open else 'locked' if thing.is_locked else 'closed'} {name}"


def _steps(count: int, way: str) -> str:
    return f"{count} step{'s' if count > 1 else ''} {way}"
