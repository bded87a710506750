"""Assemble the embedded corpus from committed files.

The guide and the notes are read from disk as they are, so that changing an entry is a change of one file.
What is made from NetHack's tables and texts changes only with nle; `build` generates it, and its result is
committed.
"""

import os
import re
from collections.abc import Iterable, Iterator
from hashlib import blake2b, file_digest
from itertools import chain
from pathlib import Path

import msgspec

from balrog_rag.contracts.data import Passage
from balrog_rag.knowledge import passages as cutting
from balrog_rag.knowledge.corpus import embedded
from balrog_rag.knowledge.corpus.embedded import guide
from balrog_rag.knowledge.passages import Cut, Page, passages, wordpiece
from balrog_rag.knowledge.store import Passages, write_passages
from balrog_rag.util.paths import data

NAME = "embedded"
CUT = Cut(240)
"""How the guide is cut: every entry is written to fit into one passage."""
_GUIDEBOOK = f"{NAME}/guidebook/"
_DIGEST = re.compile(rf"(?m)^({NAME}:\n(?: .*\n)*?  sha256: )[0-9a-f]{{64}}$")


def game_file() -> Path:
    """The committed passages made from NetHack's own tables and texts."""
    return data("wiki_index") / "nethack.jsonl"


def key() -> str:
    """Return a key for the corpus's sources: the texts, and the code that makes passages of them."""
    code = [Path(module.__file__ or "") for module in (embedded, guide, cutting)]
    texts = [game_file(), data("wiki_index") / "notes.yaml", *sorted(guide.folder().glob("*.md"))]
    hashed = blake2b(digest_size=8)
    for file in (*texts, *code):
        content = file.read_bytes()
        hashed.update(f"{file.name} {len(content)}\n".encode() + content)
    return hashed.hexdigest()


def write(target: Path) -> None:
    """Write the corpus atomically as one file of passages."""
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        write_passages(part, whole())
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


def whole() -> Iterator[Passage]:
    """Return every passage of the corpus, in a fixed order."""
    return chain(_cut(embedded.pages()), Passages(game_file()))


def encoded() -> bytes:
    """Return the bytes that `write` writes, for use where nothing can be written."""
    return b"".join(msgspec.json.encode(passage) + b"\n" for passage in whole())


def build(guidebook: Path | None) -> Path:
    """Rebuild the committed file from the installed nle.

    The Guidebook is not part of nle: without `guidebook` its passages are kept unchanged.
    """
    file = game_file()
    kept = [passage for passage in Passages(file) if passage.id.startswith(_GUIDEBOOK)]
    book = kept if guidebook is None else _cut(embedded.guidebook_pages(guidebook))
    part = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        write_passages(part, chain(_cut(embedded.table_pages()), book, _cut(embedded.short_text_pages())))
        part.replace(file)
    finally:
        part.unlink(missing_ok=True)
    _name_digest(file)
    return file


def _cut(pages: Iterable[Page]) -> Iterator[Passage]:
    return passages(pages, NAME, CUT, wordpiece())


def _name_digest(file: Path) -> None:
    """Record the file's digest in sources.yaml."""
    with file.open("rb") as opened:
        digest = file_digest(opened, "sha256").hexdigest()
    sources = data("wiki_index") / "sources.yaml"
    sources.write_text(_DIGEST.sub(rf"\g<1>{digest}", sources.read_text("utf-8")), "utf-8")
