"""What a run says when it ends: the results table, what went wrong, and what to do next."""

import sys
from pathlib import Path

import msgspec

from balrog_rag.results.summary import Summary
from balrog_rag.results.tables import print_summary
from balrog_rag.results.terminal import console
from balrog_rag.run.run import RunOutcome, troubles
from balrog_rag.util.terminal_safe import one_line


def print_results(run: Path, summary: Summary) -> None:
    """Print the results to the terminal."""
    print_summary(summary, console())
    print(f"run folder: {run}")


def print_finished(run: Path, outcome: RunOutcome, summary: Summary) -> None:
    """The same for a program: the summary as one JSON line."""
    facts = {"event": "finished", "folder": str(run), "exit_code": outcome.exit_code, **summary.overall}
    print(msgspec.json.encode(facts).decode())


def print_troubles(run: Path, outcome: RunOutcome) -> None:
    """What kept episodes from ending, and how to go on."""
    for line in troubles(outcome):
        print(one_line(line), file=sys.stderr)
    if not outcome.tally.complete:
        print(f"go on with it: python -m balrog_rag.eval resume={run}", file=sys.stderr)
