"""Give a game in a forked process files of its own, so that it and the original do not change each other's.

NetHack writes a file for every level that the hero leaves, and reads its data through a file that stays open.
"""

import ctypes
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

_PREFIXES = 10
"""Kinds of files whose folder NetHack keeps in `fqn_prefix`."""

_originals: list[Any] = []
"""Folders of games that other processes play, kept from being removed by this one."""


def take_own_files(game: Any) -> None:
    """Copy the folder of an `nle.nethack.Nethack`, and let it use the copy from now on."""
    old = game._vardir
    folder = tempfile.TemporaryDirectory(prefix="nle")
    shutil.copytree(old, folder.name, symlinks=True, dirs_exist_ok=True)
    prefixes = (ctypes.c_char_p * _PREFIXES).in_dll(ctypes.CDLL(game.dlpath), "fqn_prefix")
    for place, path in enumerate(prefixes):
        if path == os.fsencode(old) + b"/":
            prefixes[place] = os.fsencode(folder.name) + b"/"
    # A temporary folder is removed with its object, but this one is the original's.
    _originals.append(game._tempdir)
    # The array keeps the new paths alive.
    game._own_prefixes, game._tempdir, game._vardir = prefixes, folder, folder.name
    _reopen(Path(old, "nhdat"))


def _reopen(data: Path) -> None:
    """Open a data file anew wherever it is open: forked processes would move each other's position in it."""
    path = os.path.realpath(data)
    for entry in os.listdir("/proc/self/fd"):
        descriptor = int(entry)
        try:
            if os.readlink(f"/proc/self/fd/{entry}") != path:
                continue
        except OSError:  # the listing's own descriptor, which is closed by now
            continue
        position = os.lseek(descriptor, 0, os.SEEK_CUR)
        fresh = os.open(path, os.O_RDONLY)
        os.lseek(fresh, position, os.SEEK_SET)
        os.dup2(fresh, descriptor)
        os.close(fresh)
