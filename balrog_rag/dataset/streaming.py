"""Stream frames of a dataset in batches, as nle.dataset reads them, and one game's frames for people."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from balrog_rag.contracts.errors import DatasetError
from balrog_rag.dataset import database
from balrog_rag.dataset.importing import named
from balrog_rag.dataset.layouts import is_cut
from balrog_rag.util.shell_commands import command
from balrog_rag.util.wording import many

Batch = dict[str, NDArray[Any]]
"""nle's arrays, which the next batch overwrites: copy what you keep."""


@contextmanager
def stream(
    path: Path,
    name: str,
    batch: int = 12,
    length: int = 512,
    threads: int = 2,
    seed: int | None = None,
    games: Sequence[int] | None = None,
    forever: bool = False,
) -> Iterator[Iterator[Batch]]:
    """Yield batches of `batch` games side by side with `length` frames each.

    Games come in order of their numbers, or shuffled by a seed. `keypresses` i is the key that was pressed at
    frame i; a game number of 0 is padding.
    """
    from nle.dataset import TtyrecDataset

    chosen = playable(path, name, games)
    if batch > len(chosen):
        raise DatasetError(f"{name}: a batch of {batch} needs as many games, and there are {len(chosen)}")
    if seed is not None:
        np.random.default_rng(seed).shuffle(chosen)
    with ThreadPoolExecutor(threads) if threads else _no_pool() as pool:
        dataset = TtyrecDataset(
            name,
            batch_size=batch,
            seq_length=length,
            dbfilename=str(path),
            threadpool=pool,
            gameids=chosen,
            shuffle=False,
            loop_forever=forever,
        )
        yield iter(dataset)


@contextmanager
def _no_pool() -> Iterator[None]:
    yield None


def playable(path: Path, name: str, games: Sequence[int] | None = None) -> list[int]:
    """Return the games of a dataset; raise a DatasetError unless all their files are complete."""
    root, found = database.dataset(path, name).root, database.files(path, name)
    if not root.is_dir():
        move = command("dataset", "move", name, "FOLDER", "--db", path)
        raise DatasetError(f"{name}: its folder {root} is gone; if it was moved, {move}")
    chosen = list(found if games is None else games)
    if strangers := [game for game in chosen if game not in found]:
        raise DatasetError(f"{name}: has no game {strangers[0]}; its games are {_range(found)}")
    every = [part for game in chosen for part in found[game]]
    if missing := [part for part in every if not part.is_file()]:
        raise DatasetError(f"{name}: {many(len(missing), 'recordings')} missing: {named(missing)}")
    kept = database.kept_cut(path)
    checked = [part for game in chosen for part in found[game] if (game, part.name) not in kept]
    if cut := [part for part in checked if is_cut(part)]:
        raise DatasetError(
            f"{name}: {many(len(cut), 'recordings')} cut short; nle would read shorter games: {named(cut)}; "
            "import the folder again with --keep-cut to read them anyway"
        )
    return chosen


def _range(games: dict[int, Any]) -> str:
    return f"{min(games)} to {max(games)}" if games else "none"


def frames(path: Path, name: str, game: int, chunk: int = 512) -> Iterator[tuple[int, Batch]]:
    """Yield one game's frames with their numbers, each as arrays of one moment."""
    with stream(path, name, 1, chunk, 0, games=[game]) as batches:
        number = 0
        for batch in batches:
            for place in np.flatnonzero(batch["gameids"][0]):
                yield number, {key: values[0, place] for key, values in batch.items()}
                number += 1


def as_text(frame: Batch, colour: bool = False) -> str:
    """Format a frame as lines of text; with `colour` as a terminal shows it."""
    if colour:
        from nle.nethack import tty_render

        shown: str = tty_render(frame["tty_chars"], frame["tty_colors"], frame["tty_cursor"])
        return shown
    lines = (bytes(row).decode("latin-1").rstrip() for row in frame["tty_chars"])
    return "\n".join(lines).rstrip()
