"""Verify that a run folder was created by this user on this machine, with a mark that others cannot forge.

RUN/.made_here contains a seal over config.json, forked.json and sweep.json, made with a key that is in the
user's state folder and never leaves it. Without such a folder, as in a container without a home, file
metadata serves as a second factor: the user's id, the inode and the change time of these files, which only
this machine's kernel can set. They differ in a folder that was copied, unpacked or edited.
"""

import hmac
import os
import secrets
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import msgspec

from balrog_rag.contracts.data import digest
from balrog_rag.contracts.errors import RunFolderError
from balrog_rag.results import run_folder
from balrog_rag.util.bounded_decoding import decoded_json
from balrog_rag.util.files import read_file

MARK = ".made_here"
SEALED = (run_folder.CONFIG, run_folder.FORKED, run_folder.SWEEP)
"""Files that determine how a run or sweep is resumed; all others are checked against them or recomputed."""
KEY_BYTES = 32


class FolderSeal(msgspec.Struct, frozen=True):
    """.made_here"""

    seal: str
    places: dict[str, tuple[int, int]]
    """Inode and change time of each sealed file."""


def mark(run: Path) -> None:
    """Mark the folder, in its current state, as created or trusted by this user."""
    key, places = _key(make=True), _places(run)
    seal = _seal(_sealed_files(run), key) if key else ""
    run_folder.write_json(run / MARK, FolderSeal(seal, places))


def mark_new(run: Path, *names: str) -> None:
    """Mark a folder that was just created by writing these files.

    If the mark cannot be written, e.g. on a full disk, the files are removed again: a folder without a mark
    would be considered untrusted.
    """
    try:
        mark(run)
    except RunFolderError:
        with suppress(OSError):
            for name in names:
                (run / name).unlink()
            run.rmdir()
        raise


def is_local_run(run: Path) -> bool:
    """Whether the sealed files of a folder are unchanged since this user created or trusted them here."""
    try:
        return is_sealed_here(run, _sealed_files(run), read_file(run / MARK))
    except OSError:
        return False


def is_sealed_here(run: Path, files: Mapping[str, bytes], mark: bytes) -> bool:
    """Return the same for sealed files and a mark that were read from the folder already."""
    try:
        found = decoded_json(mark, FolderSeal)
        places = _places(run)
        key = _key(make=False)
        sealed = key is not None and hmac.compare_digest(found.seal, _seal(files, key))
    except (OSError, ValueError, TypeError):
        return False
    return sealed or (bool(places) and found.places == places)


SEAL_BYTES = 32


def sealed_by_user(data: bytes) -> bytes:
    """Prefix data with this user's seal; return empty bytes if this user cannot store a key."""
    key = _key(make=True)
    return b"" if key is None else _seal_of(data, key) + data


def opened_by_user(sealed: bytes) -> memoryview | None:
    """Return sealed data; None unless this user made the seal."""
    key, data = _key(make=False), memoryview(sealed)[SEAL_BYTES:]
    good = key is not None and hmac.compare_digest(_seal_of(data, key), sealed[:SEAL_BYTES])
    return data if good else None


def _seal_of(data: bytes | memoryview, key: bytes) -> bytes:
    seal = hmac.new(key, b"sealed data\n", "sha256")
    seal.update(data)
    return seal.digest()


def _sealed_files(run: Path) -> dict[str, bytes]:
    return {name: read_file(run / name) for name in SEALED if (run / name).is_file()}


def _seal(files: Mapping[str, bytes], key: bytes) -> str:
    said = [f"{name} {digest(files[name])}" for name in SEALED if name in files]
    return hmac.new(key, "\n".join(said).encode(), "sha256").hexdigest()


def _places(run: Path) -> dict[str, tuple[int, int]]:
    """Metadata of this user's files; empty if a file belongs to somebody else."""
    found = {}
    for name in SEALED:
        if (run / name).is_file():
            status = (run / name).lstat()
            if status.st_uid != os.geteuid():
                return {}
            found[name] = (status.st_ino, status.st_ctime_ns)
    return found


def state_folder() -> Path:
    """The user's state folder: XDG_STATE_HOME, or ~/.local/state."""
    named = os.environ.get("XDG_STATE_HOME")
    return (Path(named) if named else Path.home() / ".local" / "state") / "balrog_rag"


def _key(make: bool) -> bytes | None:
    """This user's key, created on first use; None if it cannot be stored."""
    try:
        path = state_folder() / "key"
        if make and not path.exists():
            _make_key(path)
        key = read_file(path)
    except (OSError, RuntimeError):  # the home folder is missing or read-only
        return None
    return key if len(key) == KEY_BYTES else None


def _make_key(path: Path) -> None:
    """Create the key atomically; two processes that start at once get the same key."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    draft = path.with_name(f".key.{os.getpid()}.{secrets.token_hex(4)}")
    number = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with open(number, "wb") as file:
            file.write(secrets.token_bytes(KEY_BYTES))
        os.link(draft, path)
    except FileExistsError:
        pass
    finally:
        draft.unlink()
