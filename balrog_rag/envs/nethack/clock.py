"""Isolate NetHack from the wall clock.

NetHack reads the time when a game begins, and shopkeepers' names, some prices, the kinds of ants in an
anthill and the date on a tombstone depend on it (https://github.com/NetHack-LE/nle/issues/129). Here a game
gets a time derived from its seed; if that is impossible, `clock_pinned` says so.
"""

import struct
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from balrog_rag.envs.nethack.library import answer, jump_to

EARLIEST = 947_937_600
"""Noon of 15 January 2000, UTC."""
_HOUR, _DAY, _DAYS = 3_600, 86_400, 300


def _code(seconds: int) -> bytes:
    """Machine code of `time_t time(time_t *where)` that always returns the same time."""
    code = b"\xb8" + struct.pack("<I", seconds)  # mov eax, seconds
    code += b"\x48\x85\xff\x74\x03"  # test rdi, rdi; jz over the next instruction
    return code + b"\x48\x89\x07\xc3"  # mov [rdi], rax; ret


def time_of(seed: int) -> int:
    """The time of a game with this seed: an hour after noon of a day in 2000, in every time zone."""
    day, second = divmod(seed, _HOUR)
    return EARLIEST + day % _DAYS * _DAY + second


def clock_pinned() -> bool:
    """Whether games here are independent of the wall clock; determined without importing NLE."""
    package = find_spec("nle")
    if package is None or package.origin is None:
        return False
    return jump_to(str(Path(package.origin).with_name("libnethack.so")), b"time") is not None


def pin_clock(game: Any, seed: int) -> bool:
    """Fix the time of an `nle.nethack.Nethack` before it starts; return whether that was possible."""
    return answer(game, b"time", _code(time_of(seed)))
