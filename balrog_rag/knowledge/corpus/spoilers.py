"""Read Debian's nethack-spoilers: articles and maps about NetHack 3.4.3, each with its authors' names.

The articles are plain text, cut at paragraphs; the pages of the gazetteer are HTML, whose maps are kept line
by line.
"""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

from balrog_rag.knowledge.corpus.debian import files
from balrog_rag.knowledge.passages import Page

UNDER = "usr/share/doc/nethack-spoilers"
LICENCE = "nethack-spoilers (credit the authors named)"
VERSION = "3.4.3"
_TEXT = re.compile(r"^[a-z0-9]{4}-343\.txt$")
_CREDIT = re.compile(r"^(?:compiled|updated|edited|written|maintained|adapted|by)\b.*$", re.IGNORECASE)
_HEAD = 12
"""Number of lines at the start of a file that may contain its title and authors."""


def pages(source: Path) -> Iterator[Page]:
    """Return every article and every map."""
    for name, content in files(source, UNDER):
        text = content.decode("latin-1").replace("\r", "")
        if _TEXT.match(name):
            yield _article(name, text)
        elif name.startswith("gazetteer/") and name.endswith(".html"):
            yield _map(name, text)


def _article(name: str, text: str) -> Page:
    lines = text.split("\n")
    head = [line.strip() for line in lines[1:_HEAD] if line.strip()]
    title = head[0] if head else name
    credit = "; ".join(line.rstrip(".") for line in head[1:] if _CREDIT.match(line))
    shown = f"NetHack 3.4.3 spoiler{f' ({credit})' if credit else ''}"
    body = "\n".join(lines[2:])
    full = f"{title} [{shown}]"[:_LONGEST_TITLE]
    path = name.removesuffix(".txt")
    return Page(title=full, text=body, licence=LICENCE, path=path, plain=True, version=VERSION)


_LONGEST_TITLE = 160


def _map(name: str, text: str) -> Page:
    reader = _Reader()
    reader.feed(text)
    title = reader.title.removeprefix("NetHack Gazetteer:").strip() or name
    return Page(
        title=f"{title} [NetHack 3.4.3 Gazetteer by Dylan O'Donnell]", text=reader.text(), licence=LICENCE,
        path=name.removesuffix(".html"), version=VERSION,
    )  # fmt: skip


class _Reader(HTMLParser):
    """The text of a page: headings as `## name`, maps unchanged, the rest as paragraphs."""

    _BREAKS = frozenset(("p", "br", "hr", "li", "tr", "dt", "dd", "div", "table", "ul"))
    _HEADINGS = frozenset(("h2", "h3", "h4"))
    _DROPPED = frozenset(("script", "style", "address", "head"))

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.title = ""
        self._parts: list[str] = []
        self._within: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Track where the text is, and start lines."""
        if tag in self._HEADINGS:
            self._parts.append("\n\n## ")
        elif tag in self._BREAKS or tag == "pre":
            self._parts.append("\n\n" if tag in ("p", "pre", "hr") else "\n")
        if tag in ("title", "pre", *self._DROPPED):
            self._within.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """Close what was started."""
        if tag in self._within:
            self._within.remove(tag)
        if tag in self._HEADINGS or tag == "pre":
            self._parts.append("\n")

    def handle_data(self, data: str) -> None:
        """Collect text; line breaks are kept in maps."""
        if "title" in self._within:
            self.title += " ".join(data.split())
        elif not self._DROPPED & set(self._within):
            self._parts.append(data if "pre" in self._within else re.sub(r"\s+", " ", data))

    def text(self) -> str:
        """Return all text without repeated empty lines."""
        return re.sub(r"\n[ \t]*(?:\n[ \t]*)+", "\n\n", "".join(self._parts)).strip()
