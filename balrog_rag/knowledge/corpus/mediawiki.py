"""A MediaWiki XML dump of the NetHack wiki, read page by page, its markup put into plain text.

Kept: pages of the main namespace and, where asked for, discussion pages. Dropped: user, file, template,
category and other pages. A redirect becomes another name of its target. Needs mwparserfromhell.
"""

import bz2
import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any
from urllib.parse import quote
from xml.etree.ElementTree import ParseError, iterparse

import msgspec

from balrog_rag.contracts.errors import KnowledgeError
from balrog_rag.knowledge.corpus import wikitext
from balrog_rag.knowledge.passages import Page

_MAIN, _TALK = "0", "1"
_LARGEST = 8 << 20
"""Characters of a page up to which its markup is parsed; a longer one is taken as it is."""


class Entry(msgspec.Struct, frozen=True):
    """A page of the dump."""

    title: str
    namespace: str
    redirect: str
    text: str


def pages(dump: Path, talk: bool = False) -> Iterator[Page]:
    """The dump's pages as text, each telling under which other names it is known."""
    names = _other_names(dump)
    wanted = (_MAIN, _TALK) if talk else (_MAIN,)
    for entry in entries(dump):
        if entry.namespace not in wanted or entry.redirect:
            continue
        text = wikitext.plain(entry.text) if len(entry.text) <= _LARGEST else entry.text
        also = sorted(names.get(entry.title, []))
        lead = f"Also called: {', '.join(also)}.\n\n" if also and text else ""
        address = wikitext.ADDRESS + quote(entry.title.replace(" ", "_"), safe="/:'(),!")
        yield Page(title=entry.title, text=lead + text, url=address, licence=wikitext.LICENCE)


def _other_names(dump: Path) -> dict[str, list[str]]:
    names: dict[str, list[str]] = {}
    for entry in entries(dump):
        if entry.redirect and entry.namespace == _MAIN:
            names.setdefault(entry.redirect.split("#")[0], []).append(entry.title)
    return names


def entries(dump: Path) -> Iterator[Entry]:
    """Every page, one at a time, whatever the dump's size.

    A dump has no document type; one that declares entities is refused, as expat would expand them.
    """
    with _opened(dump) as file:
        try:
            _refuse_declarations(file, dump)
            yield from _parsed(file)
        except ParseError as error:
            raise KnowledgeError(
                f"{dump} is not a whole XML dump: {error}; it was cut short, or is another file"
            ) from error
        except (EOFError, OSError) as error:
            raise KnowledgeError(f"{dump} cannot be unpacked: {error}; it was cut short") from error


def _parsed(file: IO[bytes]) -> Iterator[Entry]:
    root: Any = None
    found = False
    for event, element in iterparse(file, events=("start", "end")):
        if root is None:
            root = element
            if _name(root) != "mediawiki":
                raise KnowledgeError(f"a MediaWiki dump is expected, but the file's root is <{_name(root)}>")
        if event == "end" and _name(element) == "page":
            found = True
            yield _entry(element)
            root.clear()
    if not found:
        raise KnowledgeError("the dump holds no page")


def _entry(element: Any) -> Entry:
    fields = {"title": "", "ns": "0", "redirect": "", "text": ""}
    for child in element.iter():
        name = _name(child)
        if name == "redirect":
            fields[name] = child.get("title", "")
        elif name in fields:
            fields[name] = child.text or ""
    return Entry(fields["title"], fields["ns"], fields["redirect"], fields["text"])


def _name(element: Any) -> str:
    return str(element.tag).rpartition("}")[2]


def _refuse_declarations(file: IO[bytes], dump: Path) -> None:
    head = file.read(4096)
    file.seek(0)
    if b"<!DOCTYPE" in head or b"<!ENTITY" in head:
        raise KnowledgeError(f"{dump} declares a document type: that is HTML or another file, not a dump")


def _opened(dump: Path) -> Any:
    if dump.suffix == ".bz2":
        return bz2.open(dump)
    if dump.suffix == ".gz":
        return gzip.open(dump)
    return dump.open("rb")
