"""Read a MediaWiki XML dump of the NetHack wiki page by page, converting its markup to plain text.

Kept are pages of the main namespace and, on request, discussion pages. User, file, template, category and
other pages are dropped. A redirect becomes another name of its target. A page that cannot be parsed in time
is left out and named. Needs mwparserfromhell.
"""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from balrog_rag.contracts.errors import KnowledgeError
from balrog_rag.knowledge.corpus import wikitext
from balrog_rag.knowledge.corpus.dump import DumpEntry, entries
from balrog_rag.knowledge.corpus.wikitext_process import UnparsedPage, WikitextProcess
from balrog_rag.knowledge.passages import Page
from balrog_rag.util.terminal_safe import one_line

_MAIN, _TALK = "0", "1"
_LARGEST = 8 << 20
"""Maximum number of characters of a page whose markup is parsed; a longer page is kept unparsed."""


_MOST_LEFT_OUT = 20
"""Maximum number of pages that may be left out; each may have cost its whole time limit."""


def pages(dump: Path, talk: bool = False, version: str = "") -> Iterator[Page]:
    """Yield the dump's pages as text, each with its other names; print the pages that were left out.

    `version` is the game version that a page describes unless the page names one.
    """
    wikitext.parser()
    names = _other_names(dump)
    wanted = (_MAIN, _TALK) if talk else (_MAIN,)
    left_out = 0
    with WikitextProcess() as process:
        for entry in entries(dump):
            if entry.namespace not in wanted or entry.redirect:
                continue
            try:
                text = process.plain(entry.text) if len(entry.text) <= _LARGEST else entry.text
            except UnparsedPage as reason:
                left_out += 1
                print(f'left out: page "{one_line(entry.title)}": {reason}')
                _check_left_out(dump, left_out)
                continue
            yield _page(entry, text, sorted(names.get(entry.title, [])), version)


def _check_left_out(dump: Path, count: int) -> None:
    if count > _MOST_LEFT_OUT:
        raise KnowledgeError(
            f"{dump}: more than {_MOST_LEFT_OUT} pages cannot be parsed; import a dump of an ordinary wiki"
        )


def _page(entry: DumpEntry, text: str, also: list[str], version: str) -> Page:
    lead = f"Also called: {', '.join(also)}.\n\n" if also and text else ""
    address = wikitext.ADDRESS + quote(entry.title.replace(" ", "_"), safe="/:'(),!")
    about = wikitext.version(entry.text) or version
    return Page(title=entry.title, text=lead + text, url=address, licence=wikitext.LICENCE, version=about)


def _other_names(dump: Path) -> dict[str, list[str]]:
    names: dict[str, list[str]] = {}
    for entry in entries(dump):
        if entry.redirect and entry.namespace == _MAIN:
            names.setdefault(entry.redirect.split("#")[0], []).append(entry.title)
    return names
