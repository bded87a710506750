"""The guide: how to play, in our own words, read from wiki_index/guide/*.md.

One file per subject, one `## heading` per entry. Directly below the heading come lines of `key: value`;
`wiki_index/README.md` describes the keys. Every entry has `checked`, which says how its claims were checked.
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
"""Levels of certainty of an entry, each with the sentence that its passage adds."""

CHECKED = ("table", "source", "played", "read")
"""How an entry was checked: a test compares it with nle's tables (table), somebody compared it with NetHack's
source (source), a test plays it (played), or it was only read through (read). All but `read` name the places,
as `FILE:FUNCTION`."""

_KEYS = ("asked", "sure", "version", "id", "checked", "tags")
_KEY = re.compile(rf"({'|'.join(_KEYS)}): (.+)")
_PLACE = re.compile(r"[\w/.-]+\.(?:c|h|py|des|def):\w+")


class GuideEntry(msgspec.Struct, frozen=True):
    """One piece of advice."""

    subject: str
    title: str
    text: str
    checked: str = ""
    places: tuple[str, ...] = ()
    """Where it was checked: a C file and function of NetHack 3.6.7, or a test."""
    asked: str = ""
    sure: str = "certain"
    version: str = "3.6.7"
    id: str = ""
    """For an entry whose title or file changed: the last part of its old path, or the whole path."""
    tags: tuple[str, ...] = ()
    """Situations to which it applies. They are not searched."""

    @property
    def path(self) -> str:
        """The end of its passage's id."""
        name = self.id or slug(self.title)
        return name if "/" in name else f"{self.subject}/{name}"


def folder() -> Path:
    """The folder of the guide's files."""
    return data("wiki_index") / "guide"


def entries(place: Path | None = None) -> Iterator[GuideEntry]:
    """Return every entry of every file, ordered by file name."""
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
    checked, _, places = keys.pop("checked", "").partition(" ")
    entry = GuideEntry(
        subject=file.stem,
        title=title.strip(),
        text=_flowing(lines),
        checked=checked,
        places=_listed(places),
        tags=_listed(keys.pop("tags", "")),
        **keys,
    )
    if problem := _problem(entry):
        raise KnowledgeError(f"{file.name}, '{entry.title}': {problem}")
    return entry


def _listed(value: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in value.split(",") if part.strip())


def _problem(entry: GuideEntry) -> str:
    """Describe what is wrong with an entry and how to fix it; empty if nothing is."""
    if not entry.text:
        return "an entry needs text; write it below the keys"
    if entry.sure not in SURE:
        return f"sure is '{entry.sure}'; use one of {', '.join(SURE)}"
    if entry.checked not in CHECKED:
        return f"checked is '{entry.checked}'; use one of {', '.join(CHECKED)}"
    if (entry.checked == "read") == bool(entry.places):
        return "'read' takes no place, every other way needs one; e.g. 'checked: source mon.c:m_detach'"
    wrong = [place for place in entry.places if not _PLACE.fullmatch(place)]
    return f"checked names '{wrong[0]}'; write FILE:FUNCTION, e.g. mon.c:m_detach" if wrong else ""


def _flowing(lines: list[str]) -> str:
    """Join wrapped lines to paragraphs; a line that begins with a dash or a bar stays a line."""
    text = "\n".join(line.strip() for line in lines).strip()
    return re.sub(r"(?<!\n)\n(?![-|\n])", " ", text)


def pages(place: Path | None = None) -> Iterator[Page]:
    """Convert each entry to one page."""
    for entry in entries(place):
        parts = (entry.text, SURE[entry.sure])
        yield Page(
            title=entry.title,
            text="\n".join(part for part in parts if part),
            path=f"guide/{entry.path}",
            version=entry.version,
            asked=entry.asked,
        )
