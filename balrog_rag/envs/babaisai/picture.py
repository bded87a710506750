"""Draw a board of Baba Is AI in a style of our own: things are shapes, blocks are words in a frame.

Of BALROG's pictures only hashes are known. Two of its pictures differ exactly if two of ours do: so the
direction in which baba was last moved is visible, and nothing else distinguishes two moments.
"""

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from balrog_rag.envs.babaisai.simulation import DIRECTIONS, Board, Cell, Tile

CELL = 32
_BORDER, _EMPTY, _WHITE = (90, 90, 90), (16, 16, 24), (255, 255, 255)
_COLORS = {
    "baba": (255, 255, 255),
    "wall": (130, 140, 160),
    "ball": (220, 60, 60),
    "key": (240, 210, 60),
    "door": (150, 100, 50),
    "is": (255, 255, 255),
    "you": (230, 90, 180),
    "win": (90, 210, 90),
    "stop": (90, 130, 230),
}


def draw_picture(board: Board) -> NDArray[Any]:
    """Return RGB bytes, 32 pixels per cell."""
    pixels = _blank(board.width, board.height).copy()
    for (x, y), tile in board.tops():
        facing = board.facing if tile.word == "baba" and not tile.block else ""
        border = not (0 < x < board.width - 1 and 0 < y < board.height - 1)
        pixels[y * CELL : (y + 1) * CELL, x * CELL : (x + 1) * CELL] = _cell(tile, facing, border)
    return pixels


@cache
def _blank(width: int, height: int) -> NDArray[Any]:
    pixels = np.empty((height * CELL, width * CELL, 3), np.uint8)
    pixels[:] = _BORDER
    pixels[CELL:-CELL, CELL:-CELL] = _EMPTY
    return pixels


@cache
def _cell(tile: Tile, facing: str, border: bool) -> NDArray[Any]:
    """Draw one cell; boards have few different ones, and drawing a word is slow."""
    from PIL import Image, ImageDraw

    image = Image.new("RGB", (CELL, CELL), _BORDER if border else _EMPTY)
    pen = ImageDraw.Draw(image)
    if tile.block:
        _draw_block(pen, tile)
    elif tile.word == "baba":
        _draw_baba(pen, DIRECTIONS[facing])
    else:
        _draw_thing(pen, tile)
    return np.asarray(image)


def _draw_block(pen: Any, tile: Tile) -> None:
    from PIL import ImageFont

    color = _COLORS[tile.word]
    pen.rectangle((1, 1, CELL - 2, CELL - 2), outline=color)
    font = ImageFont.load_default_imagefont()
    pen.text((CELL / 2 - font.getlength(tile.word) / 2, 10), tile.word, fill=color, font=font)


def _draw_thing(pen: Any, tile: Tile) -> None:
    color = _COLORS[tile.word]
    if tile.word == "ball":
        pen.ellipse((6, 6, 25, 25), fill=color)
    elif tile.word == "key":
        pen.ellipse((4, 10, 15, 21), outline=color, width=3)
        pen.line((15, 16, 27, 16), fill=color, width=3)
        pen.line((25, 16, 25, 22), fill=color, width=3)
    elif tile.word == "door":
        pen.rectangle((7, 3, 24, 30), fill=color)
        pen.ellipse((19, 15, 22, 18), fill=_WHITE)
    else:
        pen.rectangle((0, 0, CELL - 1, CELL - 1), fill=color)


def _draw_baba(pen: Any, facing: Cell) -> None:
    """A body with two ears, and eyes on the side that it faces."""
    pen.ellipse((5, 9, 26, 27), fill=_COLORS["baba"])
    pen.polygon((8, 12, 10, 2, 14, 11), fill=_COLORS["baba"])
    pen.polygon((18, 11, 22, 2, 24, 12), fill=_COLORS["baba"])
    across, down = facing
    for side in (-3, 3):
        left, top = 14 + 5 * across + side * abs(down), 16 + 5 * down + side * abs(across)
        pen.ellipse((left, top, left + 3, top + 3), fill=_EMPTY)
