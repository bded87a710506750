"""The pages of the embedded corpus: data on NetHack from nle and Debian, and texts of this project.

Tables are converted to sentences; the game's texts are kept unchanged, under NetHack's licence. `assembly`
combines the pages.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from balrog_rag.contracts.errors import KnowledgeError
from balrog_rag.knowledge.passages import Page
from balrog_rag.util.paths import data

OURS, NETHACK = "MIT", "NGPL"
"""Licences: of sentences written for this project, and of NetHack's texts (its General Public License)."""


def pages() -> Iterator[Page]:
    """Return the pages written for this project as text files: topics of play and the guide."""
    from balrog_rag.knowledge.corpus.embedded import guide

    yield from _licensed(_topics(read_notes()), OURS)
    yield from _licensed(guide.pages(), OURS)


def table_pages() -> Iterator[Page]:
    """Return the pages made from NetHack's own tables, and its encyclopaedia; the Guidebook follows them."""
    from balrog_rag.knowledge.corpus.embedded import monsters, objects, overview_pages, texts

    files = _nle_files()
    yield from _licensed(monsters.pages(), OURS)
    yield from _licensed(objects.pages(read_notes()["objects"]), OURS)
    yield from _licensed(overview_pages.pages(files / "dat"), OURS)
    yield from _licensed(texts.encyclopaedia(files / "dat" / "data.base"), NETHACK)


def guidebook_pages(guidebook: Path) -> Iterator[Page]:
    """Return the pages of NetHack's Guidebook, which nle does not include."""
    from balrog_rag.knowledge.corpus.embedded import texts

    yield from _licensed(texts.guidebook_pages(guidebook), NETHACK)


def short_text_pages() -> Iterator[Page]:
    """Return the pages of NetHack's oracles, true rumours, help and manual page."""
    from balrog_rag.knowledge.corpus.embedded import texts

    yield from _licensed(texts.short_texts(_nle_files()), NETHACK)


def _nle_files() -> Path:
    import nle

    return Path(nle.__file__).parent / "nethackdir"


def read_notes() -> dict[str, Any]:
    """Read the notes in wiki_index: effects of objects, and topics of play."""
    from omegaconf import OmegaConf
    from yaml import YAMLError

    file = data("wiki_index") / "notes.yaml"
    try:
        notes: Any = OmegaConf.to_container(OmegaConf.load(file))
    except (OSError, YAMLError) as error:
        raise KnowledgeError(f"cannot read {file}: {error}") from error
    return dict(notes)


def _topics(notes: dict[str, Any]) -> Iterator[Page]:
    for title, text in notes["topics"].items():
        yield Page(title=title, text=text, path=f"topic/{title}")


def _licensed(all_of_them: Iterable[Page], licence: str) -> Iterator[Page]:
    for page in all_of_them:
        yield replace(page, licence=licence, path=_plain(page.path), plain=True)


def _plain(path: str) -> str:
    from balrog_rag.knowledge.passages import slug

    return "/".join(slug(part) for part in path.split("/"))
