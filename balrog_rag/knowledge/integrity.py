"""Check that an index is as it was built: size and sha256 of its files, and the form of its vectors.

Libraries that map index files trust them: a truncated file ends the process without an exception, and changed
vectors silently change the results. So files are compared before any library opens them.
"""

from collections.abc import Iterable, Iterator, Mapping
from hashlib import file_digest
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from balrog_rag.contracts.errors import KnowledgeError
from balrog_rag.knowledge.embed import Vectors

MANIFEST = "manifest.json"
_ROWS = 1 << 16
"""Number of rows checked together, so that no copy of all vectors is made."""


class FileRecord(msgspec.Struct, frozen=True):
    """One file of an index as it was built."""

    size: int
    sha256: str


def records(folder: Path) -> dict[str, FileRecord]:
    """Return size and sha256 of every file in the folder except its manifest, by path."""
    return {name: FileRecord(path.stat().st_size, _sha256(path)) for name, path in sorted(_files(folder))}


def changes(folder: Path, wanted: Mapping[str, FileRecord]) -> str:
    """Describe how the folder differs from the records; empty if it does not."""
    found = dict(_files(folder))
    if missing := sorted(wanted.keys() - found.keys()):
        return f"{missing[0]} is missing"
    if unknown := sorted(found.keys() - wanted.keys()):
        return f"{unknown[0]} was added"
    return changed_file(folder, wanted, found)


def changed_file(folder: Path, wanted: Mapping[str, FileRecord], names: Iterable[str]) -> str:
    """Describe how one of these files differs from its record; empty if none does."""
    names = list(names)
    for name in names:
        record, path = wanted.get(name), folder / name
        if record is None or not path.is_file():
            return f"{name} is missing"
        if (size := path.stat().st_size) != record.size:
            return f"{name} has {size:,} bytes, not {record.size:,}"
    changed = (name for name in names if _sha256(folder / name) != wanted[name].sha256)
    return next((f"{name} has another sha256 than when it was built" for name in changed), "")


def wrong_vectors(vectors: Any, rows: int, dimensions: int) -> str:
    """Describe what makes an array unusable as that many unit vectors; empty if nothing does."""
    if not isinstance(vectors, np.ndarray) or vectors.dtype != np.float32:
        return f"expected an array of float32, got {getattr(vectors, 'dtype', type(vectors).__name__)}"
    if vectors.shape != (rows, dimensions):
        return f"expected {rows} vectors of {dimensions} numbers, got an array of shape {vectors.shape}"
    if not vectors.flags.c_contiguous:
        return "expected vectors row by row, got them column by column"
    if not all(np.isfinite(vectors[start : start + _ROWS]).all() for start in range(0, rows, _ROWS)):
        return "a vector contains NaN or infinity"
    return ""


def checked_vectors(vectors: Any, rows: int, dimensions: int, source: str) -> Vectors:
    """Check an embedder's vectors row by row; raise a KnowledgeError that begins with its name, `source`."""
    made: Vectors = np.ascontiguousarray(vectors)
    if wrong := wrong_vectors(made, rows, dimensions):
        raise KnowledgeError(f"{source}: unusable vectors: {wrong}; choose another knowledge.embedder")
    return made


def _files(folder: Path) -> Iterator[tuple[str, Path]]:
    for path in folder.rglob("*"):
        name = path.relative_to(folder).as_posix()
        if not path.is_dir() and name != MANIFEST:
            yield name, path


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()
