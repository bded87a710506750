"""Files and folders of demonstrations: what each declares, and its content, verified by a hash.

They are read when an agent is made, never while it plays, and their hash is part of the episode's spec.
"""

import os
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path

import msgspec

from balrog_rag.agents.balrog_records import SUFFIX, read_record, seed_of, task_of
from balrog_rag.agents.demonstrations import Demonstration
from balrog_rag.contracts.data import digest
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.util.files import read_file

MOST_FILES = 10_000


class DemonstrationFile(msgspec.Struct, frozen=True):
    """A file with a demonstration: what it declares, and the hash of its content."""

    path: str
    task: str
    seed: int | None
    digest: str


def load(paths: Sequence[str], expected: str | None) -> tuple[Demonstration, ...]:
    """Load the demonstrations; they must be the files with which the run started."""
    return tuple(read(file) for file in listed(paths, expected))


def content_digest(paths: Sequence[str]) -> str:
    """Return the hash of the contents of these files, in this order."""
    return _digest_of(listed(paths))


def listed(paths: Sequence[str], expected: str | None = None) -> list[DemonstrationFile]:
    """Return what each of these files declares; a folder means all demonstration files in it.

    `expected`: the hash that their content must have.
    """
    found = [_declared(path, _state(path)) for given in paths for path in _files(given)]
    if expected is not None and expected != (now := _digest_of(found)):
        raise ConfigError(
            f"agent.demonstrations: {', '.join(paths)} differ from the files that this run started with "
            f"(content {now}, expected {expected}); restore the old files or start a new run"
        )
    return found


def _digest_of(files: Sequence[DemonstrationFile]) -> str:
    return digest("\n".join(file.digest for file in files))


def _files(given: str) -> Iterator[str]:
    folder = Path(given)
    if not folder.is_dir():
        yield given
        return
    inside = [str(path) for path in folder.rglob("*") if path.suffix in (".json", ".npz")]
    if not inside or len(inside) > MOST_FILES:
        raise ConfigError(
            f"agent.demonstrations: {given} has {len(inside):,} demonstration files "
            f"(*.json, *.npz); expected 1 to {MOST_FILES:,}"
        )
    yield from sorted(inside, key=_natural)


def _natural(path: str) -> list[tuple[int, str]]:
    """Return a sort key that puts `len9` before `len10`, as in BALROG."""
    parts = re.split(r"(\d+)", path)
    return [(int(part), "") if part.isdecimal() else (0, part.lower()) for part in parts]


def _state(path: str) -> tuple[int, int, int]:
    """Return a value that is equal while a file is unchanged, so that a process reads it once."""
    try:
        found = os.stat(path)
    except OSError as error:
        raise _unreadable(path, error) from error
    return found.st_ino, found.st_mtime_ns, found.st_size


@lru_cache(maxsize=MOST_FILES)
def _declared(path: str, state: tuple[int, int, int]) -> DemonstrationFile:
    """Return what a file declares; a BALROG record does so by its name and folders, also hashed."""
    data = _content(path)
    if path.endswith(SUFFIX):
        task, seed = task_of(Path(path)), seed_of(Path(path))
        return DemonstrationFile(path, task, seed, f"{digest(data)} {task} {seed}")
    demonstration = _decode(path, data)
    return DemonstrationFile(path, demonstration.task, demonstration.seed, digest(data))


@lru_cache(maxsize=16)
def read(file: DemonstrationFile) -> Demonstration:
    """Return the demonstration in a file, which must not have changed since it was listed."""
    data = _content(file.path)
    if digest(data) != file.digest.split()[0]:
        raise ConfigError(f"agent.demonstrations: {file.path} has changed; start the run again")
    return _decode(file.path, data)


def _content(path: str) -> bytes:
    try:
        return read_file(Path(path))
    except OSError as error:
        raise _unreadable(path, error) from error


def _unreadable(path: str, error: OSError) -> ConfigError:
    return ConfigError(f"agent.demonstrations: {path}: {error.strerror or error}")


def _decode(path: str, data: bytes) -> Demonstration:
    if path.endswith(SUFFIX):
        return read_record(Path(path), data)
    try:
        return msgspec.json.decode(data, type=Demonstration)
    except msgspec.MsgspecError as error:
        raise ConfigError(
            f"agent.demonstrations: {path} is not a demonstration file ({error}); "
            "make one with `balrog-rag prompts demonstrate`"
        ) from error
