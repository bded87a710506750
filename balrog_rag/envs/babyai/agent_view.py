"""What a BabyAI agent sees: the 7 by 7 cells ahead of it, as Minigrid computes them, without its copies.

Minigrid cuts the view out of the level as a new grid and turns it by a quarter up to four times. Here the
cells are read where they are.
"""

from collections.abc import Hashable, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from minigrid.core.grid import Grid
from minigrid.core.world_object import Wall
from numpy.typing import NDArray

SIZE = 7
"""Cells across and ahead."""
_HERE = (SIZE // 2, SIZE - 1)
"""The agent's cell: in the middle of the nearest row."""
_UP = 3
"""The direction in which the agent is drawn."""
_AHEAD = ((1, 0), (0, 1), (-1, 0), (0, -1))
"""One cell ahead, by Minigrid's number of the direction."""
_OUTSIDE = Wall()


class View(NamedTuple):
    """The cells in view by column and row."""

    cells: Sequence[Sequence[Any]]
    """None where the cell is empty or out of sight."""
    seen: Sequence[Sequence[bool]]
    """Whether the agent sees the cell."""

    @property
    def looks(self) -> Hashable:
        """Equal for views whose pictures are equal."""
        cells = tuple(None if cell is None else cell.encode() for column in self.cells for cell in column)
        return cells, tuple(map(tuple, self.seen))

    def picture(self, pixels: int) -> NDArray[Any]:
        """Draw it with so many pixels per cell."""
        drawn = np.empty((SIZE * pixels, SIZE * pixels, 3), np.uint8)
        for x in range(SIZE):
            for y in range(SIZE):
                facing = _UP if (x, y) == _HERE else None
                tile = Grid.render_tile(self.cells[x][y], facing, self.seen[x][y], pixels)
                drawn[y * pixels : (y + 1) * pixels, x * pixels : (x + 1) * pixels] = tile
        return drawn


def view_of(level: Any) -> View:
    """What the agent of a level sees now."""
    cells = _around(level)
    seen = _seen(cells)
    shown = [
        [cell if seen[x][y] else None for y, cell in enumerate(column)] for x, column in enumerate(cells)
    ]
    x, y = _HERE
    shown[x][y] = level.carrying
    return View(shown, seen)


def _around(level: Any) -> list[list[Any]]:
    left, top = level.agent_pos
    grid, width, height = level.grid.grid, level.grid.width, level.grid.height
    return [
        [
            grid[(top + dy) * width + left + dx]
            if 0 <= left + dx < width and 0 <= top + dy < height
            else _OUTSIDE
            for dx, dy in column
        ]
        for column in _offsets(level.agent_dir)
    ]


@cache
def _offsets(direction: int) -> list[list[tuple[int, int]]]:
    """For each cell of the view its distance from the agent, in columns and rows of the level."""
    (ax, ay), (rx, ry) = _AHEAD[direction], _AHEAD[(direction + 1) % len(_AHEAD)]
    x, y = _HERE
    return [
        [((y - j) * ax + (i - x) * rx, (y - j) * ay + (i - x) * ry) for j in range(SIZE)] for i in range(SIZE)
    ]


def _seen(cells: Sequence[Sequence[Any]]) -> list[list[bool]]:
    """Which cells are seen: light goes sideways and ahead, but not through walls and closed doors."""
    seen = [[False] * SIZE for _ in range(SIZE)]
    seen[_HERE[0]][_HERE[1]] = True
    for y in reversed(range(SIZE)):
        for across in (range(SIZE - 1), range(SIZE - 1, 0, -1)):
            step = across.step
            for x in across:
                cell = cells[x][y]
                if not seen[x][y] or (cell is not None and not cell.see_behind()):
                    continue
                seen[x + step][y] = True
                if y:
                    seen[x + step][y - 1] = seen[x][y - 1] = True
    return seen
