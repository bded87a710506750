"""Temporary folders that are cleaned up however their process ended.

Each process has its own folder and holds a lock on it, which the OS releases when the process ends, even by
`kill -9`. The next process that needs such a folder removes those of this user that are not locked.
"""

import atexit
import fcntl
import os
import shutil
import tempfile
from contextlib import suppress
from functools import cache
from stat import S_ISDIR

PREFIX = "balrog_rag-of-"
_UNLOCKED = "balrog_rag-new-"
MEMORY = "/dev/shm"
"""Where Linux keeps files in memory."""
ROOM = 1 << 30
"""Free bytes from which files are kept there: containers have 64 MB by default, which games could fill."""


def folder(top: str | None = None) -> str:
    """Return this process's temporary folder below `top`, which is removed when the process ends.

    None: where temporary files usually go.
    """
    top = top or tempfile.gettempdir()
    mine = _folder_of(os.getpid(), top)
    if not os.path.isdir(mine):  # deleted from outside
        _folder_of.cache_clear()
        mine = _folder_of(os.getpid(), top)
    return mine


def quick_top(memory: str = MEMORY, room: int = ROOM) -> str:
    """Return where small files are made quickly: in memory, unless that is small or the user chose a place.

    A game can begin with several files, and making them on a disk can take as long as the rest of its start.
    One may be a library, which cannot be loaded from a file system mounted `noexec`, as in many containers.
    """
    usual = tempfile.gettempdir()
    if os.environ.get("TMPDIR"):
        return usual
    try:
        found = os.statvfs(memory)
    except OSError:
        return usual
    roomy = found.f_bavail * found.f_frsize >= room and not found.f_flag & os.ST_NOEXEC
    return memory if roomy and os.access(memory, os.R_OK | os.W_OK | os.X_OK) else usual


@cache
def _folder_of(process: int, top: str) -> str:
    """Return the folder's path; a forked process must not share that of its parent."""
    remove_abandoned(top)
    made = tempfile.mkdtemp(prefix=_UNLOCKED, dir=top)
    if not _locked(made):  # a file system without locks: a folder of this name is never removed as abandoned
        mine = made
    else:
        mine = os.path.join(top, PREFIX + os.path.basename(made).removeprefix(_UNLOCKED))
        os.rename(made, mine)  # renamed after locking: other processes never see the final name unlocked
    atexit.register(_remove, mine, process)
    return mine


def _remove(mine: str, process: int) -> None:
    if os.getpid() == process:
        shutil.rmtree(mine, ignore_errors=True)


def remove_abandoned(top: str) -> None:
    """Remove the folders of this user's processes that have ended."""
    with suppress(OSError), os.scandir(top) as entries:
        for entry in entries:
            if entry.name.startswith(PREFIX):
                with suppress(OSError):
                    _remove_if_abandoned(entry.path)


def _remove_if_abandoned(path: str) -> None:
    status = os.lstat(path)
    if not S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
        return
    held = _locked(path)
    if held:
        shutil.rmtree(path, ignore_errors=True)
        os.close(held)


def _locked(path: str) -> int:
    """Return a descriptor of the folder, locked until it is closed or the process ends; 0 if that fails."""
    opened = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(opened)
        return 0
    return opened
