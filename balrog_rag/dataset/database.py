"""The database of recorded games that `nle.dataset` keeps: its datasets and their games."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from balrog_rag.contracts.errors import DatasetError
from balrog_rag.contracts.registry import nearest

DATABASE = Path("ttyrecs.db")
"""The default path of nle.dataset."""

Row = dict[str, Any]
"""A game: the fields of its xlogfile line, and `gameid`."""


class DatasetInfo(msgspec.Struct, frozen=True):
    """A dataset as recorded in the database."""

    name: str
    root: Path
    version: int
    """Version of its ttyrecs: 1 has frames only, 2 adds key presses, 3 adds scores."""
    games: int
    size: int
    """Size of its recordings in bytes."""


@contextmanager
def opened(path: Path, write: bool = False) -> Iterator[sqlite3.Connection]:
    """Connect to an existing database; any problem is one line."""
    from nle.dataset import db

    if not path.is_file():
        raise DatasetError(f"{path}: no database here; make one with balrog-rag dataset import DIR")
    refuse_name(path)
    try:
        with db.db(filename=str(path), rw=write) as connection:
            yield connection
    except sqlite3.Error as error:
        raise DatasetError(f"{path}: cannot be used as a database of recorded games ({error})") from error


def refuse_name(path: Path) -> None:
    """Reject paths with ?, # or %, which are special in the URI that nle.dataset makes of the path."""
    if set("?#%") & set(str(path)):
        raise DatasetError(f"{path}: nle.dataset cannot open a database with ?, # or % in its path")


def made(path: Path) -> Path:
    """Create an empty database unless it exists."""
    from nle.dataset import db

    refuse_name(path)
    if not path.exists():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            db.create(str(path))
        except (OSError, sqlite3.Error) as error:
            raise DatasetError(f"{path}: cannot be made ({error})") from error
    return path


_LISTED = """
SELECT roots.dataset_name, roots.root, roots.ttyrec_version,
    (SELECT COUNT(*) FROM datasets WHERE datasets.dataset_name = roots.dataset_name),
    (SELECT COALESCE(SUM(ttyrecs.size), 0) FROM ttyrecs INNER JOIN datasets
        ON ttyrecs.gameid = datasets.gameid WHERE datasets.dataset_name = roots.dataset_name)
FROM roots ORDER BY roots.rowid"""


def datasets(path: Path) -> list[DatasetInfo]:
    """Return every dataset of a database."""
    with opened(path) as connection:
        rows = connection.execute(_LISTED).fetchall()
    return [DatasetInfo(name, Path(root), version, games, size) for name, root, version, games, size in rows]


def dataset(path: Path, name: str) -> DatasetInfo:
    """Return the dataset with that name."""
    known = {each.name: each for each in datasets(path)}
    if name not in known:
        raise DatasetError(f"{name}: no such dataset in {path}{nearest(name, known)}")
    return known[name]


_GAMES = """
SELECT games.* FROM games INNER JOIN datasets ON games.gameid = datasets.gameid
WHERE datasets.dataset_name = ? {more} ORDER BY games.gameid"""


def games(path: Path, name: str, where: str = "", values: Sequence[Any] = ()) -> list[Row]:
    """Return the games of a dataset, optionally those that fulfil an SQL condition."""
    dataset(path, name)
    with opened(path) as connection:
        connection.row_factory = sqlite3.Row
        more = f"AND ({where})" if where else ""
        found = connection.execute(_GAMES.format(more=more), (name, *values))
        return [dict(row) for row in found]


def files(path: Path, name: str) -> dict[int, list[Path]]:
    """Return the recordings of each game, in the order of its parts."""
    root = dataset(path, name).root
    query = """
        SELECT ttyrecs.gameid, ttyrecs.path FROM ttyrecs INNER JOIN datasets
        ON ttyrecs.gameid = datasets.gameid WHERE datasets.dataset_name = ?
        ORDER BY ttyrecs.gameid, ttyrecs.part"""
    found: dict[int, list[Path]] = {}
    with opened(path) as connection:
        for gameid, file in connection.execute(query, (name,)):
            found.setdefault(gameid, []).append(root / file)
    return found


def save(path: Path, name: str, of: str, gameids: Sequence[int]) -> None:
    """Store a selection of games as a new dataset; no file is copied."""
    from nle.dataset import db

    source = dataset(path, of)
    refuse_taken(path, name)
    with opened(path, write=True) as connection:
        db.create_dataset(name, str(source.root), source.version, conn=connection, commit=False)
        db.add_games(name, *gameids, conn=connection)


_KEPT = "balrog_rag_kept_cut"


def keep_cut(path: Path, name: str, cut: Sequence[Path]) -> None:
    """Record which games are in a dataset although a recording is truncated."""
    wanted = {file.resolve() for file in cut}
    rows = [
        (game, part.name)
        for game, parts in files(path, name).items()
        for part in parts
        if part.resolve() in wanted
    ]
    with opened(path, write=True) as connection:
        connection.execute(f"CREATE TABLE IF NOT EXISTS {_KEPT} (gameid INTEGER, file TEXT)")
        connection.executemany(f"INSERT INTO {_KEPT} VALUES (?, ?)", rows)
        connection.commit()


def kept_cut(path: Path) -> set[tuple[int, str]]:
    """The games, and the names of their recordings, that were kept although truncated."""
    with opened(path) as connection:
        if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (_KEPT,)).fetchall():
            return set()
        return set(connection.execute(f"SELECT gameid, file FROM {_KEPT}").fetchall())


def forget(path: Path, name: str) -> None:
    """Remove a dataset from the database; its files are kept."""
    from nle.dataset import db

    with opened(path, write=True) as connection:
        db.delete_dataset(name, conn=connection)


def refuse_taken(path: Path, name: str) -> None:
    """Reject a name that another dataset of the database has."""
    if path.exists() and name in {each.name for each in datasets(path)}:
        raise DatasetError(f"{name}: {path} has a dataset of that name; choose another with --name")


def move(path: Path, name: str, folder: Path) -> None:
    """Change the location of a dataset's folder; nle's own `set_root` only supports ./ttyrecs.db."""
    dataset(path, name)
    inside = [folder, folder / "nld", folder / "nle_data"]
    parts = next(iter(files(path, name).values()), [])
    relative = [part.relative_to(dataset(path, name).root) for part in parts]
    home = next((place for place in inside if all((place / part).is_file() for part in relative)), None)
    if home is None:
        raise DatasetError(f"{folder}: the recordings of {name} are not there, e.g. {relative[0]}")
    with opened(path, write=True) as connection:
        query = "UPDATE roots SET root = ? WHERE dataset_name = ?"
        connection.execute(query, (str(home.resolve()), name))
        connection.commit()
