"""The archives of the NetHack Learning Dataset: addresses, sizes, and complete downloads.

An interrupted download continues where it stopped. The authors publish no checksums, so an archive is checked
with the checksums inside it, and its sha256 is kept in SHA256SUMS beside it. If you have that file from
another source, put it there first; any difference is reported.
"""

import zipfile
from collections.abc import Callable
from contextlib import AbstractContextManager
from hashlib import file_digest
from pathlib import Path
from string import ascii_lowercase
from typing import TYPE_CHECKING

import msgspec

from balrog_rag.contracts.errors import DatasetError
from balrog_rag.util.zips import BROKEN_ZIP

if TYPE_CHECKING:
    import httpx

SITE = "https://dl.fbaipublicfiles.com/nld"
SUMS = "SHA256SUMS"
_PAIRS = [first + second for first in "ab" for second in ascii_lowercase]

Watch = Callable[[str, int | None], AbstractContextManager[Callable[[int], None]]]
"""Shows a download: created with its name and size, called with the number of received bytes."""


class Archive(msgspec.Struct, frozen=True):
    """One of the published datasets."""

    files: tuple[str, ...]
    size: str
    holds: str


ARCHIVES = {
    "nld-aa-taster": Archive(("nld-aa-taster.zip",), "1.6 GB", "a sample of NLD-AA"),
    "nld-aa": Archive(
        tuple(f"nld-aa-dir-{pair}.zip" for pair in _PAIRS[:16]),
        "96.7 GB",
        "109,545 games of the bot AutoAscend",
    ),
    "nld-nao": Archive(
        (*(f"nld-nao-dir-{pair}.zip" for pair in _PAIRS[:40]), "nld-nao_xlogfiles.zip"),
        "229 GB",
        "1,511,228 games of people on alt.org",
    ),
}
"""By name; sizes and counts are from the paper and from nle's DATASET.md."""


def fetch(name: str, folder: Path, watch: Watch, site: str = SITE) -> list[Path]:
    """Download all files of an archive into a folder, except those that are complete already."""
    return [_fetched(f"{site}/{name}/{file}", folder / file, watch) for file in ARCHIVES[name].files]


def _fetched(url: str, path: Path, watch: Watch) -> Path:
    import httpx

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            part = path.with_name(f"{path.name}.part")
            _download(url, part, watch)
            _check_zip(part)
            part.replace(path)
        _check_sum(path)
    except httpx.HTTPError as error:
        reason = str(error).partition("\n")[0]
        raise DatasetError(f"{url}: broken off ({reason}); run the same command to continue") from error
    except OSError as error:
        raise DatasetError(f"{path}: cannot be written ({error.strerror or error})") from error
    return path


def _download(url: str, part: Path, watch: Watch) -> None:
    """Download the rest of a file after the part that is there, if the version is the same."""
    import httpx

    tag = part.with_name(f"{part.name}.tag")
    have = part.stat().st_size if part.exists() and tag.exists() else 0
    headers = {"Range": f"bytes={have}-", "If-Range": tag.read_text()} if have else {}
    headers["Accept-Encoding"] = "identity"
    with httpx.stream("GET", url, headers=headers, follow_redirects=True, timeout=60) as answer:
        if answer.status_code == httpx.codes.REQUESTED_RANGE_NOT_SATISFIABLE:
            return  # everything is there already
        answer.raise_for_status()
        have = have if answer.status_code == httpx.codes.PARTIAL_CONTENT else 0
        tag.write_text(answer.headers.get("etag") or answer.headers.get("last-modified", ""))
        _write(answer, part, have, watch)
    tag.unlink()


def _write(answer: "httpx.Response", part: Path, have: int, watch: Watch) -> None:
    length = answer.headers.get("content-length")
    whole = have + int(length) if length else None
    with part.open("ab" if have else "wb") as file, watch(part.stem, whole) as progress:
        progress(have)
        for chunk in answer.iter_raw():  # written as it arrives, so that an interruption keeps it
            file.write(chunk)
            progress(len(chunk))


def _check_zip(path: Path) -> None:
    """Remove an archive whose internal checksums do not match, so that it is downloaded again."""
    try:
        with zipfile.ZipFile(path) as archive:
            bad = archive.testzip()
    except BROKEN_ZIP as error:
        bad = str(error)
    if bad is not None:
        path.unlink()
        raise DatasetError(f"{path.stem}: came damaged ({bad}) and was removed; fetch it again")


def _check_sum(path: Path) -> None:
    """Compare with the stored checksum, or store it if there is none."""
    sums = path.with_name(SUMS)
    lines = sums.read_text().splitlines() if sums.exists() else []
    known = {name.lstrip("*"): value for value, _, name in (line.partition("  ") for line in lines)}
    with path.open("rb") as file:
        found = file_digest(file, "sha256").hexdigest()
    if path.name not in known:
        sums.write_text("".join(f"{line}\n" for line in [*lines, f"{found}  {path.name}"]))
    elif known[path.name] != found:
        raise DatasetError(
            f"{path}: its sha256 is {found}, and {sums} says {known[path.name]}; fetch it again"
        )


def unpack(files: list[Path], folder: Path) -> None:
    """Unpack archives into a folder."""
    try:
        for path in files:
            with zipfile.ZipFile(path) as archive:
                archive.extractall(folder)
    except (OSError, *BROKEN_ZIP) as error:
        raise DatasetError(f"{path}: cannot be unpacked into {folder} ({error})") from error
