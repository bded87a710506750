"""The guide: how to play, in our own words, read from wiki_index/guide/*.md.

One file a subject, one `## heading` an entry. Lines of `key: value` may stand under a heading:
`asked` (other ways to ask for it, searched along), `sure` (`certain` unless it says otherwise),
`version` (`3.6` unless it says otherwise) and `id` (for an entry whose title changed).
"""

import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from balrog_rag.contracts.errors import KnowledgeError
from balrog_rag.knowledge.passages import Page, slug
from balrog_rag.util.paths import data

SURE = {
    "certain": "",
    "likely": "Likely, but not checked against the game.",
    "opinion": "This is advice; players differ.",
}
"""How sure an entry is, and what its passage says about that."""

_KEYS = ("asked", "sure", "version", "id")
_KEY = re.compile(rf"({'|'.join(_KEYS)}): (.+)")


class GuideEntry(msgspec.Struct, frozen=True):
    """One piece of advice."""

    subject: str
    title: str
    text: str
    asked: str = ""
    sure: str = "certain"
    version: str = "3.6"
    id: str = ""


def folder() -> Path:
    """Where the guide's files are."""
    return data("wiki_index") / "guide"


def entries(place: Path | None = None) -> Iterator[GuideEntry]:
    """Every entry of every file, in the order of the files' names."""
    for file in sorted((place or folder()).glob("*.md")):
        for part in re.split(r"^## ", file.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
            yield _entry(file, part)


def _entry(file: Path, part: str) -> GuideEntry:
    title, _, rest = part.partition("\n")
    keys: dict[str, str] = {}
    lines = rest.strip().splitlines()
    while lines and (found := _KEY.fullmatch(lines[0].strip())):
        keys[found.group(1)] = found.group(2).strip()
        lines.pop(0)
    entry = GuideEntry(subject=file.stem, title=title.strip(), text=_flowing(lines), **keys)
    if not entry.text or entry.sure not in SURE:
        raise KnowledgeError(
            f"{file.name}, '{entry.title}': an entry needs text, and sure is one of {', '.join(SURE)}"
        )
    return entry


def _flowing(lines: list[str]) -> str:
    """Wrapped lines joined to paragraphs; a line that begins with a dash or a bar stays a line."""
    text = "\n".join(line.strip() for line in lines).strip()
    return re.sub(r"(?<!\n)\n(?![-|\n])", " ", text)


def pages(place: Path | None = None) -> Iterator[Page]:
    """One page an entry."""
    for entry in entries(place):
        parts = (entry.text, SURE[entry.sure])
        yield Page(
            title=entry.title,
            text="\n".join(part for part in parts if part),
            path=f"guide/{entry.subject}/{entry.id or slug(entry.title)}",
            version=entry.version,
            asked=entry.asked,
        )
