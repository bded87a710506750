"""Whether a run folder was made by this user here: a mark in it that nobody else can have written.

RUN/.made_here holds a seal over config.json, forked.json and sweep.json, made with a key that lies in the
user's state folder and never leaves it. Where there is no such folder, as in a container without a home,
a second witness stands in: the user's number, the inode and the moment of change of these files, which
only this machine's kernel sets. A folder that was copied, unpacked or edited has others.
"""

import hmac
import os
import secrets
from contextlib import suppress
from pathlib import Path

import msgspec

from balrog_rag.contracts.data import digest
from balrog_rag.contracts.errors import RunFolderError
from balrog_rag.results import run_folder
from balrog_rag.util.files import read_file

MARK = ".made_here"
SEALED = ("config.json", run_folder.FORKED, "sweep.json")
"""What a run or a sweep is gone on with by; all else in its folder is checked against these or recomputed."""
KEY_BYTES = 32


class FolderSeal(msgspec.Struct, frozen=True):
    """.made_here"""

    seal: str
    places: dict[str, tuple[int, int]]
    """Inode and moment of change of each sealed file."""


def mark(run: Path) -> None:
    """Note that the folder as it stands is this user's, made here or trusted."""
    key = _key(make=True)
    seal = _seal(run, key) if key else ""
    run_folder.write_json(run / MARK, FolderSeal(seal, _places(run)))


def mark_new(run: Path, *names: str) -> None:
    """Mark a folder that was made just now by writing these files.

    If the mark cannot be written, e.g. on a full disk, they are removed again: a folder without a mark
    would be taken for somebody else's.
    """
    try:
        mark(run)
    except RunFolderError:
        with suppress(OSError):
            for name in names:
                (run / name).unlink()
            run.rmdir()
        raise


def made_here(run: Path) -> bool:
    """Whether the sealed files of a folder are those that this user made or trusted here."""
    try:
        found = msgspec.json.decode(read_file(run / MARK), type=FolderSeal)
        places = _places(run)
        key = _key(make=False)
        sealed = key is not None and hmac.compare_digest(found.seal, _seal(run, key))
    except (OSError, ValueError, TypeError):
        return False
    return sealed or (bool(places) and found.places == places)


SEAL_BYTES = 32


def sealed_by_user(data: bytes) -> bytes:
    """Return the data with this user's seal before it, or nothing if this user cannot keep a key."""
    key = _key(make=True)
    return b"" if key is None else _seal_of(data, key) + data


def opened_by_user(sealed: bytes) -> memoryview | None:
    """Return the data behind a seal; None unless this user made the seal."""
    key, data = _key(make=False), memoryview(sealed)[SEAL_BYTES:]
    good = key is not None and hmac.compare_digest(_seal_of(data, key), sealed[:SEAL_BYTES])
    return data if good else None


def _seal_of(data: bytes | memoryview, key: bytes) -> bytes:
    seal = hmac.new(key, b"sealed data\n", "sha256")
    seal.update(data)
    return seal.digest()


def _seal(run: Path, key: bytes) -> str:
    said = [f"{name} {digest(read_file(run / name))}" for name in SEALED if (run / name).is_file()]
    return hmac.new(key, "\n".join(said).encode(), "sha256").hexdigest()


def _places(run: Path) -> dict[str, tuple[int, int]]:
    """Of files that are this user's; nothing where one is somebody else's."""
    found = {}
    for name in SEALED:
        if (run / name).is_file():
            status = (run / name).lstat()
            if status.st_uid != os.geteuid():
                return {}
            found[name] = (status.st_ino, status.st_ctime_ns)
    return found


def state_folder() -> Path:
    """Where this user's programs keep what they must remember: XDG_STATE_HOME, or ~/.local/state."""
    named = os.environ.get("XDG_STATE_HOME")
    return (Path(named) if named else Path.home() / ".local" / "state") / "balrog_rag"


def _key(make: bool) -> bytes | None:
    """This user's key, made at first use; None where nothing can be kept."""
    try:
        path = state_folder() / "key"
        if make and not path.exists():
            _make_key(path)
        key = read_file(path)
    except (OSError, RuntimeError):  # no home, or one that cannot be written
        return None
    return key if len(key) == KEY_BYTES else None


def _make_key(path: Path) -> None:
    """Whole or not at all, and the same one for two processes that begin at once."""
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
