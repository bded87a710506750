"""Read the pages of a MediaWiki XML dump one at a time, in bounded memory.

The file is untrusted. It is read with expat's events, without a tree. A file that declares a document type
(whose entities expat would expand), nests pages, contains an enormous page or unpacks without end is rejected
as soon as this is detected.
"""

import bz2
import gzip
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any
from xml.parsers import expat

import msgspec

from balrog_rag.contracts.errors import KnowledgeError

LONGEST_PAGE = 32 << 20
"""Maximum number of characters in one page's fields."""
DEEPEST = 16
"""Maximum nesting depth of elements; a dump has six levels."""
MOST_UNPACKED = 256 << 20
"""Number of bytes that any packed file may unpack to; a larger one must have been large when packed, too."""
MOST_TIMES = 100
"""Maximum compression ratio of a file that unpacks to more than that."""
_CHUNK = 1 << 18
_FIELDS = ("title", "ns", "text")


class DumpEntry(msgspec.Struct, frozen=True):
    """A page of the dump."""

    title: str
    namespace: str
    redirect: str
    text: str


def entries(dump: Path) -> Iterator[DumpEntry]:
    """Yield every page of the dump, which may be compressed."""
    reader, found = _Reader(), False
    try:
        with _opened(dump) as file:
            for chunk in _chunks(file, dump):
                for entry in reader.feed(chunk):
                    found = True
                    yield entry
            reader.feed(b"", last=True)
    except expat.ExpatError as error:
        raise KnowledgeError(
            f"{dump} is not a complete XML dump: {error}; it is truncated, or a different file"
        ) from error
    except _NoDump as error:
        raise KnowledgeError(f"{dump} {error}") from error
    except (EOFError, OSError, zlib.error) as error:
        if getattr(error, "filename", None) is not None:
            raise  # the file itself is unreadable
        raise KnowledgeError(f"{dump} cannot be unpacked: {error}; it is truncated") from error
    if not found:
        raise KnowledgeError("the dump contains no pages; export it again")


class _NoDump(Exception):
    """The file has a property that no MediaWiki dump has."""


class _Reader:
    """Converts bytes to the pages that ended in them."""

    def __init__(self) -> None:
        self._parser = expat.ParserCreate(namespace_separator="}")
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._data
        self._parser.StartDoctypeDeclHandler = self._refuse_doctype
        self._depth = 0
        self._fields: dict[str, str] | None = None
        self._parts: list[str] | None = None
        self._size = 0
        self._ended: list[DumpEntry] = []

    def feed(self, data: bytes, last: bool = False) -> list[DumpEntry]:
        """Process more bytes."""
        self._parser.Parse(data, last)
        ended, self._ended = self._ended, []
        return ended

    def _start(self, tag: str, attributes: Mapping[str, str]) -> None:
        name = tag.rpartition("}")[2]
        if self._depth == 0 and name != "mediawiki":
            raise _NoDump(f"not a MediaWiki dump: the root element is <{name[:40]}>")
        self._depth += 1
        if self._depth > DEEPEST:
            raise _NoDump(f"not a MediaWiki dump: elements are nested {DEEPEST} deep")
        if name == "page":
            if self._fields is not None:
                raise _NoDump("not a MediaWiki dump: a page contains a page")
            self._fields, self._size = {"title": "", "ns": "0", "redirect": "", "text": ""}, 0
        elif self._fields is not None and name == "redirect":
            self._fields["redirect"] = attributes.get("title", "")
        elif self._fields is not None and name in _FIELDS:
            self._parts = []

    def _end(self, tag: str) -> None:
        name = tag.rpartition("}")[2]
        self._depth -= 1
        if self._fields is None:
            return
        if name in _FIELDS and self._parts is not None:
            self._fields[name], self._parts = "".join(self._parts), None
        elif name == "page":
            said = self._fields
            self._ended.append(DumpEntry(said["title"], said["ns"], said["redirect"], said["text"]))
            self._fields = None

    def _data(self, text: str) -> None:
        if self._parts is None:
            return
        self._size += len(text)
        if self._size > LONGEST_PAGE:
            raise _NoDump(f"contains a page of more than {LONGEST_PAGE >> 20} million characters")
        self._parts.append(text)

    def _refuse_doctype(self, *declared: Any) -> None:
        raise _NoDump("declares a document type: that is HTML or another file, not a dump")


def _chunks(file: IO[bytes], dump: Path) -> Iterator[bytes]:
    """Yield the file's bytes; raise an error if it unpacks to far more than its size."""
    packed, unpacked = max(1, dump.stat().st_size), 0
    while chunk := file.read(_CHUNK):
        unpacked += len(chunk)
        if unpacked > MOST_UNPACKED and unpacked > MOST_TIMES * packed:
            raise _NoDump(f"unpacks to more than {MOST_TIMES} times its size")
        yield chunk


def _opened(dump: Path) -> Any:
    if dump.suffix == ".bz2":
        return bz2.open(dump)
    if dump.suffix == ".gz":
        return gzip.open(dump)
    return dump.open("rb")
