"""The embedded corpus: what the NLE and Debian packages carry about NetHack, and notes of our own.

Built by `python -m balrog_rag.knowledge corpus build embedded` and committed, so that nobody needs to.
Tables become sentences of ours; the game's texts are kept as they are, under NetHack's licence.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from balrog_rag.contracts.errors import KnowledgeError
from balrog_rag.knowledge.passages import Page
from balrog_rag.util.paths import data

OURS, NETHACK = "MIT", "NGPL"
"""Licences: sentences written for this project, and texts of NetHack (its General Public License)."""


def pages(guidebook: Path | None = None) -> Iterator[Page]:
    """Every page of the corpus, in a fixed order."""
    import nle

    from balrog_rag.knowledge.corpus.embedded import guide, monsters, objects, overview_pages, texts

    files = Path(nle.__file__).parent / "nethackdir"
    notes = read_notes()
    yield from _licensed(_topics(notes), OURS)
    yield from _licensed(guide.pages(), OURS)
    yield from _licensed(monsters.pages(), OURS)
    yield from _licensed(objects.pages(notes["objects"]), OURS)
    yield from _licensed(overview_pages.pages(files / "dat"), OURS)
    yield from _licensed(texts.pages(files, guidebook or texts.GUIDEBOOK), NETHACK)


def read_notes() -> dict[str, Any]:
    """The notes in wiki_index: what objects do, and topics of play."""
    from omegaconf import OmegaConf
    from yaml import YAMLError  # type: ignore[import-untyped]

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
