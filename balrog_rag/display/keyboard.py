"""Read keys from the terminal without blocking the event loop."""

import asyncio
import os
import sys
import termios
import tty
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

NAMES = {
    b"e": "ended", b"t": "tasks", b"s": "sort", b"?": "help",
    b" ": "pause", b"+": "more", b"=": "more", b"-": "fewer", b"q": "stop",
    b"\x1b[A": "up", b"\x1bOA": "up", b"k": "up", b"\x1b[B": "down", b"\x1bOB": "down", b"j": "down",
    b"\r": "open", b"\n": "open", b"\x1b": "back", b"\x1b[D": "back", b"\x1b[C": "open",
}  # fmt: skip


@asynccontextmanager
async def keys(pressed: Callable[[str], None]) -> AsyncIterator[None]:
    """Call `pressed` with the name of each known key; Ctrl-C remains a signal. Requires a tty on stdin."""
    if not sys.stdin.isatty():
        yield
        return
    descriptor, loop = sys.stdin.fileno(), asyncio.get_running_loop()
    before = termios.tcgetattr(descriptor)
    tty.setcbreak(descriptor)
    loop.add_reader(descriptor, _read, descriptor, pressed)
    try:
        yield
    finally:
        loop.remove_reader(descriptor)
        with suppress(termios.error):  # a closed terminal needs no restoring
            termios.tcsetattr(descriptor, termios.TCSANOW, before)


def _read(descriptor: int, pressed: Callable[[str], None]) -> None:
    try:
        typed = os.read(descriptor, 256)
    except OSError:
        typed = b""
    if not typed:  # the terminal was closed and would be readable forever
        asyncio.get_running_loop().remove_reader(descriptor)
    for key in split(typed):
        if key in NAMES:
            pressed(NAMES[key])


def split(data: bytes) -> list[bytes]:
    """Split typed bytes into keys; an arrow key is several bytes."""
    found, at = [], 0
    while at < len(data):
        size = 3 if data[at : at + 2] in (b"\x1b[", b"\x1bO") else 1
        found.append(data[at : at + size])
        at += size
    return found
