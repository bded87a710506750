"""Cut pages into passages: at headings, then paragraphs, then sentences, within a budget of tokens.

A passage's id states its origin (`corpus/page#section`, `~2` for a second part), so it is stable when other
pages change. Its content is hashed separately, so that rebuilding an index embeds only what changed.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any

import msgspec

from balrog_rag.contracts.data import Passage, digest
from balrog_rag.util.terminal_safe import cleaned

_SHORT = 100_000
"""Number of characters up to which a text is tokenized whole; a longer one is certainly over any budget."""
_HEADING = re.compile(r"^#{1,6}[ \t]++(\S.*)$", re.MULTILINE)
_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_NO_SLUG = re.compile(r"[^a-z0-9]+")

Counter = Callable[[str], int]
"""Counts the tokens of a text."""


class Page(msgspec.Struct, frozen=True):
    """A page of a corpus before it is cut: Markdown headings (`## name`) mark its sections."""

    title: str
    text: str
    url: str = ""
    licence: str = ""
    path: str = ""
    """Prefix of its passages' ids; empty: made from the title."""
    plain: bool = False
    """Whether the text is plain: a line that begins with # is then text, not a heading."""
    version: str = ""
    """The game version that it describes; empty if unknown."""
    asked: str = ""
    """Other ways to ask for it: searched as well, but not shown."""


class Cut(msgspec.Struct, frozen=True):
    """How pages are cut: at most `tokens` per passage (0: not cut), with an overlap of `overlap` tokens."""

    tokens: int
    overlap: int = 0


def slug(text: str) -> str:
    """A short, plain form of a title for ids."""
    return _NO_SLUG.sub("-", text.lower()).strip("-")[:60] or digest(text)[:8]


def wording(passage: Passage) -> str:
    """The searchable text of a passage: its title and its text. This is embedded, hashed and reranked."""
    return f"{passage.title}\n{body(passage)}"


def body(passage: Passage) -> str:
    """Its text, and the other ways to ask for it."""
    return f"{passage.text}\nAsked as: {passage.asked}." if passage.asked else passage.text


def sentences(text: str) -> list[str]:
    """The sentences of a text, each on one line."""
    return [line for each in _SENTENCE.split(text) if (line := " ".join(each.split()))]


def content_hash(passage: Passage) -> str:
    """Hash the content of a passage, without its id."""
    return digest(wording(passage))


def passages(pages: Iterable[Page], source: str, cut: Cut, count: Counter) -> Iterator[Passage]:
    """Cut every page into passages, in order; equal ids (pages of one title) get a number."""
    seen: dict[str, int] = {}
    for page in pages:
        path = page.path or slug(page.title)
        for heading, text in _sections(cleaned(page.text), cut, page.plain):
            stem = f"{source}/{path}#{slug(heading)}" if heading else f"{source}/{path}"
            title = cleaned(f"{page.title}: {heading}" if heading else page.title).replace("\n", " ")
            for part in _parts(text, cut, count):
                seen[stem] = seen.get(stem, 0) + 1
                name = stem if seen[stem] == 1 else f"{stem}~{seen[stem]}"
                yield Passage(
                    name, title, part, url=page.url, source=source, licence=page.licence,
                    version=page.version, asked=cleaned(page.asked),
                )  # fmt: skip


def _sections(text: str, cut: Cut, plain: bool) -> Iterator[tuple[str, str]]:
    """Return heading and body of each section; a page that is not cut is one section."""
    if not cut.tokens or plain:
        if text.strip():
            yield "", text.strip()
        return
    heading, start = "", 0
    for match in _HEADING.finditer(text):
        if text[start : match.start()].strip():
            yield heading, text[start : match.start()].strip()
        heading, start = _heading(match.group(1)), match.end()
    if text[start:].strip():
        yield heading, text[start:].strip()


def _heading(line: str) -> str:
    """The words of a heading without closing marks."""
    return line.rstrip().rstrip("#").rstrip() or line.strip()


def _parts(text: str, cut: Cut, count: Counter) -> Iterator[str]:
    """Split the text into parts within the budget, at its own boundaries."""
    if not cut.tokens or (len(text) < _SHORT and count(text) <= cut.tokens):
        yield text
        return
    kept: list[tuple[str, int]] = []
    used = 0
    for piece, size in _pieces(text, cut.tokens, count):
        if kept and used + size > cut.tokens:
            yield "".join(words for words, _ in kept).strip()
            kept = _tail(kept, min(cut.overlap, cut.tokens - size))
            used = sum(part for _, part in kept)
        kept.append((piece, size))
        used += size
    if kept:
        yield "".join(words for words, _ in kept).strip()


def _tail(kept: list[tuple[str, int]], overlap: int) -> list[tuple[str, int]]:
    """The last pieces that fit into the overlap."""
    room, first = overlap, len(kept)
    while first and kept[first - 1][1] <= room:
        first -= 1
        room -= kept[first][1]
    return kept[first:]


def _pieces(text: str, budget: int, count: Counter) -> Iterator[tuple[str, int]]:
    """Return paragraphs with their sizes; one that is too long is split into lines, sentences or words."""
    for paragraph in text.split("\n\n"):
        yield from _finer(paragraph.strip("\n") + "\n\n", budget, count, 0)


_BREAKS = (re.compile(r"(?<=\n)"), _SENTENCE, re.compile(r"(?<=\s)"))


def _finer(text: str, budget: int, count: Counter, depth: int) -> Iterator[tuple[str, int]]:
    size = count(text) if len(text) < _SHORT else budget + 1
    if size <= budget:
        if size:
            yield text, size
        return
    if depth == len(_BREAKS):
        yield from _chopped(text, budget, count)
        return
    glue = " " if _BREAKS[depth] is _SENTENCE else ""
    for piece in _BREAKS[depth].split(text):
        yield from _finer(piece + glue, budget, count, depth + 1)


def _chopped(word: str, budget: int, count: Counter) -> Iterator[tuple[str, int]]:
    """Split an endless word by characters; no tokenizer makes more tokens than characters."""
    for start in range(0, len(word), budget):
        piece = word[start : start + budget]
        yield piece, count(piece)


@cache
def wordpiece() -> Counter:
    """Return the token counter of the default embedder; its vocabulary is fetched on first use."""
    from balrog_rag.knowledge.embed.minilm import tokenizer

    words: Any = tokenizer()
    return lambda text: len(words.encode(text, add_special_tokens=False).ids)
