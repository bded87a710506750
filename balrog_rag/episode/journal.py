"""The journal: one JSON object per line, the only source of truth on disk about an episode.

    header   the spec, its digest, the versions that played it
    start    the first observation
    llm      a model's answer, written before it is used
    search   search results, written before they are used
    step     the action requested, the action taken, and the result
    end      how the episode ended

Every line ends in a digest of itself and of all lines before it (`chain`). A torn last line (one without
its newline) is discarded and replayed. Anything else that does not fit is refused with its line number.
`journal_writer` appends entries.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from balrog_rag.contracts.data import Passage, Purpose, Reply, Rise
from balrog_rag.contracts.errors import JournalError
from balrog_rag.episode import chain, packs
from balrog_rag.episode.spec import EpisodeSpec
from balrog_rag.util.files import LARGE, read_file
from balrog_rag.util.shell_commands import command

VERSION = 3
UNCHAINED = 1
"""The version before lines were chained: still read and resumed, unchained."""
SPARSE = 2
"""The version in which a program's burst could hide a change of place; still read and resumed."""


TAIL = chain.TAIL + len(b"\r\n")
"""Number of last bytes of a journal that contain its last digest."""


class Header(msgspec.Struct, frozen=True, tag_field="t", tag="header"):
    """First line: which episode this is and which versions played it."""

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
    """Search results; a passage's text is written at its first appearance only."""

    step: int
    query: str
    k: int
    passages: tuple[Passage, ...] = ()
    latency: float = 0.0


class Step(msgspec.Struct, frozen=True, tag_field="t", tag="step", omit_defaults=True):
    """An action and its result; `numbers` has only the values that changed.

    For a program that plays the episode, one entry covers a whole burst of key presses.
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
    """Why the program that ran the action stopped."""
    pressed: tuple[int | str, ...] = ()
    """Keys pressed by a program that plays the episode; each press counts as a step."""
    rises: tuple[Rise, ...] = ()
    """The presses within this step at which the progression rose."""
    commands: tuple[str, ...] | None = None
    """What code did in this step, which a replay repeats."""
    by_press: bool = False
    """True if `reward` sums several presses and scoring uses `rises`; absent in older journals."""

    @property
    def count(self) -> int:
        """Number of steps in this entry."""
        return len(self.pressed) or 1


class End(msgspec.Struct, frozen=True, tag_field="t", tag="end", omit_defaults=True):
    """How the episode ended; `facts` are reported by the game."""

    outcome: str
    steps: int
    facts: Mapping[str, Any] = {}
    seconds: float = 0.0
    """Wall time of the final attempt, without earlier attempts and pauses."""
    of_run: bool = False
    """Whether a cap of the whole run ended it; the episode might have gone further."""

    @property
    def how(self) -> str:
        """The game's description of the death, if the player died."""
        return str(self.facts.get("death") or "")


Event = Start | Completion | Lookup | Step | End
Entry = Header | Event

decoder = msgspec.json.Decoder(Entry)
encoder = msgspec.json.Encoder()


def encode(entry: Entry) -> bytes:
    """Encode an entry as a line, without the newline."""
    return encoder.encode(entry)


def decode(line: bytes) -> Entry:
    """Decode a line that this program wrote."""
    entry: Entry = decoder.decode(line)
    return entry


class Recording(msgspec.Struct, frozen=True):
    """A journal as read: its header, its entries in order, and how much of the file is intact."""

    header: Header | None
    entries: tuple[Event, ...] = ()
    ends: tuple[int, ...] = ()
    """Byte offset after the line of the header and of each entry."""
    head: str = ""
    """Digest of the last intact line, which covers all lines before it; empty if lines are not chained."""
    size: int = 0
    """Size of the file when it was read, including a torn last line."""

    @property
    def end(self) -> End | None:
        """The last entry, if it is an end."""
        last = self.entries[-1] if self.entries else None
        return last if isinstance(last, End) else None

    @property
    def steps(self) -> list[Step]:
        """All step entries."""
        return [entry for entry in self.entries if isinstance(entry, Step)]

    @property
    def count(self) -> int:
        """Number of steps, counting every press of a burst."""
        return sum(step.count for step in self.steps)

    def before_end(self) -> "Recording":
        """Drop the end, to continue where a cap had stopped the episode."""
        if self.end is None:
            return self
        return Recording(self.header, self.entries[:-1], self.ends[:-1], size=self.size)


def read(path: Path) -> Recording:
    """Read a journal; the module docstring says what is discarded and what is refused."""
    data = read_bytes(path)
    try:
        return parse(data, path)
    except JournalError as error:
        raise _naming_pack(error, path) from error


def read_headed(path: Path) -> tuple[Header, Recording]:
    """Read a journal and its header; raises JournalError without one."""
    recording = read(path)
    if recording.header is None:
        raise without_header(path)
    return recording.header, recording


def without_header(path: Path) -> JournalError:
    """The error of a journal that was cut in its first line, or is empty."""
    return JournalError(f"{path}: header missing or truncated; restore the file")


def parse(data: bytes, path: Path) -> Recording:
    """Parse the bytes of a journal; `path` is for error messages."""
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
    """Parse lines appended to a journal after its header; their digests are not checked."""
    entries: list[Event] = []
    for line in lines.splitlines():
        try:
            entry = decoder.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise JournalError(f"{path}: an added line is not a journal entry ({error})") from error
        if isinstance(entry, Header):
            raise JournalError(f"{path}: a second header; {_REFUSED}")
        entries.append(entry)
    return tuple(entries)


def entries_of(path: Path) -> Iterator[Entry]:
    """Iterate over the entries of a journal without keeping them."""
    yield from entries_in(read_bytes(path), path)


def entries_in(data: bytes, path: Path) -> Iterator[Entry]:
    """Iterate over the entries in the bytes of a journal; `path` is for error messages."""
    try:
        yield from (entry for entry, _ in _scan(data, path))
    except JournalError as error:
        raise _naming_pack(error, path) from error


def _naming_pack(error: JournalError, path: Path) -> JournalError:
    """Say where a journal without a file of its own is, and how to get one."""
    if path.exists() or (place := packs.find(path)) is None:
        return error
    run = place.pack.parents[1]
    unpack = command("results", "unpack", run, place.episode)
    return JournalError(f"{error} (packed in {place.pack}; `{unpack}` makes it a file)")


def _scan(data: bytes, path: Path) -> Iterator[tuple[Entry, int]]:
    """Yield every intact entry with the byte offset after its line."""
    begin = number = steps = 0
    before: Entry | None = None
    link: bytes | None = chain.START
    while begin < len(data):
        number += 1
        newline = data.find(b"\n", begin)
        stop = len(data) if newline < 0 else newline
        line = data[begin:stop]
        try:
            entry = decoder.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            # Without its newline the last line may be half written, which is normal after a crash. But a
            # complete line with another byte in place of its newline was edited: refuse, do not drop it.
            if newline < 0 and not _newline_replaced(line, link):
                return
            raise JournalError(
                f"{path}: line {number} is not a journal entry ({error}); {_advice(stop, data)}"
            ) from error
        if what := misplaced(before, entry, steps):
            raise JournalError(f"{path}: line {number}: {what}")
        # Version 1 journals have no chain. A header that claims version 1 but carries a digest is checked
        # all the same, so that editing the version does not switch the check off.
        if isinstance(entry, Header) and entry.v == UNCHAINED:
            link = None if chain.last(line[-TAIL:]) is None else link
        if link is not None and not (link := chain.checked(link, line)):
            raise JournalError(f"{path}: line {number} {_CHANGED}; {_advice(stop, data)}")
        steps += entry.count if isinstance(entry, Step) else 0
        before, begin = entry, stop + 1
        yield entry, begin


def _newline_replaced(line: bytes, link: bytes | None) -> bool:
    """Whether these last bytes are a complete line whose newline was replaced by another byte."""
    return link is not None and bool(chain.checked(link, line[:-1]))


def _advice(stop: int, data: bytes) -> str:
    if stop + 1 >= len(data):
        return _REFUSED_LAST
    return _REFUSED if data.find(b"\n") < stop else _ANEW


_CHANGED = "was changed, or does not follow the line before it (its digest is not that of the chain)"
_ANEW = "restore the file, or delete it to play this episode again"
_REFUSED = "restore the file, or delete this line and all lines after it to resume from the line before"
_REFUSED_LAST = "restore the file, or delete this last line to resume from the line before"


def exists(path: Path) -> bool:
    """Whether there is a journal of this path, as a file or in a pack."""
    return path.exists() or packs.find(path) is not None


def stamp(path: Path) -> tuple[int, int] | None:
    """Size and modification time of a journal (time 0: packed); None if there is none."""
    try:
        found = path.stat()
    except FileNotFoundError:
        place = packs.find(path)  # in a pack it never changes
        return None if place is None else (place.size, 0)
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns


def head_of(path: Path) -> str:
    """Return a journal's last digest, without checking the rest; "" if its lines are not chained."""
    return (chain.last(read_bytes(path)[-TAIL:]) or b"").decode()


def read_bytes(path: Path) -> bytes:
    """Return a journal's bytes, from its file or from a pack."""
    try:
        try:
            return read_file(path, LARGE)
        except FileNotFoundError:
            if (place := packs.find(path)) is None:
                raise
            return place.read()
    except OSError as error:
        raise JournalError(f"{path}: cannot be read ({error.strerror})") from error


def misplaced(before: Entry | None, entry: Entry, steps: int) -> str:
    """Describe what is wrong with an entry after `before` and `steps` steps; "" if it fits."""
    if isinstance(entry, Header):
        if before is not None:
            return f"a second header; {_REFUSED}"
        return "" if entry.v in (UNCHAINED, SPARSE, VERSION) else _other_version(entry.v)
    if before is None:
        return f"the header is missing; {_ANEW}"
    if isinstance(before, End):
        return f"an entry after the end; {_REFUSED}"
    if isinstance(entry, Start) != isinstance(before, Header):
        return f"the start must follow the header, exactly once; {_REFUSED}"
    if isinstance(entry, Step) and entry.n != steps:
        return f"step {entry.n}, expected step {steps}; {_REFUSED}"
    if isinstance(entry, Completion) and (what := impossible_figure(entry.reply)):
        return f"{what}; {_REFUSED}"
    if isinstance(entry, End) and entry.steps != steps:
        return f"the end counts {entry.steps} steps, the journal has {steps}; {_REFUSED}"
    return ""


def impossible_figure(reply: Reply) -> str:
    """Describe a figure of an answer that cannot be true (negative cost, tokens, time); "" if all can."""
    used = reply.usage
    if used.input < 0 or used.output < 0 or used.cached < 0 or used.reasoning < 0:
        return "an answer with a negative number of tokens"
    if reply.latency < 0 or reply.attempts < 1 or (reply.cost is not None and reply.cost < 0):
        return "an answer with a negative cost or latency, or fewer than 1 attempt"
    return ""


def _other_version(version: int) -> str:
    known = f"{UNCHAINED} to {VERSION}"
    return f"journal version {version}, this program reads versions {known}; use the version that wrote it"


def changed_numbers(before: Mapping[str, int], after: Mapping[str, int]) -> dict[str, int]:
    """Return the numbers that changed."""
    return {name: new for name, new in after.items() if before.get(name) != new}


def difference(recorded: Step, played: Step) -> str:
    """Describe the first field in which a replayed step differs from the recorded one."""
    for name in Step.__struct_fields__:
        old, new = getattr(recorded, name), getattr(played, name)
        if old != new:
            return f"{name} is {new!r}, the journal has {old!r}"
    return "the same"
