"""Replace functions of the C library in NLE's copies of the NetHack library, before a copy is loaded.

NLE loads a copy of its library for every game from a file that it holds open. The copy calls the C library
through jumps; such a jump is replaced by code that returns a fixed answer.

This is done only if the copy has the known layout (64-bit Linux on x86). Otherwise it is not changed.
"""

import os
import struct
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

_X86_64, _ELF64_LITTLE = 62, b"\x7fELF\x02\x01"
_LOAD, _DYNAMIC = 1, 2
_STRINGS, _SYMBOLS, _JUMPS_SIZE, _JUMPS = 5, 6, 2, 23
_SYMBOL = 24
JUMP_SIZE = 16
"""Length of a jump in bytes, and so of the code that can replace it."""
ANSWERED = (b"time", b"getenv", b"nh_getenv")
"""The functions of which a game's copy does not reach the originals."""


class _Library:
    """An ELF shared library as bytes, read by load address."""

    def __init__(self, image: bytes) -> None:
        self.image = image
        start, size, count = struct.unpack_from("<Q", image, 32)[0], *struct.unpack_from("<HH", image, 54)
        headers = [struct.unpack_from("<IIQQQQ", image, start + size * n) for n in range(count)]
        self._loads: list[tuple[int, int, int]] = [
            (at, offset, size) for kind, _, offset, at, _, size in headers if kind == _LOAD
        ]
        table = next(offset for kind, _, offset, _, _, _ in headers if kind == _DYNAMIC)
        self.dynamic: dict[int, int] = {}
        for tag, value in struct.iter_unpack("<QQ", image[table : len(image) - (len(image) - table) % 16]):
            if tag == 0:
                break
            self.dynamic.setdefault(tag, value)

    def offset(self, address: int) -> int:
        """The offset of an address in the file."""
        return next(
            address - at + offset for at, offset, length in self._loads if at <= address < at + length
        )

    def unpack(self, form: str, address: int) -> tuple[Any, ...]:
        """Unpack numbers at an address."""
        return struct.unpack_from(form, self.image, self.offset(address))

    def slots(self, names: Sequence[bytes]) -> dict[bytes, list[int]]:
        """The addresses of the jump slots of imported functions."""
        found: dict[bytes, list[int]] = {name: [] for name in names}
        symbols, strings = self.offset(self.dynamic[_SYMBOLS]), self.offset(self.dynamic[_STRINGS])
        jumps = self.offset(self.dynamic[_JUMPS])
        # Thousands of entries, when a worker opens its first game: the tables are located once.
        for slot, info, _ in struct.iter_unpack(
            "<QQQ", self.image[jumps : jumps + self.dynamic[_JUMPS_SIZE]]
        ):
            (string,) = struct.unpack_from("<I", self.image, symbols + _SYMBOL * (info >> 32))
            begin = strings + string
            name = self.image[begin : self.image.index(b"\0", begin)]
            if name in found:
                found[name].append(slot)
        return found


def jump_to(path: str, function: bytes) -> int | None:
    """The offset in a library's file of the jump to an answered function; None if its layout is unknown."""
    return _jumps(path).get(function)


@cache
def _jumps(path: str) -> dict[bytes, int]:
    """The offsets of the jumps to all answered functions."""
    try:
        image = Path(path).read_bytes()
        if not image.startswith(_ELF64_LITTLE) or struct.unpack_from("<H", image, 18)[0] != _X86_64:
            return {}
        library = _Library(image)
        found = {name: _find(library, slots) for name, slots in library.slots(ANSWERED).items()}
    except (OSError, struct.error, KeyError, StopIteration, OverflowError, ValueError):
        return {}
    return {name: offset for name, offset in found.items() if offset is not None}


def _find(library: _Library, slots: Sequence[int]) -> int | None:
    if len(slots) != 1:
        return None
    # Before it is bound, the slot leads back behind the stub's first instruction, a jump through that slot.
    stub = library.unpack("<Q", slots[0])[0] - 6
    jump, distance, push = library.unpack("<HiB", stub)
    if jump != 0x25FF or push != 0x68 or stub + 6 + distance != slots[0]:
        return None
    return library.offset(stub)


def answer(game: Any, function: bytes, code: bytes) -> bool:
    """Replace a function with this code in an `nle.nethack.Nethack` that has not started, if possible."""
    from nle.nethack import nethack

    offset = jump_to(nethack.DLPATH, function)
    if offset is None:
        return False
    os.pwrite(game._dl.fileno(), code.ljust(JUMP_SIZE, b"\x90"), offset)
    return True
