"""Writing a journal: one complete line per entry, in order, and only what can be read back."""

import asyncio
import os
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from balrog_rag.contracts.errors import JournalError, RunFolderError
from balrog_rag.episode import chain
from balrog_rag.episode.journal import TAIL, Entry, Recording, Step, decoder, encoder, misplaced
from balrog_rag.episode.readable import readable
from balrog_rag.util.files import lock, no_link


class _Order(NamedTuple):
    """What the entries written so far say about the next one."""

    last: Entry | None = None
    steps: int = 0

    @classmethod
    def of(cls, recording: Recording | None) -> "_Order":
        """After the entries of a recording."""
        if recording is None:
            return cls()
        return cls(recording.entries[-1] if recording.entries else recording.header, recording.count)

    def after(self, entry: Entry, path: Path) -> "_Order":
        """Return what follows from another entry; raise JournalError if it cannot come here."""
        if what := misplaced(self.last, entry, self.steps):
            raise JournalError(f"{path}: not written: {what.partition(';')[0]}")
        return _Order(entry, self.steps + (entry.count if isinstance(entry, Step) else 0))


class Writer:
    """Appends entries, each as one complete line in one write, before the caller continues.

    The file stays locked meanwhile, so that a second process playing the same run cannot write to it even
    if somebody removed the run's own lock.
    """

    def __init__(
        self, path: Path, keep: int = 0, found: int | None = None, after: Recording | None = None
    ) -> None:
        """Open for appending after the first `keep` bytes; anything after them is cut off.

        `found`: the file's size when it was read; a different size means that another process wrote to it.
        `after`: the entries in those bytes; without it the order of the next entry is not checked.
        """
        self.path = path
        self._order = _Order.of(after) if keep == 0 or after is not None else None
        self._size = keep
        self._synced = -1
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._fd = no_link(str(path), os.O_RDWR | os.O_CREAT)
            # Compared after locking: another process may have played between our read and our lock.
            if not lock(self._fd) or found not in (None, os.fstat(self._fd).st_size):
                os.close(self._fd)
                raise RunFolderError(f"{path}: another process plays this episode; {_ALONE}")
            self._link = chain.last(os.pread(self._fd, TAIL, max(0, keep - TAIL)) if keep else b"")
            # The last line is complete except for its newline, without which the next entry would join it.
            if keep == os.fstat(self._fd).st_size + 1:
                os.pwrite(self._fd, b"\n", keep - 1)
            os.ftruncate(self._fd, keep)
            os.lseek(self._fd, keep, os.SEEK_SET)
        except OSError as error:
            raise RunFolderError(f"{path}: cannot be written ({error.strerror}); {_SAFE}") from error

    def append(self, entry: Entry) -> None:
        """Write one entry; raise JournalError, and write nothing, for one that could not be read back."""
        try:
            encoded, link = readable(entry, encoder, decoder), self._link
        except ValueError as error:
            what = f"this {type(entry).__name__.lower()} could not be read back"
            raise JournalError(f"{self.path}: not written: {what} ({error})") from error
        order = self._order.after(entry, self.path) if self._order is not None else None
        line, link = (encoded + b"\n", None) if link is None else chain.chained_line(link, encoded)
        try:
            written = os.write(self._fd, line)
            if written != len(line):
                os.write(self._fd, line[written:])  # a full disk reports its error only at the second write
        except OSError as error:
            self._cut_back()
            raise RunFolderError(f"{self.path}: cannot be written ({error.strerror}); {_SAFE}") from error
        self._size += len(line)
        self._link, self._order = link, order

    def check(self) -> None:
        """Raise a RunFolderError if the file was changed, removed or replaced since the last write."""
        try:
            there = os.stat(self.path)
            ours = os.fstat(self._fd)
            # Size and inode miss an edit in place that keeps the length; the last digest catches one at the
            # end of the file, without reading the rest.
            last = os.pread(self._fd, TAIL, max(0, self._size - TAIL))
        except OSError as error:
            raise RunFolderError(f"{self.path}: {error.strerror}; {_ALONE}") from error
        same = (there.st_dev, there.st_ino, there.st_size) == (ours.st_dev, ours.st_ino, self._size)
        if not same or (self._link is not None and chain.last(last) != self._link):
            raise RunFolderError(f"{self.path}: changed by another program during play; {_ALONE}")

    async def settle(self) -> None:
        """Return at once: `append` has already written the line to the file."""

    def _cut_back(self) -> None:
        try:
            os.ftruncate(self._fd, self._size)
        except OSError:
            # The caller reports the failed write; readers discard the torn line.
            pass

    async def sync(self) -> None:
        """Flush the file to the disk, in a thread: fsync may take long and other episodes must not wait."""
        try:
            await asyncio.to_thread(os.fsync, self._fd)
        except OSError as error:
            raise RunFolderError(f"{self.path}: cannot be written ({error.strerror}); {_SAFE}") from error
        self._synced = self._size

    def close(self) -> None:
        """Flush the file to the disk and close it."""
        if self._fd >= 0:
            if self._synced != self._size:
                os.fsync(self._fd)
            os.close(self._fd)
            self._fd = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


_ALONE = "make sure only one process plays a run at a time, then resume it"
_SAFE = "the entries already written are intact; free some space or choose another folder, then resume"
