"""An index on disk: passages, vectors, the index itself and a manifest that says what they were made of.

Built beside its place and moved there when whole, so a reader sees the old one or the new one. Opened
read-only and mapped. One whose manifest does not fit what is asked for is refused, with what to run.
"""

import os
import shutil
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from balrog_rag.contracts import registry
from balrog_rag.contracts.data import Passage
from balrog_rag.contracts.errors import KnowledgeError
from balrog_rag.knowledge.embed import Embedder, Progress, Vectors
from balrog_rag.knowledge.index import Index
from balrog_rag.knowledge.passages import body, content_hash, wording
from balrog_rag.knowledge.store import Passages, read_json, write_passages

FORMAT = 1
_CHUNK = 512
_LIBRARIES = ("numpy", "faiss-cpu", "bm25s", "tokenizers", "openvino")


class Manifest(msgspec.Struct, frozen=True):
    """What an index was made of."""

    format: int
    corpus: str
    corpus_digest: str
    passages: int
    embedder: str
    dimensions: int
    index: str
    options: dict[str, Any]
    versions: dict[str, str]

    def difference(self, other: "Manifest") -> str:
        """In what two indexes differ, empty where one can stand for the other; versions do not count."""
        named = ("format", "corpus_digest", "passages", "embedder", "dimensions", "index", "options")
        differing = [name for name in named if getattr(self, name) != getattr(other, name)]
        return ", ".join(f"{name} is {getattr(self, name)}, not {getattr(other, name)}" for name in differing)


class IndexFolder:
    """The files of one index."""

    def __init__(self, path: Path) -> None:
        """`path` need not exist yet."""
        self.path = path

    def exists(self) -> bool:
        """Whether something that was built whole lies here."""
        return (self.path / "manifest.json").is_file()

    def manifest(self) -> Manifest:
        """The manifest, or a KnowledgeError where there is none that can be read."""
        if not self.exists():
            raise KnowledgeError(f"{self.path} holds no index; build one with `{_build_command(self.path)}`")
        manifest: Manifest = read_json(self.path / "manifest.json", Manifest)
        return manifest

    def check(self, wanted: Manifest) -> None:
        """Refuse an index that was made of something else."""
        difference = self.manifest().difference(wanted)
        if difference:
            raise KnowledgeError(
                f"the index in {self.path} does not fit ({difference}); "
                f"build it again with `{_build_command(self.path)}`"
            )

    def passages(self) -> Passages:
        """The passages, mapped."""
        return Passages(self.path / "passages.jsonl")

    def vectors(self) -> Vectors | None:
        """The vectors, mapped; None where the index uses none."""
        path = self.path / "vectors.npy"
        if not path.is_file():
            return None
        try:
            vectors: Vectors = np.load(path, mmap_mode="r", allow_pickle=False)
        except (OSError, ValueError) as error:
            raise KnowledgeError(f"cannot read {path}: {error}; build the index again") from error
        return vectors

    def open(self, options: Mapping[str, Any], threads: int) -> Index:
        """The index itself; `options` say how to search in it."""
        name = self.manifest().index
        index: Index = registry.indexes.get(name)(self.path / "index", self.vectors(), options, threads)
        return index

    def known_vectors(self) -> dict[bytes, Vectors]:
        """Vectors by their passage's content, to be used again; a broken old index gives none."""
        try:
            hashes = np.load(self.path / "hashes.npy", mmap_mode="r", allow_pickle=False)
        except (OSError, ValueError):
            return {}
        vectors = self.vectors()
        return {} if vectors is None else {bytes(row): vectors[place] for place, row in enumerate(hashes)}


def build(
    place: IndexFolder,
    passages: Sequence[Passage],
    wanted: Manifest,
    options: Mapping[str, Any],
    embedder: Embedder | None,
    known: Mapping[bytes, Vectors],
    threads: int,
    progress: Progress,
) -> int:
    """Build the index and put it in its place when it is whole; returns how many passages were embedded.

    Whoever builds holds the place's lock, so that what others have left half-built is nobody's.
    """
    part = place.path.with_name(f".{place.path.name}.{os.getpid()}")
    try:
        for left in _half_built(place.path):
            shutil.rmtree(left, ignore_errors=True)
        (part / "index").mkdir(parents=True)
        write_passages(part / "passages.jsonl", passages)
        vectors, embedded = None, 0
        if embedder is not None:
            vectors, embedded = _embed(passages, embedder, known, part, progress)
        kind = registry.indexes.get(wanted.index)
        kind.build(part / "index", _TextsOf(passages), vectors, options, threads)
        (part / "manifest.json").write_bytes(msgspec.json.format(msgspec.json.encode(wanted), indent=2))
        _move(part, place.path)
    except OSError as error:
        raise KnowledgeError(
            f"cannot write the index {place.path}: {error}; the old one is untouched"
        ) from error
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return embedded


def _half_built(place: Path) -> list[Path]:
    """What builds that were killed have left beside the place."""
    begin = f".{place.name}."
    beside = [path for path in place.parent.iterdir() if path.name.startswith(begin)]
    return [path for path in beside if path.name.removeprefix(begin).removeprefix("old.").isdecimal()]


def versions() -> dict[str, str]:
    """The libraries that an index depends on, for the record."""
    return {name: version(name) for name in _LIBRARIES if _is_installed(name)}


def _is_installed(name: str) -> bool:
    try:
        version(name)
    except PackageNotFoundError:
        return False
    return True


def _embed(
    passages: Sequence[Passage],
    embedder: Embedder,
    known: Mapping[bytes, Vectors],
    folder: Path,
    progress: Progress,
) -> tuple[Vectors, int]:
    """The vectors, written to disk as they come; only what is not known is embedded."""
    shape = (len(passages), embedder.dimensions)
    vectors = np.lib.format.open_memmap(folder / "vectors.npy", mode="w+", dtype=np.float32, shape=shape)
    hashes = np.zeros((len(passages), 16), np.uint8)
    embedded = 0
    for start in range(0, len(passages), _CHUNK):
        chunk = passages[start : start + _CHUNK]
        keys = [bytes.fromhex(content_hash(passage)) for passage in chunk]
        fresh = [number for number, name in enumerate(keys) if name not in known]
        for number, name in enumerate(keys):
            hashes[start + number] = np.frombuffer(name, np.uint8)
            if name in known:
                vectors[start + number] = known[name]
        if fresh:
            texts = [wording(chunk[number]) for number in fresh]
            vectors[[start + number for number in fresh]] = embedder.passages(texts, progress)
        progress(len(chunk) - len(fresh))
        embedded += len(fresh)
    vectors.flush()
    np.save(folder / "hashes.npy", hashes, allow_pickle=False)
    return vectors, embedded


def _move(part: Path, place: Path) -> None:
    """Put the whole folder in its place; an old one is moved out of the way first."""
    old = place.with_name(f".{place.name}.old.{os.getpid()}")
    if place.exists():
        place.rename(old)
    part.rename(place)
    shutil.rmtree(old, ignore_errors=True)


def _build_command(path: Path) -> str:
    return f"python -m balrog_rag.knowledge index build knowledge.folder={path}"


class _TextsOf:
    def __init__(self, passages: Sequence[Passage]) -> None:
        self._passages = passages

    def titles(self) -> list[str]:
        """Every title."""
        return [passage.title for passage in self._passages]

    def bodies(self) -> list[str]:
        """Every text, with the other ways to ask for it."""
        return [body(passage) for passage in self._passages]
