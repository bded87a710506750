"""Debian's nethack-common: the Guidebook of its NetHack, section by section."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec.structs import replace

from balrog_rag.contracts.errors import KnowledgeError
from balrog_rag.knowledge.corpus.debian import files
from balrog_rag.knowledge.corpus.embedded.texts import guidebook_pages
from balrog_rag.knowledge.passages import Page, slug

UNDER = "usr/share/doc/nethack-common"
VERSION = "3.6.6"


def pages(source: Path) -> Iterator[Page]:
    """The sections of the Guidebook."""
    for name, content in files(source, UNDER):
        if name == "Guidebook.txt":
            with TemporaryDirectory() as folder:
                file = Path(folder) / name
                file.write_bytes(content)
                for page in guidebook_pages(file):
                    path = "/".join(slug(part) for part in page.path.split("/"))
                    yield replace(page, licence="NGPL", path=path, plain=True, version=VERSION)
            return
    raise KnowledgeError(f"{source} holds no Guidebook.txt; is it nethack-common?")
