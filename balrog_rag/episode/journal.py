"""The journal: one JSON object a line, the only truth on disk about an episode.

    header   the spec, its digest, the versions that played it
    start    the first observation
    llm      a model's answer, written before anybody reads it
    search   what a look-up found, likewise
    step     the action given and taken, and what it led to
    end      how it ended

A torn last line is dropped and owed again. Anything else that does not fit is refused with its line.
"""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec

from balrog_rag.contracts.data import Passage, Purpose, Reply, Stats
from balrog_rag.contracts.errors import JournalError, RunFolderError
from balrog_rag.episode.spec import EpisodeSpec

VERSION = 1


class Header(msgspec.Struct, frozen=True, tag_field="t", tag="header"):
    """First line: which episode this is and what played it."""

    v: int
    spec: EpisodeSpec
    spec_digest: str
    config_digest: str
    versions: Mapping[str, str]


class Start(msgspec.Struct, frozen=True, tag_field="t", tag="start"):
    """The first observation."""

    obs: str
    stats: Mapping[str, int]


class Completion(msgspec.Struct, frozen=True, tag_field="t", tag="llm", omit_defaults=True):
    """A model's answer to the request with this digest."""

    step: int
    purpose: Purpose
    request: str
    reply: Reply


class Lookup(msgspec.Struct, frozen=True, tag_field="t", tag="search", omit_defaults=True):
    """What a search found; a passage's text stands at its first appearance only."""

    step: int
    query: str
    k: int
    passages: tuple[Passage, ...] = ()
    latency: float = 0.0


class Step(msgspec.Struct, frozen=True, tag_field="t", tag="step", omit_defaults=True):
    """An action and what it led to; `stats` holds only the numbers that moved."""

    n: int
    action: str
    taken: str
    obs: str
    valid: bool = True
    reward: float = 0.0
    keys: int = 1
    stats: Mapping[str, int] = {}
    notes: Mapping[str, Any] = {}


class End(msgspec.Struct, frozen=True, tag_field="t", tag="end", omit_defaults=True):
    """How it ended; `facts` are NetHack's own words and its xlogfile line."""

    outcome: str
    steps: int
    facts: Mapping[str, Any] = {}
    seconds: float = 0.0
    """Wall time of the attempt that came to this end; earlier attempts and stops are not in it."""


Event = Start | Completion | Lookup | Step | End
Entry = Header | Event

_decoder = msgspec.json.Decoder(Entry)
_encoder = msgspec.json.Encoder()


def encode(entry: Entry) -> bytes:
    """An entry as its line, without the line's end."""
    return _encoder.encode(entry)


def decode(line: bytes) -> Entry:
    """The entry of a line that this program wrote."""
    entry: Entry = _decoder.decode(line)
    return entry


class Recording(msgspec.Struct, frozen=True):
    """A journal as read: its header, its entries in order, and how much of the file is sound."""

    header: Header | None
    entries: tuple[Event, ...] = ()
    ends: tuple[int, ...] = ()
    """For the header and each entry, the byte offset just behind its line."""

    @property
    def end(self) -> End | None:
        """The last entry, where it is an end."""
        last = self.entries[-1] if self.entries else None
        return last if isinstance(last, End) else None

    @property
    def steps(self) -> list[Step]:
        """The steps alone."""
        return [entry for entry in self.entries if isinstance(entry, Step)]

    def before_end(self) -> "Recording":
        """The same without its end, for going on where a cap had stopped it."""
        if self.end is None:
            return self
        return Recording(self.header, self.entries[:-1], self.ends[:-1])


def read(path: Path) -> Recording:
    """Read a journal; see the module's words on what is dropped and what is refused."""
    return parse(_read_bytes(path), path)


def parse(data: bytes, path: Path) -> Recording:
    """Read a journal's bytes; `path` is for error texts."""
    header: Header | None = None
    entries: list[Event] = []
    ends: list[int] = []
    for entry, behind in _scan(data, path):
        if isinstance(entry, Header):
            header = entry
        else:
            entries.append(entry)
        ends.append(behind)
    return Recording(header, tuple(entries), tuple(ends))


def entries_of(path: Path) -> Iterator[Entry]:
    """The same entries one by one, for who need not keep them."""
    return (entry for entry, _ in _scan(_read_bytes(path), path))


def _scan(data: bytes, path: Path) -> Iterator[tuple[Entry, int]]:
    """Every sound entry, with the byte offset just behind its line."""
    begin = number = steps = 0
    before: Entry | None = None
    while begin < len(data):
        number += 1
        newline = data.find(b"\n", begin)
        stop = len(data) if newline < 0 else newline
        try:
            entry = _decoder.decode(data[begin:stop])
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            if stop + 1 >= len(data):
                return  # torn
            raise JournalError(f"{path}: line {number} is no journal entry ({error}); {_REFUSED}") from error
        if what := _misplaced(before, entry, steps):
            raise JournalError(f"{path}: line {number}: {what}")
        steps += isinstance(entry, Step)
        before, begin = entry, stop + 1
        yield entry, begin


_REFUSED = "restore the file, or remove it to play this episode anew"


def _read_bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise JournalError(f"{path}: cannot be read ({error.strerror})") from error


def _misplaced(before: Entry | None, entry: Entry, steps: int) -> str:
    """What is wrong with an entry behind `before` and so many steps; nothing where it fits."""
    if isinstance(entry, Header):
        if before is not None:
            return f"a second header; {_REFUSED}"
        return "" if entry.v == VERSION else _other_version(entry.v)
    if before is None:
        return f"the header is missing; {_REFUSED}"
    if isinstance(before, End):
        return f"an entry behind the end; {_REFUSED}"
    if isinstance(entry, Start) != isinstance(before, Header):
        return f"a start is due once, behind the header; {_REFUSED}"
    if isinstance(entry, Step) and entry.n != steps:
        return f"step {entry.n} where {steps} is due; {_REFUSED}"
    if isinstance(entry, End) and entry.steps != steps:
        return f"the end counts {entry.steps} steps, the journal holds {steps}; {_REFUSED}"
    return ""


def _other_version(version: int) -> str:
    return f"journal version {version}, this program reads version {VERSION}; use the version that wrote it"


class Writer:
    """Appends entries, each one whole line in one write, in the file before the caller goes on."""

    def __init__(self, path: Path, keep: int = 0) -> None:
        """Open for appending behind the first `keep` bytes; what lies behind them is cut off."""
        self.path = path
        self._size = keep
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._fd = os.open(path, os.O_WRONLY | os.O_CREAT, 0o644)
            if keep == os.fstat(self._fd).st_size + 1:  # a whole last line that lost only its newline
                os.pwrite(self._fd, b"\n", keep - 1)
            os.ftruncate(self._fd, keep)
            os.lseek(self._fd, keep, os.SEEK_SET)
        except OSError as error:
            raise RunFolderError(f"{path}: cannot be written ({error.strerror}); {_SAFE}") from error

    def append(self, entry: Entry) -> None:
        """Write one entry."""
        line = _encoder.encode(entry) + b"\n"
        try:
            written = os.write(self._fd, line)
            if written != len(line):
                os.write(self._fd, line[written:])  # a full disk says why only at the second try
        except OSError as error:
            self._cut_back()
            raise RunFolderError(f"{self.path}: cannot be written ({error.strerror}); {_SAFE}") from error
        self._size += len(line)

    async def settle(self) -> None:
        """Nothing to wait for: an appended line is in the file."""

    def _cut_back(self) -> None:
        try:
            os.ftruncate(self._fd, self._size)
        except OSError:
            pass  # the torn line is dropped by the next reader

    def close(self) -> None:
        """Bring the file to the disk and close it."""
        if self._fd >= 0:
            os.fsync(self._fd)
            os.close(self._fd)
            self._fd = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


_SAFE = "what was written stays sound; make room or another folder, then resume"


def stats_by_name(stats: Stats) -> dict[str, int]:
    """All numbers of a moment by name."""
    return dict(zip(Stats.__struct_fields__, msgspec.structs.astuple(stats), strict=True))


def moved(before: Stats, after: Stats) -> dict[str, int]:
    """The numbers that changed."""
    if before == after:
        return {}
    pairs = zip(
        Stats.__struct_fields__, msgspec.structs.astuple(before), msgspec.structs.astuple(after), strict=True
    )
    return {name: new for name, old, new in pairs if old != new}
