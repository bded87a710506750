"""Play the runs of a sweep in one process, group after group, with the same models and indexes."""

from collections.abc import Sequence

import msgspec

from balrog_rag.config.frozen import plain
from balrog_rag.contracts.errors import BalrogError
from balrog_rag.run.plan import PlannedRun
from balrog_rag.run.run import BackendOf, Display, RunOutcome, could_not_begin, not_played, play_runs
from balrog_rag.run.services import LiveServices


async def play_sweep(
    runs: Sequence[PlannedRun], outcomes: dict[str, RunOutcome], display: Display, backend_of: BackendOf
) -> None:
    """Play runs and put each outcome under its run's label as soon as it is known.

    A stop leaves the remaining runs open.
    """
    services = LiveServices()
    stopped: RunOutcome | None = None
    try:
        for group in alike(runs):
            if stopped is None:
                ended = await _play_group(group, services, display, backend_of)
            else:
                ended = [not_played(run, stopped.signal, stopped.stopped_by) for run in group]
            outcomes |= {run.label: outcome for run, outcome in zip(group, ended, strict=True)}
            stopped = ended[0] if ended[0].signal is not None else None
    finally:
        await services.close()


async def _play_group(
    group: Sequence[PlannedRun], services: LiveServices, display: Display, backend_of: BackendOf
) -> list[RunOutcome]:
    """Play runs together; if optional ones cannot begin (a model that cannot be fetched), report that."""
    try:
        return await play_runs(group, services, display, backend_of)
    except BalrogError as error:
        if not all(run.optional for run in group):
            raise
        return [could_not_begin(run, error) for run in group]


def alike(runs: Sequence[PlannedRun]) -> list[list[PlannedRun]]:
    """Group runs that can share workers and scheduling: equal runner settings, and optional ones last."""
    groups: dict[tuple[bool, bytes], list[PlannedRun]] = {}
    for run in sorted(runs, key=lambda run: run.optional):
        groups.setdefault((run.optional, msgspec.json.encode(plain(run.config.runner))), []).append(run)
    return list(groups.values())
