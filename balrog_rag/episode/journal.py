"""The journal: one JSON object a line, the only truth on disk about an episode.

    header   the spec, its digest, the versions that played it
    start    the first observation
    llm      a model's answer, written before anybody reads it
    search   what a look-up found, likewise
    step     the action given and taken, and what it led to
    end      how it ended

Every line ends in a digest of itself and of all before it (`chain`). A torn last line, one that lacks its
end, is dropped and owed again. Anything else that does not fit is refused with its line.
"""

import asyncio
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec

from balrog_rag.contracts.data import Passage, Purpose, Reply, Rise
from balrog_rag.contracts.errors import JournalError, RunFolderError
from balrog_rag.episode import chain
from balrog_rag.episode.spec import EpisodeSpec
from balrog_rag.util.files import LARGE, lock, no_link, read_file

VERSION = 3
UNCHAINED = 1
"""The version before lines were chained: still read and gone on with, by its own rules."""
SPARSE = 2
"""The version in which a program's burst could hide a change of place; read and gone on with, too."""


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
    numbers: Mapping[str, int]


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
    """An action and what it led to; `numbers` holds only those that moved.

    A program that plays the episode is journaled a burst at a time: one entry for all that it pressed.
    """

    n: int
    action: str
    taken: str
    obs: str
    valid: bool = True
    reward: float = 0.0
    keys: int = 1
    numbers: Mapping[str, int] = {}
    notes: Mapping[str, Any] = {}
    stopped: str = ""
    """Why the program behind the action stopped."""
    pressed: tuple[int | str, ...] = ()
    """What a program that plays the episode pressed; each press is a step."""
    rises: tuple[Rise, ...] = ()
    """The presses within this step at which the progression rose."""
    by_press: bool = False
    """Whether `reward` is the sum over several presses and counts by `rises` alone; older ones lack it."""

    @property
    def count(self) -> int:
        """How many steps this is."""
        return len(self.pressed) or 1


class End(msgspec.Struct, frozen=True, tag_field="t", tag="end", omit_defaults=True):
    """How it ended; `facts` are the game's own words for it."""

    outcome: str
    steps: int
    facts: Mapping[str, Any] = {}
    seconds: float = 0.0
    """Wall time of the attempt that came to this end; earlier attempts and stops are not in it."""
    of_run: bool = False
    """Whether a cap of the whole run cut it off, which says nothing of how far it could have come."""

    @property
    def how(self) -> str:
        """The game's own words for it, where a player died."""
        return str(self.facts.get("death") or "")


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
    head: str = ""
    """The digest of its last sound line, which stands for all lines; empty where they are not chained."""
    size: int = 0
    """Bytes of the file when it was read, a torn last line included."""

    @property
    def end(self) -> End | None:
        """The last entry, where it is an end."""
        last = self.entries[-1] if self.entries else None
        return last if isinstance(last, End) else None

    @property
    def steps(self) -> list[Step]:
        """The steps alone."""
        return [entry for entry in self.entries if isinstance(entry, Step)]

    @property
    def count(self) -> int:
        """How many steps these are."""
        return sum(step.count for step in self.steps)

    def before_end(self) -> "Recording":
        """The same without its end, for going on where a cap had stopped it."""
        if self.end is None:
            return self
        return Recording(self.header, self.entries[:-1], self.ends[:-1], size=self.size)


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
    head = chain.last(data[ends[-1] - TAIL : ends[-1]]) if ends else None
    return Recording(header, tuple(entries), tuple(ends), (head or b"").decode(), len(data))


def parse_more(lines: bytes, path: Path) -> tuple[Event, ...]:
    """The entries of whole lines added to a journal behind its header; their digests are not compared."""
    entries: list[Event] = []
    for line in lines.splitlines():
        try:
            entry = _decoder.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise JournalError(f"{path}: an added line is no journal entry ({error})") from error
        if isinstance(entry, Header):
            raise JournalError(f"{path}: a second header; {_REFUSED}")
        entries.append(entry)
    return tuple(entries)


def entries_of(path: Path) -> Iterator[Entry]:
    """The same entries one by one, for who need not keep them."""
    return (entry for entry, _ in _scan(_read_bytes(path), path))


def _scan(data: bytes, path: Path) -> Iterator[tuple[Entry, int]]:
    """Every sound entry, with the byte offset just behind its line."""
    begin = number = steps = 0
    before: Entry | None = None
    link: bytes | None = chain.START
    while begin < len(data):
        number += 1
        newline = data.find(b"\n", begin)
        stop = len(data) if newline < 0 else newline
        line = data[begin:stop]
        try:
            entry = _decoder.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            if newline < 0 and not _whole_but_for_its_end(line, link):
                return  # torn
            raise JournalError(
                f"{path}: line {number} is no journal entry ({error}); {_advice(stop, data)}"
            ) from error
        if what := _misplaced(before, entry, steps):
            raise JournalError(f"{path}: line {number}: {what}")
        if isinstance(entry, Header) and entry.v == UNCHAINED:
            link = None if chain.last(line[-TAIL:]) is None else link
        if link is not None and not (link := chain.checked(link, line)):
            raise JournalError(f"{path}: line {number} {_CHANGED}; {_advice(stop, data)}")
        steps += entry.count if isinstance(entry, Step) else 0
        before, begin = entry, stop + 1
        yield entry, begin


def _whole_but_for_its_end(line: bytes, link: bytes | None) -> bool:
    """Whether the bytes behind the last line's end are a whole line of which only the end was changed."""
    return link is not None and bool(chain.checked(link, line[:-1]))


def _advice(stop: int, data: bytes) -> str:
    if stop + 1 >= len(data):
        return _REFUSED_LAST
    return _REFUSED if data.find(b"\n") < stop else _ANEW


_CHANGED = "was changed, or does not follow the line before it (its digest is not that of the chain)"
_ANEW = "restore the file, or remove it to play this episode anew"
_REFUSED = "restore the file, or remove this line and all behind it to go on from the one before"
_REFUSED_LAST = "restore the file, or remove this last line to go on behind the one before"


def _read_bytes(path: Path) -> bytes:
    try:
        return read_file(path, LARGE)
    except OSError as error:
        raise JournalError(f"{path}: cannot be read ({error.strerror})") from error


def _misplaced(before: Entry | None, entry: Entry, steps: int) -> str:
    """What is wrong with an entry behind `before` and so many steps; nothing where it fits."""
    if isinstance(entry, Header):
        if before is not None:
            return f"a second header; {_REFUSED}"
        return "" if entry.v in (UNCHAINED, SPARSE, VERSION) else _other_version(entry.v)
    if before is None:
        return f"the header is missing; {_ANEW}"
    if isinstance(before, End):
        return f"an entry behind the end; {_REFUSED}"
    if isinstance(entry, Start) != isinstance(before, Header):
        return f"a start is due once, behind the header; {_REFUSED}"
    if isinstance(entry, Step) and entry.n != steps:
        return f"step {entry.n} where {steps} is due; {_REFUSED}"
    if isinstance(entry, Completion) and (what := impossible(entry.reply)):
        return f"{what}; {_REFUSED}"
    if isinstance(entry, End) and entry.steps != steps:
        return f"the end counts {entry.steps} steps, the journal holds {steps}; {_REFUSED}"
    return ""


def impossible(reply: Reply) -> str:
    """What no answer can have cost; empty where all its figures can be."""
    used = reply.usage
    if used.input < 0 or used.output < 0 or used.cached < 0 or used.reasoning < 0:
        return "an answer with tokens below zero"
    if reply.latency < 0 or reply.attempts < 1 or (reply.cost is not None and reply.cost < 0):
        return "an answer with a cost, a time or attempts below what can be"
    return ""


def _other_version(version: int) -> str:
    known = f"{UNCHAINED} to {VERSION}"
    return f"journal version {version}, this program reads versions {known}; use the version that wrote it"


TAIL = chain.TAIL + len(b"\r\n")
"""Last bytes of a journal in which its last digest stands."""


class Writer:
    """Appends entries, each one whole line in one write, in the file before the caller goes on.

    The file is locked meanwhile: a second process that plays the same run writes into no journal of ours,
    even if somebody removed the run's own lock.
    """

    def __init__(self, path: Path, keep: int = 0, found: int | None = None) -> None:
        """Open for appending after the first `keep` bytes; what follows them is cut off.

        `found`: the file's size when it was read; if it has changed since, another process wrote to it.
        """
        self.path = path
        self._size = keep
        self._synced = -1
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._fd = no_link(str(path), os.O_RDWR | os.O_CREAT)
            if not lock(self._fd) or found not in (None, os.fstat(self._fd).st_size):
                os.close(self._fd)
                raise RunFolderError(f"{path}: another process plays this episode; {_ALONE}")
            self._link = chain.last(os.pread(self._fd, TAIL, max(0, keep - TAIL)) if keep else b"")
            if keep == os.fstat(self._fd).st_size + 1:  # a whole last line that lost only its newline
                os.pwrite(self._fd, b"\n", keep - 1)
            os.ftruncate(self._fd, keep)
            os.lseek(self._fd, keep, os.SEEK_SET)
        except OSError as error:
            raise RunFolderError(f"{path}: cannot be written ({error.strerror}); {_SAFE}") from error

    def append(self, entry: Entry) -> None:
        """Write one entry."""
        encoded, link = _encoder.encode(entry), self._link
        line, link = (encoded + b"\n", None) if link is None else chain.linked(link, encoded)
        try:
            written = os.write(self._fd, line)
            if written != len(line):
                os.write(self._fd, line[written:])  # a full disk says why only at the second try
        except OSError as error:
            self._cut_back()
            raise RunFolderError(f"{self.path}: cannot be written ({error.strerror}); {_SAFE}") from error
        self._size += len(line)
        self._link = link

    def check(self) -> None:
        """Raise a RunFolderError if the file is not what was written: changed, removed or replaced."""
        try:
            there = os.stat(self.path)
            ours = os.fstat(self._fd)
            last = os.pread(self._fd, TAIL, max(0, self._size - TAIL))
        except OSError as error:
            raise RunFolderError(f"{self.path}: {error.strerror}; {_ALONE}") from error
        same = (there.st_dev, there.st_ino, there.st_size) == (ours.st_dev, ours.st_ino, self._size)
        if not same or (self._link is not None and chain.last(last) != self._link):
            raise RunFolderError(f"{self.path}: was changed by another program during play; {_ALONE}")

    async def settle(self) -> None:
        """Nothing to wait for: an appended line is in the file."""

    def _cut_back(self) -> None:
        try:
            os.ftruncate(self._fd, self._size)
        except OSError:
            pass  # the torn line is dropped by the next reader

    async def sync(self) -> None:
        """Bring the file to the disk; other episodes go on meanwhile, as a disk may take its time."""
        try:
            await asyncio.to_thread(os.fsync, self._fd)
        except OSError as error:
            raise RunFolderError(f"{self.path}: cannot be written ({error.strerror}); {_SAFE}") from error
        self._synced = self._size

    def close(self) -> None:
        """Bring the file to the disk and close it."""
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


_ALONE = "let one process at a time play a run, then resume it"
_SAFE = "what was written stays sound; make room or another folder, then resume"


def moved(before: Mapping[str, int], after: Mapping[str, int]) -> dict[str, int]:
    """The numbers that changed."""
    return {name: new for name, new in after.items() if before.get(name) != new}
