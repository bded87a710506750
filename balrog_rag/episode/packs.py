"""Packs: the journals of many finished episodes in one file, for file systems that dislike millions of files.

    RUN/packed/000001.jsonl   journals one after another, byte for byte as they were
    RUN/packed/000001.index   a line for each: offset, size, last digest, spec digest, episode, checksum

An episode is played into a file of its own. Once it has ended for good, its journal is appended to the newest
pack, flushed to the disk, and only then is the file removed: a process killed in between leaves both, and the
file takes precedence. The index is derived: where it is missing, damaged or behind, the pack itself is read.
Of two journals of one episode, the later one counts. `run/journal_packer.py` writes packs.
"""

import os
import threading
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from balrog_rag.contracts.errors import JournalError
from balrog_rag.episode import chain
from balrog_rag.util.bounded_decoding import decoded_json
from balrog_rag.util.described_types import described_at_import
from balrog_rag.util.files import LARGE, read_file

FOLDER = "packed"
_HEADER = b'{"t":"header"'
_MOST_UP = 12
"""Folders above a journal in which packs are looked for."""
_MOST_KNOWN = 2_560_000
"""Journals whose places are kept in memory, however many packs they are in."""


class PackedJournal(NamedTuple):
    """Where a journal is in a pack."""

    pack: Path
    at: int
    size: int
    head: str
    """The last digest of its chain; empty if its lines are not chained."""
    spec: str
    """The digest of its spec, as its header says."""
    episode: str

    def read(self) -> bytes:
        """Return the journal's bytes; raises OSError."""
        with open(self.pack, "rb") as file:
            file.seek(self.at)
            return file.read(self.size)


def journal_name(episode: str) -> str:
    """Return the path of an episode's journal in its run folder."""
    task, _, number = episode.rpartition("/")
    env, _, name = task.partition("/")
    return f"{env}/{name}/{name}_run_{number}.journal.jsonl"


def episode_named(journal: str) -> str:
    """Return the episode whose journal has this path in its run folder; empty if no journal has it."""
    env, _, rest = journal.partition("/")
    twice, _, number = rest.removesuffix(".journal.jsonl").rpartition("_run_")
    name = f"{env}/{twice[: len(twice) // 2]}/{number}"  # the task is the folder, and in the file's name
    return name if journal_name(name) == journal else ""


def packs_in(run: Path) -> list[Path]:
    """Return the packs of a run, oldest first."""
    folder = run / FOLDER
    try:
        names = os.listdir(folder)  # a glob takes ten times as long, for every journal that is read
    except OSError:
        return []
    return [folder / name for name in sorted(names) if name[0].isdigit() and name.endswith(".jsonl")]


def find(path: Path) -> PackedJournal | None:
    """Return where the journal of this path is packed; None if it is not."""
    for run in path.parents[2:_MOST_UP]:
        if (run / FOLDER).is_dir():
            return find_in(run, path.relative_to(run).as_posix())
    return None


def find_in(run: Path, name: str) -> PackedJournal | None:
    """Return where a run's journal of this name is packed; None if it is not."""
    return next((found for pack in reversed(packs_in(run)) if (found := _by_name(pack).get(name))), None)


_known: dict[Path, tuple[tuple[int, int], dict[str, PackedJournal]]] = {}
_guard = threading.Lock()


def _by_name(pack: Path) -> dict[str, PackedJournal]:
    """The journals of a pack by path, read again if the pack has changed."""
    status = os.stat(pack)
    state = status.st_size, status.st_mtime_ns
    with _guard:
        if (known := _known.get(pack)) is not None and known[0] == state:
            return known[1]
    made = {journal_name(each.episode): each for each in journals_in(pack)}
    with _guard:
        _known.pop(pack, None)
        many = len(made) + sum(len(places) for _, places in _known.values())
        while _known and many > _MOST_KNOWN:
            many -= len(_known.pop(next(iter(_known)))[1])
        _known[pack] = state, made
    return made


def journals_in(pack: Path) -> list[PackedJournal]:
    """Return the journals of a pack in order; where one was packed twice, only the later one."""
    return list({each.episode: each for each in every_journal(pack)}.values())


def every_journal(pack: Path) -> list[PackedJournal]:
    """Return all journals of a pack in order, the last of which may be torn."""
    size = os.stat(pack).st_size
    found = list(_indexed(pack, size))
    end = found[-1].at + found[-1].size if found else 0
    return [*found, *_scanned(pack, end, size)] if end < size else found


def _indexed(pack: Path, size: int) -> Iterator[PackedJournal]:
    """What the index says, up to the first line that is damaged or does not continue the one before."""
    try:
        lines = read_file(pack.with_suffix(".index"), LARGE).split(b"\n")
    except OSError:
        return
    end = 0
    for line in lines:
        entry, _, checksum = line.rpartition(b"\t")
        fields = entry.split(b"\t")
        if len(fields) != 5 or checksum != _checksum(entry):
            return
        at, long = int(fields[0]), int(fields[1])
        if at != end or long <= 0 or at + long > size:
            return
        end = at + long
        yield PackedJournal(pack, at, long, fields[2].decode(), fields[3].decode(), fields[4].decode())


def index_line(place: PackedJournal) -> bytes:
    """Return a journal's line in the index."""
    entry = f"{place.at}\t{place.size}\t{place.head}\t{place.spec}\t{place.episode}".encode()
    return b"%b\t%b\n" % (entry, _checksum(entry))


def _checksum(entry: bytes) -> bytes:
    return b"%08x" % zlib.crc32(entry)


class _Spec(msgspec.Struct):
    episode: str


@described_at_import
class _Header(msgspec.Struct):
    """What the index needs of a journal's first line."""

    spec: _Spec
    spec_digest: str


def _scanned(pack: Path, at: int, size: int) -> Iterator[PackedJournal]:
    """The journals between two offsets, found by their headers."""
    with open(pack, "rb") as file:
        file.seek(at)
        first, last = b"", b""
        begun = at
        while at < size and (line := file.readline(size - at)):
            if line.startswith(_HEADER):
                if first:
                    yield described(pack, begun, at - begun, first, last)
                first, begun = line, at
            last, at = line, at + len(line)
    # A header that is itself torn belongs to a journal whose own file is still there.
    if first.endswith(b"\n"):
        yield described(pack, begun, at - begun, first, last)


def described(pack: Path, at: int, size: int, first: bytes, last: bytes) -> PackedJournal:
    """Return the place of a journal with this first and last line; raises JournalError."""
    try:
        header = decoded_json(first, _Header)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise JournalError(
            f"{pack}: the header at byte {at:,} was changed ({error}); restore the file from a copy"
        ) from error
    head = (chain.last(last) or b"").decode()
    return PackedJournal(pack, at, size, head, header.spec_digest, header.spec.episode)
