"""Files in a folder that somebody else may have made: what is read is a file, what is written is no link."""

import errno
import os
from pathlib import Path
from stat import S_ISREG
from typing import TextIO, cast


def read_file(path: Path) -> bytes:
    """What stands in a file; an OSError at once where it is none: a pipe would be waited for for ever."""
    number = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(number, "rb") as file:
        if not S_ISREG(os.fstat(number).st_mode):
            raise OSError(errno.EINVAL, "no file", str(path))
        return file.read()


def no_link(path: str, flags: int) -> int:
    """An opener for `open`: what is behind a link is not written to, nor waited for behind a pipe."""
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o666)


def text_file(path: Path, mode: str, buffering: int = 1, newline: str | None = None) -> TextIO:
    """A text file to write or to append to; an OSError where it is a link."""
    return cast(TextIO, open(path, mode, buffering, "utf-8", "replace", newline, opener=no_link))


def strange(folder: Path) -> Path | None:
    """The first thing anywhere in a folder that is neither a file nor a folder: a link, a pipe, a device."""
    left = [folder]
    while left:
        with os.scandir(left.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    left.append(Path(entry.path))
                elif not entry.is_file(follow_symlinks=False):
                    return Path(entry.path)
    return None
