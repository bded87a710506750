"""Recordings of a run's episodes: made from journals, and collected in a database."""

from collections.abc import Callable
from pathlib import Path

from balrog_rag.dataset.importing import write_database
from balrog_rag.episode import journal
from balrog_rag.results.run_folder import RECORDINGS, recording_path
from balrog_rag.run.replay import refuse_misplaced, replay
from balrog_rag.run.watchers import NullWatcher


async def record(run: Path, path: Path, done: Callable[[int], None] = lambda count: None) -> bool:
    """Replay a journal and record it; return whether its kind of game can be recorded."""
    header, _ = journal.read_headed(path)
    refuse_misplaced(path)
    target = recording_path(run, header.spec.episode)
    if target is not None:
        await replay(path, NullWatcher(), str(target))
    done(1)
    return target is not None


def database_of(run: Path) -> list[str]:
    """Rebuild the database of a run's recordings; return notes on what was left out."""
    return write_database(run / RECORDINGS, run.resolve().name)
