"""The levels of MiniHack's Boxoban tasks, which neither MiniHack nor this package includes.

`balrog-rag envs fetch boxoban` downloads them to the user's cache folder.
"""

import os
import shutil
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import IO

from balrog_rag.contracts.errors import BalrogError, ConfigError
from balrog_rag.util.fetch import cache_folder, download
from balrog_rag.util.zips import BROKEN_ZIP

URL = "https://github.com/google-deepmind/boxoban-levels/archive/refs/heads/master.zip"
COMMAND = "balrog-rag envs fetch boxoban"

SETS = {"Hard": "hard", "Medium": "medium/train", "Unfiltered": "unfiltered/train"}
"""By a part of the task's name: the folder of its levels."""

_MOST_BYTES = 1 << 30
_CHUNK = 1 << 20


def levels_folder() -> Path:
    """The folder of fetched levels."""
    return cache_folder() / "boxoban"


def require_levels(task: str) -> Path:
    """Return the folder of a Boxoban task's levels; the error says how to get them."""
    wanted = next((folder for name, folder in SETS.items() if name in task), "")
    for root in (levels_folder(), _packed_folder()):
        if root is not None and any((root / wanted).glob("*.txt")):
            return root
    raise ConfigError(f"{task}: its levels are not on this machine; run: {COMMAND}")


def _packed_folder() -> Path | None:
    """Where MiniHack's own script would have put them."""
    from importlib.util import find_spec

    spec = find_spec("minihack")
    if spec is None or spec.origin is None:
        return None
    return Path(spec.origin).parent / "dat" / "boxoban-levels-master"


def read_levels(folder: str) -> Sequence[str]:
    """Read the levels of a folder in the order of file names, so that a seed means the same everywhere.

    They are read once per process: Medium has 450,000 levels in 450 files, which takes a second and 72 MB.
    """
    paths = sorted(Path(folder).glob("*.txt"))
    return _read(tuple((path, path.stat().st_mtime_ns, path.stat().st_size) for path in paths))


@lru_cache(maxsize=2)
def _read(files: tuple[tuple[Path, int, int], ...]) -> Sequence[str]:
    """Read the levels of these files; time and size are part of the key, so changed files are read again."""
    levels = []
    for path, _, _ in files:
        for block in path.read_text("utf-8").split("\n\n"):
            lines = [line for line in block.split("\n") if line and not line.startswith(";")]
            if lines:
                levels.append("\n".join(lines) + "\n")
    return tuple(levels)


def fetch(source: str = URL) -> Path:
    """Import the levels from a URL, a zip file or a folder into the cache."""
    target = levels_folder()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=".boxoban-") as temporary:
            fresh = Path(temporary, "levels")
            with _archive(source, Path(temporary)) as archive:
                count = _unpack(archive, fresh)
            if not count:
                raise BalrogError(
                    f"{source}: contains no Boxoban levels (hard/, medium/ or unfiltered/ with *.txt)"
                )
            if target.exists():
                shutil.rmtree(target)
            fresh.rename(target)
    except OSError as error:
        raise BalrogError(
            f"{target}: cannot be written ({error.strerror or error}); set BALROG_RAG_CACHE"
        ) from error
    return target


@contextmanager
def _archive(source: str, folder: Path) -> Iterator[zipfile.ZipFile]:
    """Open the zip file of a source."""
    path = Path(source).expanduser()
    if source.startswith(("http://", "https://")):
        path = folder / "levels.zip"
        download(source, path, _MOST_BYTES, f"fetch it by hand and run: {COMMAND} --from FILE.zip")
    elif path.is_dir():
        path = Path(shutil.make_archive(str(folder / "levels"), "zip", path))
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive
    except FileNotFoundError as error:
        raise BalrogError(f"{source}: no such file") from error
    except BROKEN_ZIP as error:
        raise BalrogError(f"{source}: not a zip file that can be read ({error})") from error


def _unpack(archive: zipfile.ZipFile, target: Path) -> int:
    """Extract the level files and nothing else; return their number."""
    count = size = 0
    for member in archive.infolist():
        place = _place(member.filename)
        if place is None or member.is_dir():
            continue
        (target / place).parent.mkdir(parents=True, exist_ok=True)
        with archive.open(member) as source, (target / place).open("wb") as file:
            size += _copy(source, file, archive.filename or "archive", size)
        count += 1
    return count


def _copy(source: IO[bytes], file: IO[bytes], name: str, before: int) -> int:
    size = 0
    while chunk := source.read(_CHUNK):
        size += len(chunk)
        _check_size(name, before + size)
        file.write(chunk)
    return size


def _check_size(name: str, size: int) -> None:
    if size > _MOST_BYTES:
        raise BalrogError(f"{name}: more than {_MOST_BYTES >> 20} MiB; these cannot be the Boxoban levels")


def _place(name: str) -> PurePosixPath | None:
    """The target path of a member of the archive, from its set's name on; None if it is not a level file.

    The path consists of known words and a plain file name, so a hostile name cannot lead elsewhere.
    """
    parts = PurePosixPath(name.replace("\\", "/")).parts
    for folder in (
        "hard",
        "medium/train",
        "medium/valid",
        "unfiltered/train",
        "unfiltered/valid",
        "unfiltered/test",
    ):
        wanted = tuple(folder.split("/"))
        file = parts[-1] if parts else ""
        if parts[-len(wanted) - 1 : -1] == wanted and file.endswith(".txt") and os.sep not in file:
            return PurePosixPath(folder, file)
    return None
