"""The map as a picture for multimodal models: MiniHack's tiles, 16 by 16 pixels each, as PNG."""

import warnings
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from balrog_rag.util.png import png

_TILE = 16


@cache
def _tiles() -> NDArray[np.uint8]:
    """The picture of every glyph."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # its import of pkg_resources warns
        from minihack.tiles import GlyphMapper, glyph2tile

    pictures = GlyphMapper().tiles
    return np.stack([pictures[tile] for tile in glyph2tile], dtype=np.uint8)


def drawn_tiles(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Draw the map of a moment's arrays."""
    return painter()(arrays["glyphs"])


def painter() -> Callable[[NDArray[Any]], bytes]:
    """Return a function that converts a glyph map to a PNG."""
    tiles = _tiles()

    def paint(glyphs: NDArray[Any]) -> bytes:
        rows, columns = glyphs.shape
        squares = tiles[glyphs]
        return png(squares.swapaxes(1, 2).reshape(rows * _TILE, columns * _TILE, 3))

    return paint
