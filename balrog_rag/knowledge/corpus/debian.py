"""Read the files of a Debian package in memory, from the package or from an unpacked folder."""

import gzip
import io
import tarfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from balrog_rag.contracts.errors import KnowledgeError

LARGEST = 64 << 20
"""Maximum size of one unpacked file of a package, in bytes."""
_MAGIC = b"!<arch>\n"
_HEADER = 60


def files(source: Path, under: str) -> Iterator[tuple[str, bytes]]:
    """Yield the package's files below the folder `under` by relative path; gzipped files are unpacked."""
    found = False
    for name, content in sorted(_folder(source, under) if source.is_dir() else _package(source, under)):
        found = True
        yield name.removesuffix(".gz"), _unpacked(name, content)
    if not found:
        raise KnowledgeError(f"{source}: contains no {under}; is it the right package?")


def _folder(source: Path, under: str) -> Iterator[tuple[str, bytes]]:
    root = source / under if (source / under).is_dir() else source
    for path in root.rglob("*"):
        if path.is_file() and path.stat().st_size <= LARGEST:
            yield path.relative_to(root).as_posix(), path.read_bytes()


def _package(source: Path, under: str) -> Iterator[tuple[str, bytes]]:
    try:
        with tarfile.open(fileobj=io.BytesIO(_data(source))) as archive:
            for member in archive:
                name = member.name.removeprefix("./")
                if not member.isfile() or not name.startswith(f"{under}/"):
                    continue
                if member.size > LARGEST:
                    raise KnowledgeError(f"{source}: {name} is larger than {LARGEST >> 20} MB")
                file = archive.extractfile(member)
                yield name.removeprefix(f"{under}/"), file.read() if file else b""
    except (tarfile.TarError, EOFError, OSError, zlib.error) as error:
        raise KnowledgeError(f"{source} cannot be unpacked: {error}; fetch it again") from error


def _data(source: Path) -> bytes:
    """Find the archive of files in the package, which is an `ar` archive of three members."""
    try:
        package = source.read_bytes()
    except OSError as error:
        raise KnowledgeError(f"cannot read {source}: {error.strerror}") from error
    if not package.startswith(_MAGIC):
        raise KnowledgeError(f"{source}: not a Debian package; get one with `apt-get download`")
    place = len(_MAGIC)
    while place + _HEADER <= len(package):
        header = package[place : place + _HEADER]
        size = int(header[48:58]) if header[48:58].strip().isdigit() else 0
        if header.startswith(b"data.tar"):
            return package[place + _HEADER : place + _HEADER + size]
        place += _HEADER + size + size % 2
    raise KnowledgeError(f"{source}: contains no files; the download was truncated, fetch it again")


def _unpacked(name: str, content: bytes) -> bytes:
    if not name.endswith(".gz"):
        return content
    with gzip.open(io.BytesIO(content)) as file:
        text = file.read(LARGEST + 1)
    if len(text) > LARGEST:
        raise KnowledgeError(f"{name} unpacks to more than {LARGEST >> 20} MB")
    return text
