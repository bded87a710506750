"""Corpora: where passages come from.

Committed corpora (in wiki_index) and imported ones (in the folder of built files) are stored as one file of
passages. A folder of Markdown or text, and the pages of a plug-in, are read and cut when they are used.
"""

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from os import environ
from pathlib import Path

import msgspec

from balrog_rag.contracts import registry
from balrog_rag.contracts.data import Passage, digest
from balrog_rag.contracts.errors import KnowledgeError
from balrog_rag.contracts.registry import nearest
from balrog_rag.knowledge.passages import Cut, Page, passages, wordpiece
from balrog_rag.knowledge.store import Passages
from balrog_rag.util.fetch import cache_folder
from balrog_rag.util.paths import data


class Corpus:
    """A name, its passages, and the digest that identifies them."""

    def __init__(self, name: str, passages: Sequence[Passage], digest: str) -> None:
        """`passages` must not be empty."""
        self.name, self.passages, self.digest = name, passages, digest


EMBEDDED = "embedded"
"""The committed corpus on NetHack."""
FOLDER = "folder"
"""The reader for folders of pages; such a corpus is named by its path."""
GAMES = "games"
"""The folder of wiki_index with pages about other games than NetHack."""


def built_folder() -> Path:
    """The folder of imported corpora and built indexes: wiki_index/built in a checkout, else in the cache."""
    committed = data("wiki_index")
    if environ.get("BALROG_RAG_CACHE") or committed.parent.name == "_data":
        return cache_folder()
    return committed / "built"


def load(name: str, cut: Cut) -> Corpus:
    """Load the corpus with that name or path."""
    check(name, cut)
    place = Path(name).expanduser()
    if place.is_dir():
        return _read(place.name, registry.corpora.get(FOLDER)(place), cut)
    if place.is_file():
        return _stored(place.stem, place)
    if name == EMBEDDED:
        return _embedded()
    if (file := imported(name, cut)).is_file():
        return _stored(name, file)
    place = data("wiki_index") / GAMES
    return _read(name, registry.corpora.get(FOLDER)(place if name == GAMES else place / name), cut)


def check(name: str, cut: Cut) -> None:
    """Raise an error if there is no such corpus on this machine; nothing of it is read."""
    if not known_and_here(name, cut):
        raise KnowledgeError(_absent(name, cut))


def known_and_here(name: str, cut: Cut) -> bool:
    """Whether the corpus is on this machine; raise an error if nobody could get one of that name."""
    if not name.strip():
        raise KnowledgeError("knowledge.corpus is empty; name a corpus, a folder or a file of passages")
    if (
        Path(name).expanduser().exists()
        or name == EMBEDDED
        or imported(name, cut).is_file()
        or name in games()
    ):
        return True
    names = [known for known in registry.corpora.names() if known != FOLDER] + games()
    if name not in names:
        raise KnowledgeError(f"knowledge.corpus={name}: no such corpus, folder or file{nearest(name, names)}")
    return False


def games() -> list[str]:
    """The games whose rules have pages here, and `games` for all of them together."""
    return sorted([GAMES, *(path.name for path in (data("wiki_index") / GAMES).iterdir() if path.is_dir())])


def imported(name: str, cut: Cut) -> Path:
    """The path of an imported corpus. It is cut at import, so every cut has a file of its own."""
    parts = f"-{cut.tokens}-{cut.overlap}" if cut.tokens else ""
    return built_folder() / "corpora" / f"{name}{parts}.jsonl"


def _absent(name: str, cut: Cut) -> str:
    """The error for a corpus that has not been imported: the command to get it, and an alternative."""
    words = f"knowledge.tokens={cut.tokens}" + (f" knowledge.overlap={cut.overlap}" if cut.overlap else "")
    whole = f"passages of {cut.tokens} tokens" if cut.tokens else "whole pages"
    command = "balrog-rag knowledge corpus"
    how = f"`{command} import {name} FILE {words}`"
    if name == "minihack":
        how = f"`{command} fetch minihack {words}`, or from its file nethackwikidata.json with {how}"
    return f"corpus {name} is not here in {whole}; get it with {how}; or take knowledge=embedded"


def _embedded() -> Corpus:
    """Load the embedded corpus from a cached file, which is rebuilt if its sources change."""
    from balrog_rag.knowledge.corpus.embedded import assembly

    file = built_folder() / "corpora" / f"{EMBEDDED}-{assembly.key()}.jsonl"
    if not file.is_file():
        try:
            assembly.write(file)
        except OSError:  # a read-only cache must not prevent searches
            lines = assembly.encoded()
            found = msgspec.json.Decoder(Passage).decode_lines(lines)
            return Corpus(EMBEDDED, found, blake2b(lines, digest_size=16).hexdigest())
    return _stored(EMBEDDED, file)


def _stored(name: str, file: Path) -> Corpus:
    stored = Passages(file)
    return Corpus(name, stored, stored.digest())


def _read(name: str, pages: Iterable[Page], cut: Cut) -> Corpus:
    found = list(passages(pages, name, cut, wordpiece()))
    if not found:
        raise KnowledgeError(f"corpus {name}: contains no text; add pages to it")
    return Corpus(name, found, digest(msgspec.json.encode(found)))
