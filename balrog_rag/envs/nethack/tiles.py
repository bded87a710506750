"""The map as a picture, for models that see: MiniHack's tiles, 16 by 16 pixels each, as PNG."""

import struct
import zlib
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

_TILE = 16
_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_EIGHT_BIT_RGB = bytes((8, 2, 0, 0, 0))


@cache
def _tiles() -> NDArray[np.uint8]:
    """The picture of every glyph."""
    from minihack.tiles import GlyphMapper, glyph2tile

    pictures = GlyphMapper().tiles
    return np.stack([pictures[tile] for tile in glyph2tile], dtype=np.uint8)


def painter() -> Callable[[NDArray[Any]], bytes]:
    """What turns a glyph map into a PNG."""
    tiles = _tiles()

    def paint(glyphs: NDArray[Any]) -> bytes:
        rows, columns = glyphs.shape
        squares = tiles[glyphs]
        return png(squares.swapaxes(1, 2).reshape(rows * _TILE, columns * _TILE, 3))

    return paint


def png(pixels: NDArray[np.uint8]) -> bytes:
    """An RGB picture as PNG; the same pixels are the same bytes, as long as zlib is the same."""
    height, width, _ = pixels.shape
    lines = np.zeros((height, width * 3 + 1), np.uint8)
    lines[:, 1:] = pixels.reshape(height, -1)
    header = struct.pack(">II", width, height) + _EIGHT_BIT_RGB
    return _SIGNATURE + b"".join(
        _chunk(name, data)
        for name, data in ((b"IHDR", header), (b"IDAT", zlib.compress(lines.tobytes(), 6)), (b"IEND", b""))
    )


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
