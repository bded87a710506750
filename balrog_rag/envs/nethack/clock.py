"""Keeps the wall clock out of NetHack.

NetHack reads the time when a game begins, and shopkeepers' names, some prices, the kinds of ants in an
anthill and the date on a tombstone come from it (https://github.com/NetHack-LE/nle/issues/129). NLE loads
a copy of its library for every game from a file that it holds open; in that copy, before it is loaded, we
put a fixed answer in the place of the jump to the C library's `time`.

This is done where the copy is as we know it: 64-bit Linux on x86. Elsewhere nothing is touched, and
`clock_pinned` says so.
"""

import os
import struct
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

_X86_64, _ELF64_LITTLE = 62, b"\x7fELF\x02\x01"
_LOAD, _DYNAMIC = 1, 2
_STRINGS, _SYMBOLS, _JUMPS_SIZE, _JUMPS = 5, 6, 2, 23
_ENTRY, _SYMBOL = 24, 24
_STUB_SIZE = 16

EARLIEST = 947_937_600
"""Noon of 15 January 2000, UTC."""
_HOUR, _DAY, _DAYS = 3_600, 86_400, 300


class _Library:
    """An ELF shared library as bytes, read by the addresses it would be loaded to."""

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
        """Where in the file an address lies."""
        return next(
            address - at + offset for at, offset, length in self._loads if at <= address < at + length
        )

    def unpack(self, form: str, address: int) -> tuple[Any, ...]:
        """Numbers at an address."""
        return struct.unpack_from(form, self.image, self.offset(address))

    def slots(self, name: bytes) -> list[int]:
        """The addresses of the jump slots of an imported function."""
        found = []
        for n in range(self.dynamic[_JUMPS_SIZE] // _ENTRY):
            slot, info = self.unpack("<QQ", self.dynamic[_JUMPS] + _ENTRY * n)
            (string,) = self.unpack("<I", self.dynamic[_SYMBOLS] + _SYMBOL * (info >> 32))
            begin = self.offset(self.dynamic[_STRINGS] + string)
            if self.image[begin : begin + len(name) + 1] == name + b"\0":
                found.append(slot)
        return found


@cache
def _jump_to_time(path: str) -> int | None:
    """Where in this library's file the jump to `time` stands; None where it is not built as we know it."""
    try:
        image = Path(path).read_bytes()
        if not image.startswith(_ELF64_LITTLE) or struct.unpack_from("<H", image, 18)[0] != _X86_64:
            return None
        return _find(_Library(image))
    except (OSError, struct.error, KeyError, StopIteration, OverflowError):
        return None


def _find(library: _Library) -> int | None:
    slots = library.slots(b"time")
    if len(slots) != 1:
        return None
    # Before it is bound, the slot leads back behind the stub's first instruction, a jump through that slot.
    stub = library.unpack("<Q", slots[0])[0] - 6
    jump, distance, push = library.unpack("<HiB", stub)
    if jump != 0x25FF or push != 0x68 or stub + 6 + distance != slots[0]:
        return None
    return library.offset(stub)


def stub_of(path: str) -> int | None:
    """Where in a library's file the jump to `time` stands; None where it is not built as we know it."""
    return _jump_to_time(path)


def _stub(seconds: int) -> bytes:
    """Machine code of `time_t time(time_t *where)` that always gives the same time."""
    code = b"\xb8" + struct.pack("<I", seconds)  # mov eax, seconds
    code += b"\x48\x85\xff\x74\x03"  # test rdi, rdi; jz over the next instruction
    code += b"\x48\x89\x07\xc3"  # mov [rdi], rax; ret
    return code.ljust(_STUB_SIZE, b"\x90")


def time_of(seed: int) -> int:
    """The time a game with this seed takes place at: the hour after a noon of 2000, in every time zone."""
    day, second = divmod(seed, _HOUR)
    return EARLIEST + day % _DAYS * _DAY + second


def clock_pinned() -> bool:
    """Whether games here are free of the wall clock; found out without importing NLE."""
    package = find_spec("nle")
    if package is None or package.origin is None:
        return False
    return _jump_to_time(str(Path(package.origin).with_name("libnethack.so"))) is not None


def pin_clock(game: Any, seed: int) -> bool:
    """Fix the time of an `nle.nethack.Nethack` that was not yet started; whether that was possible."""
    from nle.nethack import nethack

    offset = _jump_to_time(nethack.DLPATH)
    if offset is None:
        return False
    os.pwrite(game._dl.fileno(), _stub(time_of(seed)), offset)
    return True
