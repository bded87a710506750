"""One attempt at playing planned runs: their folders locked, their services opened and closed."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from balrog_rag.agents.prompts import fingerprint
from balrog_rag.config.frozen import plain
from balrog_rag.results import run_folder
from balrog_rag.run.backend import PlannedRun
from balrog_rag.run.plan import kinds_in
from balrog_rag.run.provenance import record_attempt
from balrog_rag.run.run import BackendOf, Display, RunOutcome, play_runs
from balrog_rag.run.services import LiveServices


@contextmanager
def attempt(run: PlannedRun) -> Iterator[None]:
    """Lock the run against other processes and record this attempt."""
    kinds = kinds_in(run.config)
    with run_folder.locked(run.folder):
        record_attempt(run.folder, fingerprint(kinds), kinds, plain(run.config.limits.episode))
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
