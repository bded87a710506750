"""A board of Baba Is AI: the position of every tile, the rules that they spell, and the effect of a move."""

from collections.abc import Collection, Iterator
from typing import NamedTuple

Cell = tuple[int, int]
"""Column and row, from 0; the outermost are the border."""

DIRECTIONS: dict[str, Cell] = {"up": (0, -1), "right": (1, 0), "down": (0, 1), "left": (-1, 0)}
PROPERTIES = frozenset({"you", "win", "stop"})


class Tile(NamedTuple):
    """A thing, or a block with a word on it."""

    word: str
    block: bool = False


class Rule(NamedTuple):
    """`NOUN is WHAT`, where WHAT is a property or another noun."""

    noun: str
    what: str


class Board:
    """The tiles by cell, the newest on top."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        self.rules: tuple[Rule, ...] = ()
        self.facing = "right"
        """The direction that baba faces: that of the last move while it was YOU."""
        self._tiles: dict[Cell, list[Tile]] = {}
        self._nouns: dict[str, frozenset[str]] = {}

    def copy(self) -> "Board":
        """Copy the board, to try a move on."""
        made = Board(self.width, self.height)
        made.rules, made._nouns, made.facing = self.rules, self._nouns, self.facing
        made._tiles = {cell: list(tiles) for cell, tiles in self._tiles.items()}
        return made

    def put(self, cell: Cell, tile: Tile) -> None:
        """Lay a tile on a cell."""
        self._tiles.setdefault(cell, []).append(tile)

    def take(self, cell: Cell, tile: Tile) -> None:
        """Take a tile away."""
        self._tiles[cell].remove(tile)
        if not self._tiles[cell]:
            del self._tiles[cell]

    def clear(self, cell: Cell) -> None:
        """Take everything away from a cell."""
        self._tiles.pop(cell, None)

    def at(self, cell: Cell) -> tuple[Tile, ...]:
        """The tiles on a cell, from the bottom."""
        return tuple(self._tiles.get(cell, ()))

    def tops(self) -> Iterator[tuple[Cell, Tile]]:
        """The visible tiles, row by row."""
        for cell in sorted(self._tiles, key=_reading_order):
            yield cell, self._tiles[cell][-1]

    def things(self, nouns: Collection[str]) -> Iterator[tuple[Cell, Tile]]:
        """The things with these names, row by row."""
        for cell in sorted(self._tiles, key=_reading_order):
            yield from ((cell, tile) for tile in self._tiles[cell] if not tile.block and tile.word in nouns)

    def inside(self, cell: Cell) -> bool:
        """Whether a cell is within the border."""
        return 0 < cell[0] < self.width - 1 and 0 < cell[1] < self.height - 1

    def which(self, what: str) -> frozenset[str]:
        """The nouns with a property."""
        return self._nouns.get(what, frozenset())

    def blocks(self) -> tuple[tuple[Cell, str], ...]:
        """The positions of the blocks and their words, row by row."""
        return tuple(
            (cell, tile.word)
            for cell in sorted(self._tiles, key=_reading_order)
            for tile in self._tiles[cell]
            if tile.block
        )

    def may_enter(self, cell: Cell) -> bool:
        """Whether a cell can be walked onto without pushing anything."""
        stop = self.which("stop")
        return self.inside(cell) and not any(tile.block or tile.word in stop for tile in self.at(cell))

    def read(self) -> None:
        """Find the rules that the blocks spell, and transform things accordingly."""
        self.rules = tuple(self._spelled())
        properties = {rule.what for rule in self.rules}
        self._nouns = {
            what: frozenset(rule.noun for rule in self.rules if rule.what == what) for what in properties
        }
        for noun, what in self.rules:
            if what not in PROPERTIES:
                for cell, top in list(self.tops()):
                    if top == Tile(noun):
                        self.put(cell, Tile(what))

    def move(self, direction: str) -> bool:
        """Move everything that is YOU, by the current rules; return whether it reached a goal."""
        step = DIRECTIONS[direction]
        if "baba" in self.which("you"):
            self.facing = direction
        won = False
        players = list(self.things(self.which("you")))
        players.sort(key=lambda player: -(player[0][0] * step[0] + player[0][1] * step[1]))
        for cell, tile in players:
            ahead = _next(cell, step)
            if self._make_way(ahead, step):
                won = won or any(True for place, _ in self.things(self.which("win")) if place == ahead)
                self.take(cell, tile)
                self.put(ahead, tile)
        self.read()
        return won

    def _make_way(self, cell: Cell, step: Cell) -> bool:
        """Whether a cell can be entered; blocks on it are pushed."""
        if not self.inside(cell):
            return False
        tiles = self.at(cell)
        if any(not tile.block and tile.word in self.which("stop") for tile in tiles):
            return False
        blocks = [tile for tile in tiles if tile.block]
        if blocks and not self._make_way(_next(cell, step), step):
            return False
        for block in blocks:
            self.take(cell, block)
            self.put(_next(cell, step), block)
        return True

    def _spelled(self) -> Iterator[Rule]:
        """Rules from left to right and from top to bottom, ordered by their first blocks."""
        for cell in sorted(self._tiles, key=_reading_order):
            for step in (DIRECTIONS["right"], DIRECTIONS["down"]):
                second = _next(cell, step)
                noun, link, what = self._word(cell), self._word(second), self._word(_next(second, step))
                if link == "is" and noun not in (*PROPERTIES, "is", "") and what not in ("is", ""):
                    yield Rule(noun, what)

    def _word(self, cell: Cell) -> str:
        return next((tile.word for tile in self.at(cell) if tile.block), "")


def _next(cell: Cell, step: Cell) -> Cell:
    return cell[0] + step[0], cell[1] + step[1]


def _reading_order(cell: Cell) -> Cell:
    return cell[1], cell[0]
