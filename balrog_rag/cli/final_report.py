"""Output at the end of a run: the results table, or the summary as JSON."""

from pathlib import Path

import msgspec

from balrog_rag.results.summary import Summary
from balrog_rag.results.terminal import console
from balrog_rag.results.terminal_tables import print_summary
from balrog_rag.run.run import RunOutcome


def print_results(run: Path, summary: Summary) -> None:
    """Print the results to the terminal."""
    print_summary(summary, console())
    print(f"run folder: {run}")


def print_finished(run: Path, outcome: RunOutcome, summary: Summary) -> None:
    """Print the summary as one JSON line, for programs."""
    facts = {"event": "finished", "folder": str(run), "exit_code": outcome.exit_code, **summary.overall}
    print(msgspec.json.encode(facts).decode())
