"""Draw a board of Baba Is AI in a style of our own: things are shapes, blocks are words in a frame.

Of BALROG's pictures only hashes are known. Two of its pictures differ exactly if two of ours do: so the
direction in which baba was last moved is visible, and nothing else distinguishes two moments.
"""

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
    from PIL import Image, ImageDraw

    image = Image.new("RGB", (board.width * CELL, board.height * CELL), _BORDER)
    pen = ImageDraw.Draw(image)
    pen.rectangle((CELL, CELL, (board.width - 1) * CELL - 1, (board.height - 1) * CELL - 1), fill=_EMPTY)
    for (x, y), tile in board.tops():
        if tile.block:
            _draw_block(pen, x * CELL, y * CELL, tile)
        elif tile.word == "baba":
            _draw_baba(pen, x * CELL, y * CELL, DIRECTIONS[board.facing])
        else:
            _draw_thing(pen, x * CELL, y * CELL, tile)
    return np.asarray(image)


def _draw_block(pen: Any, x: int, y: int, tile: Tile) -> None:
    from PIL import ImageFont

    color = _COLORS[tile.word]
    pen.rectangle((x + 1, y + 1, x + CELL - 2, y + CELL - 2), outline=color)
    font = ImageFont.load_default_imagefont()
    pen.text((x + CELL / 2 - font.getlength(tile.word) / 2, y + 10), tile.word, fill=color, font=font)


def _draw_thing(pen: Any, x: int, y: int, tile: Tile) -> None:
    color = _COLORS[tile.word]
    if tile.word == "ball":
        pen.ellipse((x + 6, y + 6, x + 25, y + 25), fill=color)
    elif tile.word == "key":
        pen.ellipse((x + 4, y + 10, x + 15, y + 21), outline=color, width=3)
        pen.line((x + 15, y + 16, x + 27, y + 16), fill=color, width=3)
        pen.line((x + 25, y + 16, x + 25, y + 22), fill=color, width=3)
    elif tile.word == "door":
        pen.rectangle((x + 7, y + 3, x + 24, y + 30), fill=color)
        pen.ellipse((x + 19, y + 15, x + 22, y + 18), fill=_WHITE)
    else:
        pen.rectangle((x, y, x + CELL - 1, y + CELL - 1), fill=color)


def _draw_baba(pen: Any, x: int, y: int, facing: Cell) -> None:
    """A body with two ears, and eyes on the side that it faces."""
    pen.ellipse((x + 5, y + 9, x + 26, y + 27), fill=_COLORS["baba"])
    pen.polygon((x + 8, y + 12, x + 10, y + 2, x + 14, y + 11), fill=_COLORS["baba"])
    pen.polygon((x + 18, y + 11, x + 22, y + 2, x + 24, y + 12), fill=_COLORS["baba"])
    across, down = facing
    for side in (-3, 3):
        left, top = x + 14 + 5 * across + side * abs(down), y + 16 + 5 * down + side * abs(across)
        pen.ellipse((left, top, left + 3, top + 3), fill=_EMPTY)
