"""Open a knowledge base from settings, building its index first if there is none."""

import re
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from filelock import FileLock

from balrog_rag.config.own_files import quoted
from balrog_rag.config.schema import KnowledgeConfig
from balrog_rag.contracts import registry
from balrog_rag.contracts.data import digest
from balrog_rag.contracts.errors import ConfigError, KnowledgeError
from balrog_rag.knowledge import index_folder as folders
from balrog_rag.knowledge.corpus import Corpus, built_folder, load
from balrog_rag.knowledge.embed import Embedder, Vectors
from balrog_rag.knowledge.index_folder import IndexFolder, Manifest
from balrog_rag.knowledge.passages import Cut
from balrog_rag.knowledge.progress import shown_progress
from balrog_rag.knowledge.search import PassageReranker, Reranker, Searcher

_PLAIN = re.compile(r"[\w./:@+-]+")


def open_searcher(config: KnowledgeConfig, corpus: Corpus | None = None, remember: bool = False) -> Searcher:
    """Open the knowledge base of these settings; its index is built at first use."""
    corpus = corpus or load(config.corpus, Cut(config.tokens, config.overlap))
    if config.corpus_digest not in (None, corpus.digest):
        raise KnowledgeError(
            f"knowledge.corpus={config.corpus}: contains other passages than when this run was started; "
            "restore those to resume it, or start a new run"
        )
    # Both are created before an index is built, so that a missing extra is reported now, not after an hour.
    embedder, reranker = make_embedder(config), make_reranker(config)
    wanted = manifest(config, corpus, embedder)
    place = index_folder(config, wanted)
    if config.folder is None and not place.exists():
        build_index(config, corpus, embedder)
    place.check(wanted)
    index = place.open(options_of(config, config.index), config.threads)
    return Searcher(
        place.passages(),
        index,
        embedder,
        config.prior,
        reranker,
        config.rerank,
        config.passing,
        config.parts,
        config.cover,
        config.versions,
        remember,
        config.meaning,
    )


def build_index(config: KnowledgeConfig, corpus: Corpus, embedder: Embedder | None) -> IndexFolder:
    """Build the index, embedding only passages that no index of the same embedder here contains."""
    wanted = manifest(config, corpus, embedder)
    place = index_folder(config, wanted)
    _refuse_foreign(place.path)
    try:
        place.path.parent.mkdir(parents=True, exist_ok=True)
        TemporaryFile(dir=place.path.parent).close()  # a lock would wait for ever on a read-only file system
    except OSError as error:
        raise KnowledgeError(
            f"cannot write in {place.path.parent}: {error.strerror}; set knowledge.folder"
        ) from error
    with FileLock(place.path.with_name(f".{place.path.name}.lock")):
        if config.folder is None and place.exists():
            return place  # another process built it while this one waited
        _build(config, corpus, embedder, place, wanted)
    return place


def _refuse_foreign(path: Path) -> None:
    """Refuse to replace anything but an index: the folder may be somebody else's."""
    if (path / "manifest.json").is_file() or not path.exists():
        return
    if not path.is_dir() or any(path.iterdir()):
        raise KnowledgeError(
            f"{path}: not an index, and left unchanged; set knowledge.folder to another folder"
        )


def _build(
    config: KnowledgeConfig, corpus: Corpus, embedder: Embedder | None, place: IndexFolder, wanted: Manifest
) -> None:
    started = time.monotonic()
    with shown_progress(f"indexing {corpus.name}", wanted.passages) as progress:
        known = _known_vectors(place, wanted) if embedder else {}
        options = options_of(config, config.index)
        embedded = folders.build(
            place, corpus.passages, wanted, options, embedder, known, config.threads, progress
        )
    took = f"{time.monotonic() - started:.1f} s, {embedded} embedded"
    print(f"indexed {wanted.passages} passages of {corpus.name} ({took}): {place.path}", file=sys.stderr)


def manifest(config: KnowledgeConfig, corpus: Corpus, embedder: Embedder | None) -> Manifest:
    """The manifest that a matching index must have."""
    return Manifest(
        format=folders.FORMAT,
        corpus=corpus.name,
        corpus_digest=corpus.digest,
        passages=len(corpus.passages),
        embedder=embedder.identity if embedder else "",
        dimensions=embedder.dimensions if embedder else 0,
        index=config.index,
        options=registry.indexes.get(config.index).lasting(options_of(config, config.index)),
        versions=folders.versions(),
    )


class KnowledgeOptions(dict[str, Any]):
    """The settings of one part; a missing value raises an error with the option's full name."""

    def __init__(self, path: str, values: Mapping[str, Any]) -> None:
        """`path` is their place in the configuration."""
        super().__init__(
            {
                key: KnowledgeOptions(f"{path}.{key}", value) if isinstance(value, Mapping) else value
                for key, value in values.items()
            }
        )
        self._path = path

    def __missing__(self, key: str) -> Any:
        raise ConfigError(f"{self._path}.{key}: no value; set it")


def options_of(config: KnowledgeConfig, part: str) -> KnowledgeOptions:
    """Return the settings of an index, embedder or reranker."""
    return KnowledgeOptions(f"knowledge.options.{part}", config.options.get(part) or {})


def index_folder(config: KnowledgeConfig, wanted: Manifest) -> IndexFolder:
    """The folder of the index: as configured, or named by what it is made from."""
    settings = _settings_of(config)
    if config.folder is not None:
        return IndexFolder(Path(config.folder).expanduser(), settings)
    made_of = [
        wanted.format,
        wanted.corpus_digest,
        wanted.embedder,
        wanted.dimensions,
        wanted.index,
        wanted.options,
    ]
    name = f"{wanted.corpus}-{wanted.index}-{digest(repr(made_of))[:12]}"
    return IndexFolder(built_folder() / "indexes" / name, settings)


def _settings_of(config: KnowledgeConfig) -> list[str]:
    """The overrides that determine an index: a command without them could replace it by another corpus's."""
    keys = ("corpus", "index", "embedder", "tokens", "overlap")
    place, options = f"knowledge.options.{config.embedder}", config.options.get(config.embedder) or {}
    return [
        *(_override(f"knowledge.{key}", getattr(config, key)) for key in keys),
        *(_override(f"{place}.{key}", value) for key, value in options.items() if value),
    ]


def _override(key: str, value: object) -> str:
    """Write an override; a value that Hydra's grammar would read otherwise is quoted."""
    text = str(value)
    return f"{key}={text if _PLAIN.fullmatch(text) else quoted(text)}"


def make_embedder(config: KnowledgeConfig) -> Embedder | None:
    """Create the embedder, or return None if the index needs no vectors."""
    if not registry.indexes.get(config.index).needs_vectors:
        return None
    embedder: Embedder = _made(registry.embedders, config.embedder, config)
    return embedder


def make_reranker(config: KnowledgeConfig) -> Reranker | PassageReranker | None:
    """Create the reranker, or return None."""
    if config.reranker is None:
        return None
    reranker: Reranker | PassageReranker = _made(registry.rerankers, config.reranker, config)
    return reranker


def _made(kind: registry.Registry[Any], name: str, config: KnowledgeConfig) -> Any:
    factory: Callable[..., Any] = kind.get(name)
    return factory(options_of(config, name), config.threads)


def _known_vectors(place: IndexFolder, wanted: Manifest) -> dict[bytes, Vectors]:
    """Vectors of the same embedder in this index and in neighbouring ones."""
    known: dict[bytes, Vectors] = {}
    for path in sorted(place.path.parent.glob("*/manifest.json")):
        neighbour = IndexFolder(path.parent)
        try:
            made = neighbour.manifest()
        except KnowledgeError:
            continue  # a damaged neighbour has nothing to reuse
        if (made.embedder, made.dimensions) == (wanted.embedder, wanted.dimensions):
            known.update(neighbour.known_vectors())
    return known
