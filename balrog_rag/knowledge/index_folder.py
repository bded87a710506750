"""An index on disk: passages, vectors, the index itself and a manifest of what they were made from.

It is built beside its final place and moved there when complete, so a reader sees either the old or the new
one. It is opened read-only and mapped. If the manifest does not match the request, or files have changed
since they were built, it is rejected with the command to run.
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
from balrog_rag.contracts.errors import BalrogError, KnowledgeError
from balrog_rag.knowledge.embed import Embedder, Progress, Vectors
from balrog_rag.knowledge.index import Index
from balrog_rag.knowledge.integrity import (
    MANIFEST,
    FileRecord,
    changed_file,
    changes,
    checked_vectors,
    records,
    wrong_vectors,
)
from balrog_rag.knowledge.passages import body, content_hash, wording
from balrog_rag.knowledge.store import Passages, read_json, write_passages
from balrog_rag.util.shell_commands import command

FORMAT = 2
"""Version 1 had no records of files in the manifest."""
_CHUNK = 512
_LIBRARIES = ("numpy", "faiss-cpu", "bm25s", "tokenizers", "openvino")


class Manifest(msgspec.Struct, frozen=True):
    """What an index was made from."""

    format: int
    corpus: str
    corpus_digest: str
    passages: int
    embedder: str
    dimensions: int
    index: str
    options: dict[str, Any]
    versions: dict[str, str]
    files: dict[str, FileRecord] = {}
    """Every file of the index except the manifest."""

    def difference(self, other: "Manifest") -> str:
        """Describe how two indexes differ, apart from their versions and files; empty if they do not."""
        named = ("format", "corpus_digest", "passages", "embedder", "dimensions", "index", "options")
        differing = [name for name in named if getattr(self, name) != getattr(other, name)]
        return ", ".join(f"{name} is {getattr(self, name)}, not {getattr(other, name)}" for name in differing)


class IndexFolder:
    """The files of one index."""

    def __init__(self, path: Path, settings: Sequence[str] = ()) -> None:
        """`path` need not exist yet; `settings` are the overrides that a command to build it needs."""
        self.path, self._settings = path, settings

    def exists(self) -> bool:
        """Whether a complete index is here."""
        return (self.path / MANIFEST).is_file()

    def manifest(self) -> Manifest:
        """Read the manifest; raise a KnowledgeError if there is none or it cannot be read."""
        if not self.exists():
            raise KnowledgeError(f"{self.path}: no index here; build one with `{self._build_command}`")
        manifest: Manifest = read_json(self.path / MANIFEST, Manifest)
        return manifest

    def check(self, wanted: Manifest) -> None:
        """Reject an index that was made from something else, or that has changed since it was built."""
        manifest = self.manifest()
        if difference := manifest.difference(wanted):
            raise KnowledgeError(
                f"the index in {self.path} does not fit ({difference}); "
                f"build it again with `{self._build_command}`"
            )
        try:
            changed = changes(self.path, manifest.files)
        except OSError as error:
            changed = f"{error.filename}: {error.strerror}"
        if changed:
            raise self._broken(changed)

    def passages(self) -> Passages:
        """The passages, mapped."""
        found, count = Passages(self.path / "passages.jsonl"), self.manifest().passages
        if len(found) != count:
            raise self._broken(f"passages.jsonl has {len(found)} passages, not {count}")
        return found

    def vectors(self) -> Vectors | None:
        """The vectors, mapped; None if the index uses none."""
        manifest = self.manifest()
        if not manifest.dimensions:
            return None
        found = self._array("vectors.npy")
        if wrong := wrong_vectors(found, manifest.passages, manifest.dimensions):
            raise self._broken(f"vectors.npy: {wrong}")
        vectors: Vectors = found
        return vectors

    def _array(self, name: str) -> Any:
        """Map a file's array."""
        try:
            return np.load(self.path / name, mmap_mode="r", allow_pickle=False)
        except (OSError, ValueError) as error:
            raise self._broken(f"cannot read {name}: {error}") from error

    def open(self, options: Mapping[str, Any], threads: int) -> Index:
        """Open the index itself; `options` configure its searches. Call `check` first."""
        manifest, vectors = self.manifest(), self.vectors()
        kind = registry.indexes.get(manifest.index)
        try:
            index: Index = kind(self.path / "index", vectors, options, threads)
        except BalrogError:
            raise
        except Exception as error:  # libraries and plug-ins can raise anything on files they cannot use
            raise self._broken(f"{type(error).__name__}: {error}") from error
        count = getattr(index, "count", manifest.passages)
        if count != manifest.passages:
            raise self._broken(f"the {manifest.index} index is of {count} passages, not {manifest.passages}")
        return index

    @property
    def _build_command(self) -> str:
        return command("knowledge", "index", "build", *self._settings, f"knowledge.folder={self.path}")

    def _broken(self, reason: str) -> KnowledgeError:
        return KnowledgeError(
            f"the index in {self.path} is damaged: {' '.join(reason.split())}; "
            f"delete this folder and build it again with `{self._build_command}`"
        )

    def known_vectors(self) -> dict[bytes, Vectors]:
        """Vectors by their passage's content, for reuse; none from a damaged or older index."""
        manifest = self.manifest()
        try:
            if changed_file(self.path, manifest.files, ("vectors.npy", "hashes.npy")):
                return {}
            vectors, hashes = self.vectors(), self._array("hashes.npy")
        except (OSError, KnowledgeError):
            return {}
        if vectors is None or hashes.shape != (len(vectors), 16) or hashes.dtype != np.uint8:
            return {}
        return {bytes(row): vectors[place] for place, row in enumerate(hashes)}


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
    """Build the index and move it into place when complete; return how many passages were embedded.

    The builder holds the place's lock, so unfinished folders there belong to no running process and are
    removed.
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
        whole = msgspec.structs.replace(wanted, files=records(part))
        (part / MANIFEST).write_bytes(msgspec.json.format(msgspec.json.encode(whole), indent=2))
        _move(part, place.path)
    except OSError as error:
        raise KnowledgeError(
            f"cannot write the index {place.path}: {error}; the old one is unchanged"
        ) from error
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return embedded


def _half_built(place: Path) -> list[Path]:
    """Unfinished folders left by builds that were killed."""
    begin = f".{place.name}."
    beside = [path for path in place.parent.iterdir() if path.name.startswith(begin)]
    return [path for path in beside if path.name.removeprefix(begin).removeprefix("old.").isdecimal()]


def versions() -> dict[str, str]:
    """The versions of libraries that an index depends on, for the record."""
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
    """Write the vectors to disk as they are computed; only unknown passages are embedded."""
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
            made = embedder.passages(texts, progress)
            rows = [start + number for number in fresh]
            vectors[rows] = checked_vectors(made, len(fresh), embedder.dimensions, embedder.identity)
        progress(len(chunk) - len(fresh))
        embedded += len(fresh)
    vectors.flush()
    np.save(folder / "hashes.npy", hashes, allow_pickle=False)
    return vectors, embedded


def _move(part: Path, place: Path) -> None:
    """Move the complete folder into place; an old one is moved away first."""
    old = place.with_name(f".{place.name}.old.{os.getpid()}")
    if place.exists():
        place.rename(old)
    part.rename(place)
    shutil.rmtree(old, ignore_errors=True)


class _TextsOf:
    def __init__(self, passages: Sequence[Passage]) -> None:
        self._passages = passages

    def titles(self) -> list[str]:
        """Return every title."""
        return [passage.title for passage in self._passages]

    def bodies(self) -> list[str]:
        """Return every text, with the other ways to ask for it."""
        return [body(passage) for passage in self._passages]
