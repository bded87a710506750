"""Pages cut into passages: by headings, then paragraphs, then sentences, within a budget of tokens.

A passage's id says where it comes from (`corpus/page#section`, `~2` for a second part), so it stays
the same when other pages change. What it says is hashed apart from that, so that indexing again
embeds only what changed.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any

import msgspec

from balrog_rag.contracts.data import Passage, digest
from balrog_rag.util.terminal_safe import cleaned

_SHORT = 100_000
"""Characters up to which a text is counted whole; a longer one is surely over any budget."""
_HEADING = re.compile(r"^#{1,6}[ \t]++(\S.*)$", re.MULTILINE)
_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_NO_SLUG = re.compile(r"[^a-z0-9]+")

Counter = Callable[[str], int]
"""How many tokens a text has."""


class Page(msgspec.Struct, frozen=True):
    """A page of a corpus before it is cut: Markdown headings (`## name`) mark its sections."""

    title: str
    text: str
    url: str = ""
    licence: str = ""
    path: str = ""
    """What its passages' ids begin with; empty: made from the title."""
    plain: bool = False
    """Whether the text is plain: a line that begins with # is then text, not a heading."""
    version: str = ""
    """The version of the game that it speaks of; empty where that is not known."""
    asked: str = ""
    """Other ways to ask for it: searched along, and not shown."""


class Cut(msgspec.Struct, frozen=True):
    """How pages are cut: at most `tokens` a passage (0: never cut), the last `overlap` tokens said again."""

    tokens: int
    overlap: int = 0


def slug(text: str) -> str:
    """A short, plain form of a title for ids."""
    return _NO_SLUG.sub("-", text.lower()).strip("-")[:60] or digest(text)[:8]


def wording(passage: Passage) -> str:
    """What a passage is found by: its title, and what it says. This is embedded, hashed and reranked."""
    return f"{passage.title}\n{body(passage)}"


def body(passage: Passage) -> str:
    """Its text, and the other ways to ask for it."""
    return f"{passage.text}\nAsked as: {passage.asked}." if passage.asked else passage.text


def sentences(text: str) -> list[str]:
    """The sentences of a text, each on one line."""
    return [line for each in _SENTENCE.split(text) if (line := " ".join(each.split()))]


def content_hash(passage: Passage) -> str:
    """Hash of what a passage says, its id apart."""
    return digest(wording(passage))


def passages(pages: Iterable[Page], source: str, cut: Cut, count: Counter) -> Iterator[Passage]:
    """Every page's passages, in order; equal ids (pages of one title) are told apart by a number."""
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
    """Heading and body of each section; a page that is not cut is one section."""
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
    """The words of a heading without the marks that may close it."""
    return line.rstrip().rstrip("#").rstrip() or line.strip()


def _parts(text: str, cut: Cut, count: Counter) -> Iterator[str]:
    """The text in parts within the budget, broken where its structure breaks."""
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
    """Paragraphs with their sizes; one that is too long as lines, then sentences, then words."""
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
    """One endless word, cut by characters; no tokenizer makes more tokens than characters."""
    for start in range(0, len(word), budget):
        piece = word[start : start + budget]
        yield piece, count(piece)


@cache
def wordpiece() -> Counter:
    """The token counter of the default embedder; its vocabulary is fetched on first use."""
    from balrog_rag.knowledge.embed.minilm import tokenizer

    words: Any = tokenizer()
    return lambda text: len(words.encode(text, add_special_tokens=False).ids)
