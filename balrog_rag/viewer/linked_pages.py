"""Pages of whole runs, written for a report or a leaderboard that links to them, with a link back."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from balrog_rag.contracts.errors import BalrogError
from balrog_rag.results.coded_values import summed
from balrog_rag.results.episode_arrays import arrays_of
from balrog_rag.results.report.episode_pages import PAGE
from balrog_rag.results.runs import LoadedRun
from balrog_rag.util.wording import many
from balrog_rag.viewer import bundle
from balrog_rag.viewer.bundle import BackLink
from balrog_rag.viewer.listing import listed

FOLDER = "pages"
FEW_STEPS = 20_000
"""Without `all`, pages are written for runs that have at most this many steps together."""
MOST_MB = 300
"""Pages of one report stop at this size, also with `all`."""
WAYS = ("auto", "all", "none")


class LinkedPages(msgspec.Struct):
    """What was written, and what was not."""

    written: dict[Path, Path]
    notes: list[str]


def write_pages(runs: Sequence[LoadedRun], out: Path, back: BackLink, way: str = "auto") -> LinkedPages:
    """Write one page per run into `out`/pages; a run that has its own current page needs none."""
    made = LinkedPages({}, [])
    if way == "none":
        return made
    steps, size = sum(summed(arrays_of(run.episodes).numbers("steps")) for run in runs), 0.0
    if way == "auto" and steps > FEW_STEPS:
        made.notes.append(
            f"no pages written for {steps:,} steps (limit {FEW_STEPS:,}); write them with --pages all"
        )
        return made
    for run in runs:
        if not run.episodes or has_own_page(run):
            continue
        if size > MOST_MB:
            made.notes.append(
                f"no page written for {run.name}: the others have {size:,.0f} MB (limit {MOST_MB:,} MB)"
            )
            continue
        path = _free(out / FOLDER, run.name, made.written)
        if (note := _write_page(run, path, back)) is not None:
            made.notes.append(note)
        if path.is_file():
            made.written[run.folder] = path
            size += path.stat().st_size / 1e6
    return made


def has_own_page(run: LoadedRun) -> bool:
    """Whether the run's folder has a page that is newer than its journals."""
    page = run.folder / PAGE
    journals = [run.journal(episode.name) for episode in run.episodes]
    return page.is_file() and all(page.stat().st_mtime >= journal.stat().st_mtime for journal in journals)


def _free(folder: Path, name: str, taken: dict[Path, Path]) -> Path:
    """A file for a run of this name; runs of several sweeps may share one."""
    plain = "".join(sign if sign.isalnum() or sign in "._=-" else "_" for sign in name)[:80]
    known = {path.name for path in taken.values()}
    names = (f"{plain}{'' if number == 1 else f'-{number}'}.html" for number in range(1, len(taken) + 2))
    return folder / next(each for each in names if each not in known)


def _write_page(run: LoadedRun, path: Path, back: BackLink) -> str | None:
    """Write the page; return a note on episodes that it shows only in part, or why there is none."""
    path.unlink(missing_ok=True)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        failures = bundle.write(listed(run.folders), path, back)
    except (BalrogError, OSError) as error:
        return f"no page written for {run.name}: {error}"
    if not failures:
        return None
    return f"the page of {run.name} lacks steps of {many(len(failures), 'episodes')}: {failures[0]}"
