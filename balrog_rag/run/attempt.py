"""One attempt at playing planned runs: their folders locked, their services opened and closed."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from balrog_rag.results import run_folder
from balrog_rag.results.recorded_provenance import add_attempt
from balrog_rag.run.plan import PlannedRun
from balrog_rag.run.provenance import provenance
from balrog_rag.run.run import BackendOf, Display, RunOutcome, play_runs
from balrog_rag.run.services import LiveServices


@contextmanager
def attempt(run: PlannedRun) -> Iterator[None]:
    """Lock the run against other processes and record this attempt."""
    beginning = provenance(run.kinds, run.config.limits.episode)
    with run_folder.locked(run.folder):
        add_attempt(run.folder, beginning)
        yield


async def play_together(
    runs: Sequence[PlannedRun], display: Display, backend_of: BackendOf
) -> list[RunOutcome]:
    """Play runs in one process, sharing models and indexes."""
    services = LiveServices()
    try:
        return await play_runs(runs, services, display, backend_of)
    finally:
        await services.close()
