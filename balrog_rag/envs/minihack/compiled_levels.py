"""Compile a level description once per process instead of once per game.

MiniHack compiles a description in a shell, beside a copy of all of NetHack's level files, whenever it creates
a game. Equal descriptions give equal files, so those of the last few are kept.
"""

import os
import subprocess
import tempfile
from functools import lru_cache
from pathlib import Path
from typing import Any

from balrog_rag.envs.minihack.package import import_minihack

_MOST_KEPT = 8
"""Compiled descriptions that are kept, of a megabyte each."""
_DATA = "nhdat"


def compile_once() -> None:
    """Let MiniHack's environments of this process take compiled levels from here."""
    import_minihack()
    from minihack.base import MiniHack

    MiniHack._patch_nhdat = _take_compiled


def _take_compiled(task: Any, description: str) -> None:
    """Give a task's game the data file with this description, which is a text or the path of a file."""
    data, task.level_compiles = _compiled(_source_of(description))
    target = Path(task.nethack._vardir, _DATA)
    target.unlink(missing_ok=True)  # a link to NetHack's own
    target.write_bytes(data)


def _source_of(description: str) -> bytes:
    from minihack.base import PATH_DAT_DIR

    if not description.endswith(".des"):
        return description.encode()
    path = Path(description)
    return (path if path.exists() else Path(PATH_DAT_DIR, description)).read_bytes()


@lru_cache(_MOST_KEPT)
def _compiled(source: bytes) -> tuple[bytes, bool]:
    """The data file with a compiled description, and whether it compiles."""
    from minihack import base

    with tempfile.TemporaryDirectory(prefix="balrog-rag-level-") as folder:
        path = Path(folder, "mylevel.des")
        path.write_bytes(source)
        # The script fails for a wrong description too late to say so, and only prints why.
        command = [base.PATCH_SCRIPT, folder, base.HACKDIR, base.LIB_DIR, os.fspath(path)]
        subprocess.run(command, check=False)
        return Path(folder, _DATA).read_bytes(), Path(folder, "lib", "mylevel.lev").exists()
