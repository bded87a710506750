"""The results of a sweep, read from its run folders: written as a table, and printed."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from balrog_rag.cli.command_line import as_far_as_read
from balrog_rag.run.plan import PlannedRun
from balrog_rag.run.run import RunOutcome
from balrog_rag.run.scheduler import Tally

if TYPE_CHECKING:
    from balrog_rag.results.sweep_table import SweepRow


def print_and_write(runs: Sequence[PlannedRun], outcomes: Sequence[RunOutcome]) -> int:
    """Write every run's results and the sweep's table; print the table; return the exit code."""
    from balrog_rag.results.sweep_table import rows, write_tables

    top = runs[0].folder.parent
    code = exit_code(runs, outcomes)
    table = rows([(run.label, run.folder, len(run.specs)) for run in runs])
    write_tables(top, table)
    as_far_as_read(sys.stdout, lambda: _print_results(runs, table, code))
    return code


def exit_code(runs: Sequence[PlannedRun], outcomes: Sequence[RunOutcome]) -> int:
    """The worst exit code; that of an optional run counts only if the user stopped it."""
    codes = [
        outcome.exit_code
        for run, outcome in zip(runs, outcomes, strict=True)
        if not run.optional or outcome.signal is not None
    ]
    return max(codes, default=0)


def _print_results(runs: Sequence[PlannedRun], table: "Sequence[SweepRow]", code: int) -> None:
    from balrog_rag.cli.next_steps import next_steps
    from balrog_rag.results.sweep_table import print_table

    top = runs[0].folder.parent
    if runs[0].config.runner.log == "json":
        facts = {"event": "finished", "folder": str(top), "exit_code": code, "runs": table}
        print(msgspec.json.encode(facts).decode())
        return
    print_table(top.name, table)
    for line in contrast_lines(runs):
        print(line)
    print(f"sweep folder: {top}")
    if advice := next_steps(runs, top):
        print(advice)


def contrast_lines(runs: Sequence[PlannedRun]) -> list[str]:
    """Describe the contrasts that the runs' experiment is about."""
    from balrog_rag.results.contrasts import contrast_results
    from balrog_rag.results.experiments import find
    from balrog_rag.results.runs import load

    name = runs[0].config.run.experiment
    described = find(name) if name else None
    if described is None or not described.contrasts:
        return []
    arms = {run.label: load(run.folder).episodes for run in runs}
    return [found.line for found in contrast_results(described, arms)]


def outcomes_on_disk(runs: Sequence[PlannedRun]) -> list[RunOutcome]:
    """Outcomes of runs that other processes have played: an episode whose journal has no end is open."""
    from balrog_rag.results.runs import load

    found = []
    for run in runs:
        ended = {episode.name for episode in load(run.folder).episodes}
        found.append(
            RunOutcome(
                Tally(open=[spec.episode for spec in run.specs if spec.episode not in ended]), spent=None
            )
        )
    return found
