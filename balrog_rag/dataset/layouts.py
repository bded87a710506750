"""The layouts of folders of recordings, and contents that nle.dataset would fail at or silently skip."""

import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from balrog_rag.contracts.errors import DatasetError
from balrog_rag.util.shell_commands import command
from balrog_rag.util.wording import many

RECORDING = re.compile(r"(?P<stem>.+?)(?P<number>\.[^.]+)?\.ttyrec(?P<version>\d*)\.bz2")


INSIDE = ("nld", "nle_data", "*/nle_data", "*/*/nle_data", "nld-nao-unzipped")
"""Where the recordings are in a run folder, and in the unpacked published archives."""


class Layout(msgspec.Struct, frozen=True):
    """A folder that can be imported."""

    root: Path
    altorg: bool = False
    """Whether the layout is that of NetHack's public server (NLD-NAO); else it is that of NLE."""


def layout_of(path: Path) -> Layout:
    """Detect the layout of a folder; the error for another folder says where to look."""
    if not path.is_dir():
        raise DatasetError(f"{path}: no such folder; name the folder of the recordings, unpacked")
    for pattern in INSIDE:
        inner = next(iter(sorted(path.glob(pattern))), None)
        if inner is not None and inner.is_dir():
            return layout_of(inner)
    if (path / "config.json").is_file():
        raise DatasetError(
            f"{path}: this run has no recordings; make them with {command('dataset', 'record', path)}"
        )
    if any(path.glob("xlogfile.*")):
        _check_altorg(path)
        return Layout(path, altorg=True)
    if any(path.glob("*/*.xlogfile")):
        return Layout(path)
    raise DatasetError(_elsewhere(path))


def _elsewhere(path: Path) -> str:
    if any(path.glob("*.xlogfile")):
        return (
            f"{path}: holds one set of files; nle.dataset wants the folder above it, {path.resolve().parent}"
        )
    deeper = next(path.glob("*/*/*.xlogfile"), None)
    if deeper is not None:
        return f"{path}: one folder too high; pass {deeper.parents[1]}"
    return f"{path}: contains no recordings (*/*.xlogfile with *.ttyrec3.bz2, or xlogfile.* of alt.org)"


def _check_altorg(path: Path) -> None:
    if not (path / "blacklist.txt").is_file():
        raise DatasetError(f"{path}: blacklist.txt is missing, which comes with NLD-NAO's xlogfiles")
    if not any(path.glob("*/*.ttyrec.bz2")):
        raise DatasetError(
            f"{path}: no recordings (PLAYER/*.ttyrec.bz2) beside the xlogfiles; unpack them here"
        )


class FoundRecordings(msgspec.Struct):
    """The recordings below a root, before anything is imported."""

    recordings: list[Path] = []
    lines: int = 0
    """Number of log lines that name an existing recording."""
    cut: list[Path] = []
    """Truncated recordings, which nle reads as shorter games."""


def look_through(layout: Layout) -> FoundRecordings:
    """Check every recording and every log; raise a DatasetError for what would abort the import."""
    if layout.altorg:
        recordings = sorted(layout.root.glob("*/*.ttyrec.bz2"))
        return FoundRecordings(recordings, cut=[path for path in recordings if is_cut(path)])
    found = FoundRecordings()
    for folder in sorted({log.parent for log in layout.root.glob("*/*.xlogfile")}):
        beside = dict(_by_stem(folder))
        for log in sorted(folder.glob("*.xlogfile")):
            _check_log(log, beside.get(log.stem, []), found)
    return found


def _by_stem(folder: Path) -> Iterator[tuple[str, list[Path]]]:
    stems: dict[str, list[Path]] = {}
    for path in sorted(folder.iterdir()):
        match = RECORDING.fullmatch(path.name)
        if match:
            stems.setdefault(match["stem"], []).append(path)
    yield from stems.items()


def _check_log(log: Path, recordings: list[Path], found: FoundRecordings) -> None:
    """Check one log and its recordings: they must exist and have one version, and the log must be ASCII."""
    try:
        lines = log.read_bytes().decode("ascii").splitlines()
    except UnicodeDecodeError as error:
        raise DatasetError(
            f"{log}: byte {error.start} is not ASCII, and nle.dataset reads only ASCII; replace it"
        ) from error
    if not recordings:
        raise DatasetError(
            f"{log}: its recordings ({log.stem}.*.ttyrec3.bz2) are missing; remove it, or restore them"
        )
    versions = {match["version"] for path in recordings if (match := RECORDING.fullmatch(path.name))}
    if versions & {""} or len(versions) > 1:
        raise DatasetError(
            f"{log}: recordings of {many(len(versions), 'versions')} beside it; nle.dataset takes ttyrec2 or "
            "ttyrec3, one of the two in a folder"
        )
    names = {path.name for path in recordings}
    found.recordings += recordings
    found.lines += sum(line.rpartition("ttyrecname=")[2].strip() in names for line in lines)
    found.cut += [path for path in recordings if is_cut(path)]


_END = 0x177245385090
"""The end marker of a bzip2 stream; 32 bits of checksum and up to 7 bits of padding follow it."""
_TAIL = 11


def is_cut(path: Path) -> bool:
    """Whether a bzip2 file is truncated, as after a killed process; only its last bytes are read."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(max(0, size - _TAIL))
            tail = int.from_bytes(file.read(), "big")
    except OSError as error:
        raise DatasetError(f"{path}: cannot be read ({error.strerror or error})") from error
    return not any(tail >> 32 + fill & 2**48 - 1 == _END for fill in range(8))
