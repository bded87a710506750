"""Encode images as PNG."""

import struct
import zlib

import numpy as np
from numpy.typing import NDArray

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_EIGHT_BIT_RGB = bytes((8, 2, 0, 0, 0))


def png(pixels: NDArray[np.uint8]) -> bytes:
    """Encode an RGB image; equal pixels give equal bytes for a given zlib version."""
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
