"""Write packs: move the journals of finished episodes into a few large files (`episode/packs.py`)."""

import os
import threading
from pathlib import Path

from balrog_rag.contracts.errors import JournalError, RunFolderError
from balrog_rag.episode import journal
from balrog_rag.episode.packs import (
    FOLDER,
    PackedJournal,
    described,
    every_journal,
    index_line,
    journal_name,
    packs_in,
)
from balrog_rag.results import run_folder
from balrog_rag.util.files import LARGE, no_link, read_file


class JournalPacker:
    """Packs the journals of one run, `most` in a file; threads take turns."""

    def __init__(self, run: Path, most: int, sync: bool = True) -> None:
        """`sync`: flush each journal to the disk before its file is removed."""
        self._run, self._most, self._sync = run, most, sync
        self._turn = threading.Lock()
        self._pack: Path | None = None
        self._count = self._size = 0

    def add(self, path: Path) -> None:
        """Append the complete journal of a finished episode to a pack, then remove its file."""
        with self._turn:
            try:
                data = read_file(path, LARGE)
                self._append(data, path)
                path.unlink()
            except OSError as error:
                where = error.filename or self._run / FOLDER
                raise RunFolderError(f"{where}: cannot be written ({error.strerror or error})") from error

    def _append(self, data: bytes, path: Path) -> None:
        pack = self._open()
        first, last = data.split(b"\n", 1)[0], data.rstrip(b"\n").rpartition(b"\n")[2]
        place = described(pack, self._size, len(data), first, last + b"\n")
        with open(pack, "ab", opener=no_link) as file:
            # A write that failed half-way, as on a full disk, left bytes behind.
            file.truncate(self._size)
            file.write(data)
            file.flush()
            if self._sync:
                os.fsync(file.fileno())
        self._size, self._count = self._size + len(data), self._count + 1
        with open(pack.with_suffix(".index"), "ab", opener=no_link) as index:
            index.write(index_line(place))

    def _open(self) -> Path:
        """Return the pack to append to: the newest one, mended after a crash, or a new one."""
        if self._pack is None:
            (self._run / FOLDER).mkdir(exist_ok=True)
            if packs := packs_in(self._run):
                self._mend(packs[-1])
        if self._pack is None or self._count >= self._most:
            number = 1 + int(self._pack.stem) if self._pack is not None else 1
            self._pack, self._count, self._size = self._run / FOLDER / f"{number:06d}.jsonl", 0, 0
        return self._pack

    def _mend(self, pack: Path) -> None:
        """Cut off a journal whose writing was interrupted, and complete the index."""
        places = every_journal(pack)
        if places and not self._whole(places[-1]):
            places.pop()
        end = places[-1].at + places[-1].size if places else 0
        if end < pack.stat().st_size:
            os.truncate(pack, end)
        run_folder.write_bytes(pack.with_suffix(".index"), b"".join(map(index_line, places)))
        self._pack, self._count, self._size = pack, len(places), end

    def _whole(self, place: PackedJournal) -> bool:
        """Whether a pack's last journal is complete; raises RunFolderError if nothing could replace it."""
        try:
            if journal.parse(place.read(), place.pack).end is not None:
                return True
        except JournalError:
            pass
        if not (self._run / journal_name(place.episode)).exists():
            raise RunFolderError(
                f"{place.pack}: its last journal ({place.episode}) was changed or cut off; restore the file "
                "from a copy"
            )
        return False


def unpack(run: Path, episodes: list[str]) -> int:
    """Write packed journals as files of their own, which take precedence; return how many."""
    places = {each.episode: each for pack in packs_in(run) for each in every_journal(pack)}
    for episode in episodes:
        if episode not in places:
            raise RunFolderError(f"{run}: no packed journal of episode {episode!r}")
    wanted = [places[episode] for episode in episodes] or list(places.values())
    return sum(
        run_folder.write_new_bytes(run_folder.journal_path(run, place.episode), place.read())
        for place in wanted
    )
