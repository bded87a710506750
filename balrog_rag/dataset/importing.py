"""Import recordings into a database with nle's own code, and report everything that it left out."""

import sqlite3
from collections.abc import Sequence
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import msgspec

from balrog_rag.contracts.errors import DatasetError
from balrog_rag.dataset import database
from balrog_rag.dataset.layouts import Layout, layout_of, look_through
from balrog_rag.util.wording import many


class Imported(msgspec.Struct, frozen=True):
    """The result of an import."""

    name: str
    games: int
    notes: Sequence[str]
    """What was left out, and why."""


def import_folder(folder: Path, path: Path, name: str | None = None, keep_cut: bool = False) -> Imported:
    """Import a folder under a name; `keep_cut` keeps truncated recordings."""
    new = not path.exists()
    done = _imported(folder, path, name, keep_cut)
    if not done.games:
        database.forget(path, done.name)
        if new:
            path.unlink(missing_ok=True)
        why = "; ".join(done.notes) or "its xlogfiles name no recordings"
        raise DatasetError(f"{folder}: no games to import ({why})")
    return done


def _imported(folder: Path, path: Path, name: str | None = None, keep_cut: bool = False) -> Imported:
    layout = layout_of(folder)
    name = name or usual_name(folder)
    database.refuse_taken(path, name)
    found = look_through(layout)
    _populate(layout, database.made(path), name)
    dropped = 0 if keep_cut else _drop(path, name, found.cut)
    if keep_cut:
        database.keep_cut(path, name, found.cut)
    games = database.dataset(path, name).games
    notes = []
    if unlisted := len(found.recordings) - found.lines if not layout.altorg else 0:
        notes.append(f"{many(unlisted, 'recordings')} left out: no xlogfile line names them")
    if found.cut:
        what = f"{many(dropped, 'games')} left out" if not keep_cut else "kept, and read as shorter games"
        notes.append(f"cut short: {named(found.cut)}; {what}")
    return Imported(name, games, notes)


def write_database(recordings: Path, name: str) -> list[str]:
    """Recreate the database beside a run's recordings; return notes on what was left out."""
    path = recordings / database.DATABASE
    if not any(recordings.glob("*/*.xlogfile")):
        return []
    path.unlink(missing_ok=True)
    return list(_imported(recordings, path, name).notes)


def usual_name(folder: Path) -> str:
    """The default name of a dataset, after its folder."""
    folder = folder.resolve()
    return folder.parent.name if folder.name in ("nld", "nle_data") else folder.name


def named(paths: Sequence[Path], most: int = 3) -> str:
    """The first of some files, and the number of the others."""
    shown = ", ".join(map(str, paths[:most]))
    return f"{shown} and {len(paths) - most} more" if len(paths) > most else shown


def _populate(layout: Layout, path: Path, name: str) -> None:
    from nle import dataset as nld

    add = nld.add_altorg_directory if layout.altorg else nld.add_nledata_directory
    try:
        with redirect_stdout(StringIO()):  # its own output is replaced by clearer messages
            add(str(layout.root), name, str(path))
    except sqlite3.Error as error:
        raise DatasetError(f"{path}: cannot take {name} in ({error})") from error
    except (AssertionError, ValueError, OSError) as error:
        raise DatasetError(f"{layout.root}: nle.dataset cannot import it ({error})") from error


def _drop(path: Path, name: str, cut: Sequence[Path]) -> int:
    """Remove games with truncated recordings from a dataset; return their number."""
    from nle.dataset import db

    if not cut:
        return 0
    bad = {file.resolve() for file in cut}
    games = [
        gameid
        for gameid, parts in database.files(path, name).items()
        if any(part.resolve() in bad for part in parts)
    ]
    with database.opened(path, write=True) as connection:
        db.drop_games(name, *games, conn=connection)
    return len(games)
