"""Pages and tables that a `Run` shows: its summary in a notebook, its report, its episodes in the viewer."""

import asyncio
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from html import escape
from pathlib import Path
from typing import TypeVar

from balrog_rag.contracts.errors import BalrogError
from balrog_rag.results.runs import load
from balrog_rag.results.summary import summarise
from balrog_rag.results.terminal_tables import HEADINGS, score_rows

Result = TypeVar("Result")
LARGEST_INLINE = 8_000_000
"""Largest page, in bytes, that a notebook shows in place; every execution stores it in the notebook."""
HEIGHT = 600


class HtmlPage:
    """An HTML page on disk. A notebook shows it in place; otherwise it is used as a path."""

    def __init__(self, path: Path, notes: Sequence[str] = ()) -> None:
        self.path = path
        self.notes = list(notes)
        """What the page says in words (a report's verdicts), or lacks (episodes that cannot be shown)."""

    def _repr_html_(self) -> str:
        """The page in a frame of its own, without access to the notebook."""
        if self.path.stat().st_size > LARGEST_INLINE:
            return f"<p>{escape(str(self.path))}: too large to show here; open it in a browser</p>"
        page = escape(self.path.read_text(encoding="utf-8", errors="replace"))
        return (
            f'<iframe sandbox="allow-scripts" srcdoc="{page}" '
            f'style="width:100%;height:{HEIGHT}px;border:1px solid #ccc"></iframe>'
        )

    def __fspath__(self) -> str:
        return str(self.path)

    def __repr__(self) -> str:
        return "\n".join([f"<HtmlPage {self.path}>", *self.notes])


def summary_html(folder: Path, troubles: Sequence[str]) -> str:
    """Return a run's results as an HTML table; text of journals is escaped."""
    summary = summarise(load(folder))
    heads = "".join(f"<th>{escape(head)}</th>" for head in HEADINGS)
    rows = ["".join(f"<td>{escape(cell.strip())}</td>" for cell in row) for row in score_rows(summary) if row]
    title = f"{folder}: {summary.run.partial}" if summary.run.partial else str(folder)
    notes = "".join(f"<li>{escape(trouble)}</li>" for trouble in troubles)
    body = "".join(f"<tr>{row}</tr>" for row in rows) or "<tr><td>no finished episode yet</td></tr>"
    return (
        f"<table><caption>{escape(title)}</caption><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"
        + (f"<ul>{notes}</ul>" if notes else "")
    )


def write_run_report(
    folders: Sequence[Path], out: Path, title: str, baseline: str | None, partial: bool
) -> HtmlPage:
    """Write a report on these runs as one HTML page, with its data and figures beside it."""
    from balrog_rag.results.arms import load_arms
    from balrog_rag.results.report.write import write_report

    arms = load_arms(folders, partial=partial)
    found = write_report(arms, out, title, baseline, ["html", "csv", "svg"])
    said = [f"{verdict.ours} against {verdict.theirs}: {verdict.sentence}" for verdict in found.verdicts]
    return HtmlPage(out / "report.html", said)


def write_view(paths: Sequence[Path], out: Path) -> HtmlPage:
    """Write the viewer's page with every episode at these paths."""
    from balrog_rag.viewer import bundle
    from balrog_rag.viewer.listing import listed

    return HtmlPage(out, in_own_thread(lambda: bundle.write(listed(paths), out)))


def differences(journals: Sequence[Path]) -> list[str]:
    """Replay journals without a model; return one line for each that does not match its game."""
    from balrog_rag.results.recorded_provenance import contradictions
    from balrog_rag.run.replay import verify

    found = []
    for journal in journals:
        try:
            in_own_thread(lambda journal=journal: asyncio.run(verify(journal)))  # type: ignore[misc]
        except BalrogError as error:
            found.append(str(error))
    return [*found, *contradictions(journals)]


def in_own_thread(work: Callable[[], Result]) -> Result:
    """Run something that starts an event loop, also where one is running already, as in a notebook."""
    with ThreadPoolExecutor(1, thread_name_prefix="balrog_rag") as thread:
        return thread.submit(work).result()


def beside(path: str | os.PathLike[str] | None, usual: Path) -> Path:
    """The place that the user chose, or the usual one."""
    return usual if path is None else Path(path)
