"""The index of a run folder (RUN/.episodes): what its journals contained, so that they are read only once.

It is sealed with this user's key: a forged or foreign one is ignored. A journal or pack whose size or
modification time differs is read again. The index can be deleted at any time.
"""

import zlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from balrog_rag.contracts.errors import RunFolderError
from balrog_rag.results import run_folder
from balrog_rag.results.episodes import Episode
from balrog_rag.results.run_seal import opened_by_user, sealed_by_user
from balrog_rag.results.stored_episodes import StoredRows, columns_of
from balrog_rag.util.described_types import described_at_import
from balrog_rag.util.files import read_file

INDEX = ".episodes"
INDEX_VERSION = 8
ROW_BYTES = 1 << 20
"""Maximum size of the index per journal in the folder, in bytes."""


class IndexedJournal(msgspec.Struct, array_like=True):
    """A journal as it was when it was read. Of a packed one, size and time are those of the pack."""

    name: str
    size: int = 0
    time: int = 0
    head: str = ""
    """The final digest of the journal's hash chain."""
    ended: bool = False
    """Whether there is a row for it."""
    problem: str = ""


class Segment(msgspec.Struct, array_like=True, dict=True):
    """The journals of one pack, or all that have files of their own."""

    source: str
    """The name of the pack; empty: files."""
    size: int
    time: int
    listed: memoryview
    """Its journals, compressed: a pack that has not changed is used without looking at them."""
    ended: int
    problems: int
    columns: dict[str, memoryview]

    @property
    def journals(self) -> list[IndexedJournal]:
        """Its journals, in order; those that have ended are the rows."""
        return msgspec.msgpack.decode(zlib.decompress(self.listed), type=list[IndexedJournal])

    @property
    def rows(self) -> StoredRows:
        """The episodes that have ended."""
        if "_rows" not in self.__dict__:
            self.__dict__["_rows"] = StoredRows(self.ended, self.columns)
        rows: StoredRows = self.__dict__["_rows"]
        return rows

    def by_journal(self) -> Iterator[tuple[IndexedJournal, Episode | None]]:
        """Its journals, each with its episode if that has ended."""
        row = 0
        for each in self.journals:
            yield each, self.rows[row] if each.ended else None
            row += each.ended


@described_at_import
class _Index(msgspec.Struct):
    version: int
    digest: str
    """The digest of the run's configuration: an index of another run is ignored."""
    segments: list[Segment]


def segment_of(
    source: str, size: int, time: int, found: Sequence[tuple[IndexedJournal, Episode | None]]
) -> Segment:
    """Store journals and their episodes; raises OverflowError for a number that no column can hold."""
    listed = memoryview(zlib.compress(msgspec.msgpack.encode([each for each, _ in found]), 1))
    ended = [episode for _, episode in found if episode is not None]
    problems = sum(bool(each.problem) for each, _ in found)
    columns = {name: memoryview(data) for name, data in columns_of(ended).items()}
    return Segment(source, size, time, listed, len(ended), problems, columns)


def read_index(run: Path, digest: str, most: int) -> dict[str, Segment]:
    """Return the segments of the index by source; empty unless sealed by this user for this configuration."""
    try:
        data = opened_by_user(read_file(run / INDEX, most))
        index = msgspec.msgpack.decode(data or b"", type=_Index)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return {}
    if (index.version, index.digest) != (INDEX_VERSION, digest):
        return {}
    return {segment.source: segment for segment in index.segments}


def write_index(run: Path, digest: str, segments: Sequence[Segment]) -> None:
    """Write the index, unless the folder is read-only or this user cannot keep a key."""
    sealed = sealed_by_user(msgspec.msgpack.encode(_Index(INDEX_VERSION, digest, [*segments])))
    with suppress(RunFolderError):  # read-only folders can still be reported on
        if sealed:
            run_folder.write_bytes(run / INDEX, sealed)
