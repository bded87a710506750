"""Draw the levels of BALROG's tasks.

Which random numbers are drawn, and in which order, determines the level of a seed.
"""

from typing import NamedTuple

import numpy as np

from balrog_rag.envs.babaisai.simulation import Board, Cell, Tile
from balrog_rag.envs.babaisai.tasks import Task

_THINGS = ("ball", "key", "door")
_COLORS = 3
_WALL = 6
"""The column of the wall between two rooms."""


class Area(NamedTuple):
    """Cells to draw from; `right` and `bottom` are exclusive."""

    left: int
    right: int
    top: int
    bottom: int


_ROOM, _MIDDLE = Area(1, 8, 2, 8), Area(2, 6, 2, 6)
_LEFT, _RIGHT, _BOTH = Area(1, 5, 1, 8), Area(7, 11, 2, 9), Area(1, 13, 2, 9)
_LEFT_MIDDLE, _RIGHT_MIDDLE = Area(2, 6, 3, 6), Area(7, 11, 3, 6)
_LEFT_INNER, _RIGHT_INNER = Area(2, 5, 3, 6), Area(8, 11, 3, 6)

_ROOM_EDGE = (
    *((x, 6) for x in range(4, 7)),
    *((x, 1) for x in range(4, 7)),
    *((6, y) for y in range(1, 7)),
)
_RIGHT_EDGE = (*((11, y) for y in range(2, 8)), *((x, 7) for x in (10, 9, 8)))
"""Where a block lies that cannot be pushed into a rule."""


def draw(task: Task, dice: np.random.RandomState) -> Board:
    """Draw a level of a task."""
    level = _Level(task, dice)
    if not task.two_rooms:
        level.one_room()
    elif task.make_you:
        level.make_you()
    elif task.make_wall_win:
        level.make_wall_win()
    else:
        level.two_rooms()
    level.board.read()
    return level.board


class _Level:
    def __init__(self, task: Task, dice: np.random.RandomState) -> None:
        self.board = Board(*((13, 9) if task.two_rooms else (8, 8)))
        self._task, self._dice = task, dice
        self._goal, self._other, self._foreign = (_THINGS[number] for number in dice.permutation(3))
        for _ in _THINGS:
            dice.randint(0, _COLORS)
        if task.two_rooms:
            for y in range(1, self.board.height - 1):
                self.board.put((_WALL, y), Tile("wall"))

    def one_room(self) -> None:
        """One room without obstacles; the goal may have to be named."""
        self._spell((1, 6), "baba", "is", "you")
        self._spell((2, 1), "is", "win")
        self._name_goal((1, 1), _MIDDLE)
        if self._task.stray_block:
            self._at_edge(_ROOM_EDGE, self._stray)
        self._things(_ROOM, _ROOM)

    def two_rooms(self) -> None:
        """A wall that may or may not stop, with the goal behind or before it."""
        self._spell((1, 7), "baba", "is", "you")
        self._spell((1, 2), "wall", "is", "stop")
        self._spell((10, 1), "is", "win")
        if self._task.stray_block:
            self._lay_stray()
        if self._task.rival_goal:
            self._spell((9, 4), self._foreign, "is", "win")
        if self._task.wall_is_open:
            self._open_wall()
        self._name_goal((9, 1), _RIGHT_MIDDLE)
        where = _BOTH if self._task.goal_anywhere else _LEFT if self._task.wall_is_open else _RIGHT
        self._things(_LEFT_MIDDLE, where)

    def make_you(self) -> None:
        """A wall that always stops; a thing behind it must be made YOU."""
        self._spell((1, 6), "baba", "is", "you")
        self._spell((1, 1), "wall", "is", "stop")
        self._spell((10, 1), "is", "win")
        self._place(_LEFT_INNER, Tile(self._other, block=True))
        self._name_goal((9, 1), _RIGHT_INNER)
        self._things(_LEFT_INNER, _RIGHT)

    def make_wall_win(self) -> None:
        """A wall that stops and no goal: the wall's own block must be brought over."""
        self._spell((1, 7), "baba", "is", "you")
        self._spell((2, 2), "wall", "is", "stop")
        self._spell((10, 1), "is", "win")
        self._place(_RIGHT_INNER, Tile(self._foreign, block=True))
        self._at_edge(_RIGHT_EDGE, self._goal)
        self._things(_LEFT_INNER, _RIGHT)

    @property
    def _stray(self) -> str:
        return self._foreign if self._task.stray_is_foreign else self._other

    def _lay_stray(self) -> None:
        """Lay it out of the way if it names a thing on the board."""
        if self._task.stray_is_foreign or not self._task.second_thing:
            self._place(_RIGHT_MIDDLE, Tile(self._stray, block=True))
        else:
            self._at_edge(_RIGHT_EDGE, self._stray)

    def _open_wall(self) -> None:
        """Lay one block of `wall is stop` elsewhere."""
        cell = self._free(_LEFT_MIDDLE)
        number = self._dice.randint(0, 2)
        block = Tile(("is", "stop")[number], block=True)
        self.board.take((2 + number, 2), block)
        self.board.put(cell, block)

    def _name_goal(self, cell: Cell, broken: Area) -> None:
        """Lay the block that names the goal, either in its rule or elsewhere."""
        block = Tile(self._goal, block=True)
        if self._task.make_win:
            self._place(broken, block)
        else:
            self.board.put(cell, block)

    def _things(self, player: Area, things: Area) -> None:
        self._place(player, Tile("baba"))
        self._place(things, Tile(self._goal))
        if self._task.second_thing:
            self._place(things, Tile(self._other))

    def _spell(self, cell: Cell, *words: str) -> None:
        """Lay blocks from left to right, replacing what lay there."""
        for number, word in enumerate(words):
            place = (cell[0] + number, cell[1])
            self.board.clear(place)
            self.board.put(place, Tile(word, block=True))

    def _at_edge(self, edge: tuple[Cell, ...], word: str) -> None:
        """Lay it on one of the cells, replacing what lay there."""
        cell = edge[self._dice.randint(0, len(edge))]
        self.board.clear(cell)
        self.board.put(cell, Tile(word, block=True))

    def _place(self, area: Area, tile: Tile) -> None:
        self.board.put(self._free(area), tile)

    def _free(self, area: Area) -> Cell:
        """Draw cells until one within the border is empty."""
        while True:
            x = int(self._dice.randint(area.left, area.right))
            y = int(self._dice.randint(area.top, area.bottom))
            if self.board.inside((x, y)) and not self.board.at((x, y)):
                return x, y
