"""The results of a sweep: one row per run, on the terminal, as CSV and as Markdown."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path

import msgspec

from balrog_rag.results import run_folder, terminal
from balrog_rag.results.experiments import departure, grouped
from balrog_rag.results.report.markdown import escaped
from balrog_rag.results.scoring import overall_interval
from balrog_rag.results.statistics.estimate import NOTHING
from balrog_rag.results.summary import write_all
from balrog_rag.results.terminal_tables import costs
from balrog_rag.util.terminal_safe import terminal_safe


class SweepRow(msgspec.Struct, frozen=True):
    """One run."""

    run: str
    ended: int
    planned: int
    progression: float | None
    """In percent; None, not 0, if no episode has ended."""
    standard_error: float | None
    low: float | None
    high: float | None
    steps: int
    tokens: int
    dollars: float
    partial: str
    """'partial: 7 of 204' if episodes are open or missing, which means no interval; otherwise empty."""
    departure: str
    """How it departs from its experiment; empty if it does not, or belongs to none."""
    shown_costs: tuple[str, str, str]


def rows(runs: Sequence[tuple[str, Path, int]]) -> list[SweepRow]:
    """Rows for runs given by name, folder and planned episodes; also writes each run's own results."""
    found = []
    for name, path, planned in runs:
        summary = write_all(path)
        episodes, overall = summary.run.episodes, summary.overall
        known = bool(episodes)
        partial = summary.run.partial
        interval = NOTHING if partial else overall_interval(summary.run.by_env())
        totals = [episode.total for episode in episodes]
        steps, tokens, dollars = costs(episodes)
        found.append(
            SweepRow(
                name,
                len(episodes),
                planned,
                overall["average_progress"] if known else None,
                overall["standard_error"] if known and not partial else None,
                interval.low if interval.known else None,
                interval.high if interval.known else None,
                sum(episode.steps for episode in episodes),
                sum(total.input + total.output for total in totals),
                sum(total.dollars for total in totals),
                partial,
                departure(summary.run.config),
                (steps, tokens, dollars),
            )
        )
    return found


HEADINGS = ("run", "ended", "progress % ± SE", "95 % interval", "steps", "tokens", "dollars")


def cells(row: SweepRow) -> list[str]:
    """A row as displayed."""
    return [
        terminal_safe(f"{row.run} ({row.partial})" if row.partial else row.run),
        f"{row.ended}/{row.planned}",
        "–"
        if row.progression is None
        else f"{row.progression:.2f}"
        + (f" ± {row.standard_error:.2f}" if row.standard_error is not None else ""),
        "–" if row.low is None else f"{row.low:.2f} to {row.high:.2f}",
        *row.shown_costs,
    ]


def print_table(title: str, table: Sequence[SweepRow]) -> None:
    """Print the table to stdout."""
    headings = [heading.replace(" ± SE", "\n± SE") for heading in HEADINGS]
    console = terminal.console()
    terminal.show_table(console, title, headings, [cells(row) for row in table])
    for note in notes(table):
        terminal.say(console, f"note on {note}.")


def notes(table: Sequence[SweepRow]) -> list[str]:
    """Notes on some of the runs."""
    return grouped((row.run, row.departure) for row in table)


def write_tables(top: Path, table: Sequence[SweepRow]) -> None:
    """Write sweep.csv with plain numbers and sweep.md as displayed."""
    run_folder.write_bytes(top / "sweep.csv", _csv(table).encode())
    lines = [HEADINGS, ["---", *["---:"] * (len(HEADINGS) - 1)], *map(cells, table)]
    text = "\n".join(f"| {' | '.join(cell.replace('|', '¦') for cell in line)} |" for line in lines)
    text += "".join(f"\n\nNote on {escaped(note)}." for note in notes(table))
    run_folder.write_bytes(top / "sweep.md", f"{text}\n".encode())


def _csv(table: Sequence[SweepRow]) -> str:
    names = SweepRow.__struct_fields__[:-1]
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(names)
    writer.writerows([[getattr(row, name) for name in names] for row in table])
    return out.getvalue()
