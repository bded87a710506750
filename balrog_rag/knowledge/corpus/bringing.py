"""Import a corpus: read pages, cut them and write one file of passages atomically."""

import os
from collections.abc import Iterable, Iterator
from hashlib import file_digest
from pathlib import Path

from balrog_rag.contracts import registry
from balrog_rag.contracts.errors import KnowledgeError
from balrog_rag.knowledge.corpus import Corpus, imported, load
from balrog_rag.knowledge.embed import Progress
from balrog_rag.knowledge.passages import Cut, Page, passages, wordpiece
from balrog_rag.knowledge.progress import shown_progress
from balrog_rag.knowledge.store import write_passages


def build_embedded(guidebook: Path | None) -> Corpus:
    """Rebuild the committed part of the embedded corpus from the installed packages."""
    from balrog_rag.knowledge.corpus.embedded import assembly

    try:
        file = assembly.build(guidebook)
    except OSError as error:
        raise KnowledgeError(
            f"{error.filename}: {error.strerror}; build the corpus in a checkout that you can write to"
        ) from error
    corpus = load(assembly.NAME, assembly.CUT)
    print(f"{assembly.NAME}: {len(corpus.passages)} passages; {file}: sha256 {file_sha256(file)}")
    return corpus


def import_corpus(name: str, source: Path, cut: Cut, options: dict[str, object] | None = None) -> Corpus:
    """Import a downloaded corpus into wiki_index/built or the cache."""
    if not source.exists():
        raise KnowledgeError(f"{source} does not exist")
    read = registry.corpora.get(name)
    return bring(name, read(source, **(options or {})), imported(name, cut), cut)


def bring(name: str, pages: Iterable[Page], target: Path, cut: Cut) -> Corpus:
    """Cut the pages and replace an older file once all passages are written."""
    try:
        count, read = _write(name, pages, target, cut)
        corpus = load(str(target), cut)
        print(f"{name}: {read} pages, {count} passages, sha256 {file_sha256(target)}: {target}")
    except OSError as error:
        raise KnowledgeError(
            f"cannot import {name}: {error.filename or target}: {error.strerror or error}; "
            "an existing corpus is unchanged"
        ) from error
    return corpus


def _write(name: str, pages: Iterable[Page], target: Path, cut: Cut) -> tuple[int, int]:
    """Write the file of passages; return the number of passages and of pages."""
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f".{target.name}.{os.getpid()}")
    counter = _Counted(pages)
    try:
        with shown_progress(f"reading {name}", None) as progress:
            counter.progress = progress
            count = write_passages(part, passages(counter, name, cut, wordpiece()))
        if not count:
            raise KnowledgeError(f"{name}: contains no page with text; the old corpus is unchanged")
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
    return count, counter.pages


def file_sha256(path: Path) -> str:
    """The file's sha256, as recorded in sources.yaml."""
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


class _Counted:
    """Pages, counted as they are read."""

    def __init__(self, pages: Iterable[Page]) -> None:
        self._pages = pages
        self.pages = 0
        self.progress: Progress = lambda count: None

    def __iter__(self) -> Iterator[Page]:
        for page in self._pages:
            self.pages += 1
            self.progress(1)
            yield page
