"""What a run says when it ends: the results table, what went wrong, and what to do next."""

import signal
import sys
from pathlib import Path

import msgspec

from balrog_rag.results.summary import Summary
from balrog_rag.results.tables import print_summary
from balrog_rag.results.terminal import console
from balrog_rag.run.run import RunOutcome
from balrog_rag.util.secrets import redact
from balrog_rag.util.terminal_safe import one_line
from balrog_rag.util.wording import many


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


def troubles(outcome: RunOutcome) -> list[str]:
    """One line for each thing that kept an episode from ending."""
    tally = outcome.tally
    lines = [f"note: {note}" for note in outcome.notes]
    lines += [f"error: {episode}: {error}" for episode, error in sorted(tally.failed.items())]
    if tally.fatal is not None:
        lines.append(f"error: the run was stopped: {tally.fatal}")
    if outcome.signal is not None:
        lines.append(f"stopped by {signal.Signals(outcome.signal).name}; nothing that was answered is lost")
    if tally.open:
        verb = "is" if len(tally.open) == 1 else "are"
        lines.append(f"{many(len(tally.open), 'episodes')} {verb} not finished")
    return [redact(line) for line in lines]
