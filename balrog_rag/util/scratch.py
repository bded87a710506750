"""Temporary files that do not outlive their process for long, however it ended.

Each process has a folder of its own and holds a lock on it, which the system takes back when the process is
gone, be it by `kill -9`. The next process to need such a folder removes those of this user that nobody holds.
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


def folder() -> str:
    """This process's folder, which goes when it ends."""
    mine = _folder_of(os.getpid())
    if not os.path.isdir(mine):  # somebody tidied up
        _folder_of.cache_clear()
        mine = _folder_of(os.getpid())
    return mine


@cache
def _folder_of(process: int) -> str:
    """A forked process gets another than the one that it was forked from."""
    top = tempfile.gettempdir()
    remove_abandoned(top)
    made = tempfile.mkdtemp(prefix=_UNLOCKED, dir=top)
    if not _locked(made):  # no locks on this file system: under this name it is never taken for abandoned
        mine = made
    else:
        mine = os.path.join(top, PREFIX + os.path.basename(made).removeprefix(_UNLOCKED))
        os.rename(made, mine)  # only now, so that under the other name it is never seen without its lock
    atexit.register(_remove, mine, process)
    return mine


def _remove(mine: str, process: int) -> None:
    if os.getpid() == process:
        shutil.rmtree(mine, ignore_errors=True)


def remove_abandoned(top: str) -> None:
    """Remove the folders of this user's processes that are gone."""
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
    """The open folder, locked until it is closed or the process ends; 0 where it cannot be had."""
    opened = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(opened)
        return 0
    return opened
