"""Share one copy of NetHack's code between all games of a process.

NLE loads a copy of its library from memory for every game, since NetHack keeps its state in global
variables. Nine tenths of a copy are code and constants, which are equal in all of them. Once a game has
begun, those pages are mapped from the library's own file instead and the copy's are released, which saves
three megabytes per game. Pages that `library.py` has changed are not shared.

This is done only if the copy has the known layout, as in `library.py`. Otherwise it is not changed.
"""

import ctypes
import mmap
import os
import struct
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from balrog_rag.envs.nethack.library import ANSWERED, JUMP_SIZE, jump_to

_LOAD, _EXECUTED, _WRITTEN, _READ = 1, 1, 2, 4
_LAZY, _NOT_ANEW, _LINK_MAP = 1, 4, 2
_PRIVATE, _FIXED = 0x02, 0x10
_KEEP_SIZE, _PUNCH = 0x01, 0x02
_FAILED = ctypes.c_void_p(-1).value


class Pages(NamedTuple):
    """Whole pages of the library that no game writes to."""

    address: int
    """Their offset from the library's load address."""
    offset: int
    """Their offset in its file."""
    length: int
    protection: int


def share_code(game: Any) -> bool:
    """Let an `nle.nethack.Nethack` that has begun share its code; it must not be reset afterwards."""
    from nle.nethack import nethack

    pages = _shareable(nethack.DLPATH)
    base = _base(game.dlpath) if pages else None
    if base is None:
        return False
    with open(nethack.DLPATH, "rb") as library:
        if not all(_map(base + part.address, part, library.fileno()) for part in pages):
            return False  # what was mapped until then is the same code
    for part in pages:
        _libc().fallocate(game._dl.fileno(), _PUNCH | _KEEP_SIZE, part.offset, part.length)
    return True


@cache
def _shareable(path: str) -> tuple[Pages, ...]:
    """The shareable pages of the library at that path; none if it has an unknown layout."""
    jumps, size = [jump_to(path, function) for function in ANSWERED], mmap.PAGESIZE
    if None in jumps:
        return ()
    image = Path(path).read_bytes()
    start, width, count = struct.unpack_from("<Q", image, 32)[0], *struct.unpack_from("<HH", image, 54)
    headers = [struct.unpack_from("<IIQQQQ", image, start + width * n) for n in range(count)]
    loads = [header for header in headers if header[0] == _LOAD]
    own = {place // size for jump in jumps if jump is not None for place in (jump, jump + JUMP_SIZE)}
    for _, flags, offset, _, _, length in loads:
        if flags & _WRITTEN:
            own |= set(range(offset // size, (offset + length) // size + 1))
    found: list[Pages] = []
    for _, flags, offset, address, _, length in loads:
        if flags & _WRITTEN or (address - offset) % size:
            continue
        wanted = [page for page in range(offset // size, -(-(offset + length) // size)) if page not in own]
        protection = (mmap.PROT_READ if flags & _READ else 0) | (mmap.PROT_EXEC if flags & _EXECUTED else 0)
        found += [
            Pages(first * size + address - offset, first * size, (last - first + 1) * size, protection)
            for first, last in _runs(wanted)
        ]
    return tuple(found)


def _runs(numbers: list[int]) -> list[tuple[int, int]]:
    """The unbroken runs in ascending numbers, as first and last."""
    runs: list[tuple[int, int]] = []
    for number in numbers:
        if runs and runs[-1][1] == number - 1:
            runs[-1] = (runs[-1][0], number)
        else:
            runs.append((number, number))
    return runs


@cache
def _libc() -> Any:
    libc = ctypes.CDLL(None)
    libc.dlopen.restype, libc.dlopen.argtypes = ctypes.c_void_p, [ctypes.c_char_p, ctypes.c_int]
    libc.dlclose.argtypes = [ctypes.c_void_p]
    libc.dlinfo.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p]
    size, number = ctypes.c_size_t, ctypes.c_int
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, size, number, number, number, ctypes.c_long]
    libc.fallocate.argtypes = [number, number, ctypes.c_long, ctypes.c_long]
    return libc


def _base(path: str) -> int | None:
    """The address at which the library of that path is loaded."""
    libc = _libc()
    handle = libc.dlopen(os.fsencode(path), _LAZY | _NOT_ANEW)
    if not handle:
        return None
    try:
        link_map = ctypes.POINTER(ctypes.c_size_t)()
        if libc.dlinfo(handle, _LINK_MAP, ctypes.byref(link_map)):
            return None
        return int(link_map[0])
    finally:
        libc.dlclose(handle)


def _map(address: int, pages: Pages, library: int) -> bool:
    """Map the file's pages over those of the copy."""
    where = _libc().mmap(address, pages.length, pages.protection, _PRIVATE | _FIXED, library, pages.offset)
    return bool(where == address != _FAILED)
