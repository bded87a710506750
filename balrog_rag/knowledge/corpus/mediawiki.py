"""A MediaWiki XML dump of the NetHack wiki, read page by page, its markup put into plain text.

Kept: pages of the main namespace and, where asked for, discussion pages. Dropped: user, file, template,
category and other pages. A redirect becomes another name of its target. Needs mwparserfromhell.
"""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from balrog_rag.knowledge.corpus import wikitext
from balrog_rag.knowledge.corpus.dump import entries
from balrog_rag.knowledge.passages import Page

_MAIN, _TALK = "0", "1"
_LARGEST = 8 << 20
"""Characters of a page up to which its markup is parsed; a longer one is taken as it is."""


def pages(dump: Path, talk: bool = False, version: str = "") -> Iterator[Page]:
    """The dump's pages as text, each telling under which other names it is known.

    `version`: of the game that pages speak of which do not say so themselves.
    """
    wikitext.parser()
    names = _other_names(dump)
    wanted = (_MAIN, _TALK) if talk else (_MAIN,)
    for entry in entries(dump):
        if entry.namespace not in wanted or entry.redirect:
            continue
        text = wikitext.plain(entry.text) if len(entry.text) <= _LARGEST else entry.text
        also = sorted(names.get(entry.title, []))
        lead = f"Also called: {', '.join(also)}.\n\n" if also and text else ""
        address = wikitext.ADDRESS + quote(entry.title.replace(" ", "_"), safe="/:'(),!")
        about = wikitext.version(entry.text) or version
        yield Page(title=entry.title, text=lead + text, url=address, licence=wikitext.LICENCE, version=about)


def _other_names(dump: Path) -> dict[str, list[str]]:
    names: dict[str, list[str]] = {}
    for entry in entries(dump):
        if entry.redirect and entry.namespace == _MAIN:
            names.setdefault(entry.redirect.split("#")[0], []).append(entry.title)
    return names
