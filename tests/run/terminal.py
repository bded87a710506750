"""A run on a real pseudo-terminal: its output, and keys pressed in it."""

import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from fcntl import ioctl
from pathlib import Path

from tests.support import CLEAN, PATIENCE


class Terminal:
    """A run on a pseudo-terminal of 30 lines."""

    def __init__(self, folder: Path, *words: str) -> None:
        self.master, self.slave = pty.openpty()
        ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 120, 0, 0))
        self.process = subprocess.Popen(
            [sys.executable, "-m", "balrog_rag.eval", "model=scripted", *words],
            cwd=folder,
            env={**CLEAN, "TERM": "xterm-256color"},
            stdin=self.slave,
            stdout=self.slave,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )

    def until(self, pattern: str, seconds: float = PATIENCE) -> str:
        """Read until a text appears; return everything drawn."""
        drawn, deadline = "", time.monotonic() + seconds
        while time.monotonic() < deadline:
            if select.select([self.master], [], [], 0.1)[0]:
                drawn += os.read(self.master, 65536).decode(errors="replace")
                if re.search(pattern, re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", drawn)):
                    return drawn
        raise AssertionError(f"{pattern!r} was not drawn; the last was {drawn[-2000:]!r}")

    def press(self, keys: bytes) -> None:
        os.write(self.master, keys)


@contextmanager
def terminal(folder: Path, *words: str) -> Iterator[Terminal]:
    shown = Terminal(folder, *words)
    try:
        yield shown
    finally:
        shown.process.kill()
        shown.process.communicate()
        os.close(shown.master)
        os.close(shown.slave)
