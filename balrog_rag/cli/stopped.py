"""The last lines of a run: what kept episodes from ending, the costs, and how to resume."""

import sys
from collections.abc import Sequence
from pathlib import Path

from balrog_rag.cli.command_line import note
from balrog_rag.results.run_folder import resume_with
from balrog_rag.run.plan import PlannedRun
from balrog_rag.run.run import RunOutcome, blames, costs, troubles
from balrog_rag.util.terminal_safe import one_line


def print_troubles(run: Path, outcome: RunOutcome, interrupted: bool = False) -> None:
    """Print them for one run; `interrupted`: Ctrl-C came while the results were written."""
    for line in troubles(outcome):
        _say(line)
    if not outcome.tally.complete:
        _say_costs([outcome])
        _say(f"resume with: {resume_with(run)}")
    elif interrupted:
        _say(f"stopped while the results were written; resume with: {resume_with(run)}")
    for line in blames([outcome]):
        _say(line)


def print_sweep_troubles(
    runs: Sequence[PlannedRun], outcomes: Sequence[RunOutcome], interrupted: bool = False
) -> None:
    """Print them for a sweep; errors shared by several runs only once."""
    top = runs[0].folder.parent
    said: dict[str, list[str]] = {}
    for run, outcome in zip(runs, outcomes, strict=True):
        for line in troubles(outcome):
            said.setdefault(line, []).append(run.label)
    for line, labels in said.items():
        where = f"{labels[0]}: " if len(labels) == 1 else ""
        times = f" (in each of {len(labels)} of {len(runs)} runs)" if len(labels) > 1 else ""
        _say(f"{where}{line}{times}")
    if any(outcome.exit_code for outcome in outcomes):
        _say_optional(runs, outcomes)
        _say_costs(outcomes)
        _say(f"resume with: {resume_with(top)}")
    elif interrupted:
        _say(f"stopped while the results were written; resume with: {resume_with(top)}")
    for line in blames(outcomes):
        _say(line)


def _say_optional(runs: Sequence[PlannedRun], outcomes: Sequence[RunOutcome]) -> None:
    """Say so if only optional runs are unfinished, which is why the exit code is 0."""
    unfinished = [run for run, outcome in zip(runs, outcomes, strict=True) if outcome.exit_code]
    if all(run.optional for run in unfinished):
        names = ", ".join(run.label for run in unfinished)
        note(f"{names}: not finished, but optional; all other runs are complete")


def _say_costs(outcomes: Sequence[RunOutcome]) -> None:
    if all(outcome.spent is not None for outcome in outcomes):
        _say(f"spent: {costs(outcomes)}")


def _say(line: str) -> None:
    print(one_line(line), file=sys.stderr)
