"""Read MiniHack's copy of the NetHack wiki: nethackwikidata.json, one page per line.

Two derived files can be read as well: the one that MiniHack's code writes, and the paper's, which has a page
under each name with the fields title, categories and raw_text.

A page's raw text is its paragraphs joined as MiniHack joins them. Titles that differ only in case count once
(the last page wins, as in MiniHack's dictionary), and so do equal texts. Pages without text and redirects are
left out.
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from balrog_rag.contracts.data import digest
from balrog_rag.contracts.errors import KnowledgeError
from balrog_rag.knowledge.corpus import wikitext
from balrog_rag.knowledge.passages import Page
from balrog_rag.util.fetch import cache_folder, download

ADDRESS = "https://www.dropbox.com/s/6qbfmsr3l89sip0/nethackwikidata.json?dl=1"
_MOST_BYTES = 1 << 30


def pages(source: Path) -> Iterator[Page]:
    """Yield the wiki's pages; report at the end how many were left out, and why."""
    dropped = Counter[str]()
    by_title: dict[str, Page] = {}
    for place, entry in _entries(source):
        page = _page(entry, place)
        reason = _unwanted(page)
        if reason:
            dropped[reason] += 1
            continue
        dropped["of a repeated title"] += page.title.lower() in by_title
        by_title[page.title.lower()] = page
    seen: set[str] = set()
    for page in by_title.values():
        text = digest(page.text)
        dropped["of a repeated text"] += text in seen
        if text not in seen:
            yield page
        seen.add(text)
    print(
        "left out: "
        + (", ".join(f"{count} {reason}" for reason, count in dropped.items() if count) or "none")
    )


def _unwanted(page: Page) -> str:
    """The reason for leaving a page out; empty if it is kept."""
    if not page.text.strip():
        return "without text"
    return "that only redirect" if page.text.lstrip().upper().startswith("#REDIRECT") else ""


def _entries(source: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every page of the file, with its position for messages."""
    with source.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if number == 1 and line.strip() == b"{":  # one dictionary over many lines
                found, place = _decoded(line + file.read(), str(source)), str(source)
            elif line.strip():
                place = f"{source}, line {number}"
                found = _decoded(line, place)
            else:
                continue
            for entry in _unpacked(found):
                if not isinstance(entry, dict):
                    raise KnowledgeError(f"{place}: a page is expected, not {type(entry).__name__}")
                yield place, entry


def _decoded(text: bytes, place: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise KnowledgeError(
            f"{place}: not JSON ({error}); the file is truncated, or a different file"
        ) from error


def _unpacked(found: Any) -> list[Any]:
    """Split one page per line, or one dictionary of pages in which aliases may repeat them."""
    if isinstance(found, dict) and ("_global_counts" in found or _holds_pages(found)):
        return [page for name, page in found.items() if name != "_global_counts"]
    return [found]


def _holds_pages(found: dict[str, Any]) -> bool:
    return bool(found) and all(isinstance(page, dict) and "raw_text" in page for page in found.values())


def _page(entry: dict[str, Any], place: str) -> Page:
    title = entry.get("wikipedia_title", entry.get("title"))
    if not isinstance(title, str) or not title.strip():
        raise KnowledgeError(f"{place}: a page without wikipedia_title; this is not MiniHack's file")
    name = title.strip()
    address = wikitext.ADDRESS + name.replace(" ", "_")
    return Page(name, _text(entry), url=address, licence=wikitext.LICENCE, plain=True)


def _text(entry: dict[str, Any]) -> str:
    raw = entry.get("raw_text", entry.get("text", ""))
    if isinstance(raw, list):
        return "".join(part for part in raw if isinstance(part, str))
    return raw if isinstance(raw, str) else ""


def fetch(address: str = ADDRESS) -> Path:
    """Download the file to the cache, with a progress bar; needs internet access."""
    from balrog_rag.knowledge.progress import shown_progress

    target = cache_folder() / "nethackwikidata.json"
    by_hand = "get the file by hand and `balrog-rag knowledge corpus import minihack FILE`"
    download(
        address, target, _MOST_BYTES, by_hand, lambda size: shown_progress(f"downloading {target.name}", size)
    )
    return target
