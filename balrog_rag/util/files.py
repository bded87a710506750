"""Access files in untrusted folders: read only regular files of bounded size, never write through links."""

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BufferedWriter, FileIO
from pathlib import Path
from stat import S_ISREG
from typing import Any, BinaryIO, TextIO, cast

MEGABYTE = 1 << 20
MOST = 64 * MEGABYTE
"""Largest settings or record file that is read. A run's index has a separate limit."""
LARGE = 1024 * MEGABYTE
"""Largest journal or step table that is read."""


def read_file(path: Path, most: int = MOST) -> bytes:
    """Return a file's content; raises OSError if it is larger than `most` bytes or not a regular file.

    A sparse file of terabytes is cheap to make, and reading a pipe could block forever.
    """
    number = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(number, "rb") as file:
        status = os.fstat(number)
        if not S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "not a regular file", str(path))
        if status.st_size > most:
            raise OSError(errno.EFBIG, too_large(status.st_size, most), str(path))
        # Not `most + 1`: that much memory is reserved, and a limit may be larger than the machine's.
        data = file.read(min(most, status.st_size) + 1)
    if len(data) > most:  # it grew while being read
        raise OSError(errno.EFBIG, too_large(len(data), most), str(path))
    return data


def too_large(size: int, most: int) -> str:
    """Describe a file size over the limit."""
    return f"{size // MEGABYTE} MB, at most {most // MEGABYTE} MB are read"


def no_link(path: str, flags: int) -> int:
    """Opener for `open` that writes only to the file of this name; raises OSError for links and pipes.

    Truncating a file that has a second name (a hard link) would destroy the other file's content, so a new
    file replaces it. Appending to such a file is refused.
    """
    flags |= os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    number = os.open(path, flags & ~os.O_TRUNC, 0o666)
    status = os.fstat(number)
    if not S_ISREG(status.st_mode):
        return number
    if status.st_nlink > 1:
        os.close(number)
        if not flags & os.O_TRUNC:
            raise OSError(errno.EMLINK, HARD_LINK, path)
        os.unlink(path)
        return os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o666)
    if flags & os.O_TRUNC:
        os.ftruncate(number, 0)
    return number


HARD_LINK = "another name (hard link) shares this file; replace it by a copy"


def lock(number: int) -> bool:
    """Lock an open file until it is closed; False if another process, or another open file, has it.

    True on file systems without locks.
    """
    return _locked(number, fcntl.LOCK_EX)


def lock_shared(number: int) -> bool:
    """Lock an open file against writers until it is closed; False if somebody is writing to it."""
    return _locked(number, fcntl.LOCK_SH)


def _locked(number: int, kind: int) -> bool:
    try:
        fcntl.flock(number, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # this file system has no locks
        return True
    return True


def text_file(path: Path, mode: str, buffering: int = 1, newline: str | None = None) -> TextIO:
    """Open a text file for writing or appending; raises OSError for links and pipes."""
    return cast(TextIO, open(path, mode, buffering, "utf-8", "replace", newline, opener=no_link))


class FileNotWritten(Exception):
    """A file could not be written, for example because the disk is full; the message names it."""

    def __init__(self, path: Path, error: OSError) -> None:
        super().__init__(f"{path}: cannot be written ({error.strerror or error})")


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Write to a temporary file that replaces `path` once it is complete."""
    draft = path.with_name(f".{path.name}.draft")
    try:
        with BufferedWriter(_opened(draft, path)) as file:
            yield file
        try:
            draft.replace(path)
        except OSError as error:  # for example because a folder has this name
            raise FileNotWritten(path, error) from error
    finally:
        with suppress(OSError):  # a name that is too long has no draft
            draft.unlink()


def _opened(draft: Path, path: Path) -> "_Writer":
    try:
        return _Writer(draft, path)
    except OSError as error:
        raise FileNotWritten(path, error) from error


class _Writer(FileIO):
    """A file whose errors name it; OS errors while writing do not."""

    def __init__(self, draft: Path, path: Path) -> None:
        super().__init__(draft, "wb", opener=no_link)
        self._path = path

    def write(self, data: Any) -> Any:
        """Write, or raise FileNotWritten."""
        try:
            return super().write(data)
        except OSError as error:
            raise FileNotWritten(self._path, error) from error


def strange(folder: Path) -> Path | None:
    """Return the first entry anywhere in a folder that is neither a file nor a folder: link, pipe, device."""
    left = [folder]
    while left:
        with os.scandir(left.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    left.append(Path(entry.path))
                elif not entry.is_file(follow_symlinks=False):
                    return Path(entry.path)
    return None


def file_in_the_way(folder: Path) -> Path | None:
    """Return the file because of which a folder cannot be created, if there is one."""
    found = next((part for part in (folder, *folder.parents) if part.exists()), None)
    return None if found is None or found.is_dir() else found
