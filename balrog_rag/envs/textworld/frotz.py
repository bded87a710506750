"""jericho's Frotz with one game, whose file is mapped instead of copied.

jericho keeps the file in memory three times for each game: as it was read, as Frotz read it again, and as the
machine's own memory, of which a game changes the first ninth. All three are pages of the file here, shared by
every game that plays it: a further game needs 0.8 MB less.

The first of them must outlive the game: `restart` reads from it.
"""

import ctypes
import mmap
import os
import warnings
import weakref
from functools import cache
from pathlib import Path
from typing import Any

_ANY_SEED = -1
"""The games draw nothing by chance."""
_PRIVATE = 0x02
_FAILED = ctypes.c_void_p(-1).value


class FrotzGame:
    """One game in Frotz."""

    def __init__(self, path: Path) -> None:
        import jericho

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the interpreter does not know these games by name
            env = jericho.FrotzEnv(str(path), _ANY_SEED)
        pages, memory = _MappedFile(path, mmap.PROT_READ), _MappedFile(path, mmap.PROT_READ | mmap.PROT_WRITE)
        env.close()  # it began the game from a copy
        self._frotz = env.frotz_lib
        file = ctypes.c_char_p(pages.address)
        self.first_page: str = self._frotz.setup(os.fsencode(path), _ANY_SEED, file, pages.size).decode(
            "cp1252"
        )
        vars(env).get("_cache", {}).clear()
        # Holds `env`, which would give the pages back to the allocator if it ended first.
        self._release = weakref.finalize(self, _released, env, pages, memory)
        _replaced(self._frotz, pages, memory)

    def step(self, command: str) -> str:
        """Type a line."""
        text: bytes = self._frotz.step(command.encode() + b"\n")
        return text.decode("cp1252")

    def close(self) -> None:
        """Give everything back; once is enough."""
        self._release()


class _MappedFile:
    """A file's pages in memory; what is written to them stays in this process."""

    def __init__(self, path: Path, protection: int) -> None:
        with open(path, "rb") as file:
            self.size = os.fstat(file.fileno()).st_size
            self.address = _libc().mmap(None, self.size, protection, _PRIVATE, file.fileno(), 0)
        if self.address == _FAILED:
            raise OSError(f"{path}: cannot be mapped")

    def close(self) -> None:
        """Unmap it."""
        _libc().munmap(self.address, self.size)


def _replaced(frotz: Any, pages: _MappedFile, memory: _MappedFile) -> None:
    """Let Frotz use the mapped pages instead of its two copies."""
    copy, machine = (ctypes.c_void_p.in_dll(frotz, name) for name in ("stf_buff", "zmp"))
    assert machine.value is not None, "the game has not begun"
    counter = frotz.getPC()  # relative to the machine's memory
    ctypes.memmove(memory.address, machine.value, frotz.getRAMSize())
    _libc().free(copy)
    _libc().free(machine)
    copy.value, machine.value = pages.address, memory.address
    frotz.setPC(counter)


def _released(env: Any, pages: _MappedFile, memory: _MappedFile) -> None:
    for name in ("stf_buff", "zmp"):
        ctypes.c_void_p.in_dll(env.frotz_lib, name).value = None
    env.close()
    pages.close()
    memory.close()


@cache
def _libc() -> Any:
    libc = ctypes.CDLL(None)
    size, number = ctypes.c_size_t, ctypes.c_int
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, size, number, number, number, ctypes.c_long]
    libc.munmap.argtypes = [ctypes.c_void_p, size]
    libc.free.argtypes, libc.free.restype = [ctypes.c_void_p], None
    return libc
