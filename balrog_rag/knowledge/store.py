"""Stored passages: one JSON object per line, read in place, so a big corpus uses no memory."""

import codecs
import mmap
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, overload

import msgspec
import numpy as np

from balrog_rag.contracts.data import Passage
from balrog_rag.contracts.errors import KnowledgeError

_decoder = msgspec.json.Decoder(Passage)
_LOOKED_AT = 1024
"""Number of bytes at a file's beginning by which a JSON list is distinguished from lines."""

_LARGEST_JSON = 16 << 20


class Passages(Sequence[Passage]):
    """A file of passages as a read-only sequence, mapped into memory and decoded one by one."""

    def __init__(self, path: Path) -> None:
        """Open the file; raise a KnowledgeError if it is empty or unreadable."""
        self.path = path
        try:
            with path.open("rb") as file:
                self._bytes = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except ValueError as error:
            raise KnowledgeError(f"{path}: contains no passages; build it again") from error
        except OSError as error:
            raise KnowledgeError(f"cannot read the passages in {path}: {error.strerror}") from error
        self._check_beginning()
        self._ends = np.flatnonzero(np.frombuffer(self._bytes, np.uint8) == 10)
        if self._bytes[-1:] != b"\n":
            self._ends = np.append(self._ends, len(self._bytes))
            self._check_last_line()

    def __len__(self) -> int:
        """The number of passages."""
        return len(self._ends)

    @overload
    def __getitem__(self, place: int) -> Passage: ...
    @overload
    def __getitem__(self, place: slice) -> list[Passage]: ...
    def __getitem__(self, place: int | slice) -> Passage | list[Passage]:
        """Decode the passage on that line."""
        if isinstance(place, slice):
            return [self[number] for number in range(*place.indices(len(self)))]
        if not -len(self) <= place < len(self):
            raise IndexError(place)
        line = place % len(self)
        start = int(self._ends[line - 1]) + 1 if line else 0
        said = self._bytes[start : int(self._ends[line])]
        try:
            return _decoder.decode(said)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            what = f"not a passage ({error})" if said.strip() else "is empty; remove it"
            raise KnowledgeError(f"{self.path}, line {line + 1}: {what}") from error

    def _check_beginning(self) -> None:
        """Reject a file that is not passages by its first bytes, before any line is read."""
        if (
            self._bytes[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
            or self._bytes[:3] == codecs.BOM_UTF8
        ):
            raise KnowledgeError(
                f"{self.path} begins with a byte order mark; save it as plain UTF-8, e.g. with iconv -t utf-8"
            )
        if self._bytes[:_LOOKED_AT].lstrip()[:1] == b"[":
            raise KnowledgeError(
                f"{self.path} is one JSON list; write one object a line instead, e.g. with `jq -c '.[]'`"
            )

    def _check_last_line(self) -> None:
        """Reject a truncated file: a last line without a line end must be complete."""
        try:
            self[-1]
        except KnowledgeError as error:
            raise KnowledgeError(
                f"{self.path} ends in the middle of a line: it is truncated; import it again"
            ) from error

    def digest(self) -> str:
        """Hash of the whole file, which identifies a corpus."""
        return blake2b(self._bytes, digest_size=16).hexdigest()


def write_passages(path: Path, passages: Iterable[Passage]) -> int:
    """Write one passage per line; return their number.

    Two passages with one id would be confused, and one without id or text could not be shown, so both are
    rejected.
    """
    lines: dict[str, int] = {}
    encoder = msgspec.json.Encoder()
    with path.open("wb") as file:
        for number, passage in enumerate(passages, start=1):
            if (first := lines.setdefault(passage.id, number)) != number:
                raise KnowledgeError(
                    f"passages {first} and {number} are both called {passage.id!r}; give each its own id"
                )
            if not passage.id.strip() or not passage.text.strip():
                lacks = "text" if passage.id.strip() else "id"
                raise KnowledgeError(f"passage {number} ({passage.id or passage.title!r}) has no {lacks}")
            file.write(encoder.encode(passage) + b"\n")
    return len(lines)


def read_json(path: Path, kind: Any) -> Any:
    """Read a small JSON file as the given type; raise a KnowledgeError that names the file if that fails."""
    try:
        if path.stat().st_size > _LARGEST_JSON:
            raise KnowledgeError(f"{path}: larger than {_LARGEST_JSON >> 20} MB; not a file of an index")
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise KnowledgeError(f"cannot read {path}: {error}") from error
