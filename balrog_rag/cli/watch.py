"""`balrog-rag watch RUN`: the progress of a run or a sweep, from another terminal or after it has ended."""

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from balrog_rag.cli.command_line import Parser, called, ended, within

if TYPE_CHECKING:
    from rich.console import Console

    from balrog_rag.display.run_files import EpisodeProgress, RunFiles

DESCRIPTION = """Print the progress of a run or a sweep, read from its folder: each task with its scores so
far, and the episodes in play with their last action and answer.

In a terminal it is repeated until every episode has ended; Ctrl-C ends the watching, not the run.
Otherwise, or for a run that has ended, it is printed once. Nothing is written, so it works for any folder
that you can read."""
SHOWN = 12
"""Episodes listed without a terminal's height."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command."""
    options = parser().parse_args(arguments)
    return ended(lambda: _watch(options), stopped="no longer watching; the run is not affected")


def parser() -> argparse.ArgumentParser:
    """Build the argument parser."""
    made = Parser(
        prog=called("watch"), description=DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument("run", type=Path, metavar="RUN", help="the folder of a run or a sweep")
    made.add_argument("--once", action="store_true", help="print it once and exit")
    made.add_argument("--every", type=float, default=2.0, metavar="SECONDS", help="(default: %(default)g)")
    return made


def _watch(options: argparse.Namespace) -> int:
    from balrog_rag.display.run_files import RunFiles
    from balrog_rag.results.terminal import console

    within("--every", options.every, 0.1, 3600)
    files, out = RunFiles(options.run), console()
    played = files.look()
    if options.once or not sys.stdout.isatty():
        _print(out, files, played, SHOWN)
        return 0
    while True:
        out.clear()
        _print(out, files, played, max(1, out.height - len(_tasks(files, played)) - 9))
        if _over(files, played):
            return 0
        time.sleep(options.every)
        played = files.look()


def _over(files: "RunFiles", played: "Sequence[EpisodeProgress]") -> bool:
    return len(played) == len(files.planned) and all(one.ended is not None for one in played)


def _tasks(files: "RunFiles", played: "Sequence[EpisodeProgress]") -> list[list[str]]:
    from balrog_rag.display.run_files import task_rows

    return task_rows(files, played)


def _print(out: "Console", files: "RunFiles", played: "Sequence[EpisodeProgress]", most: int) -> None:
    from balrog_rag.display.run_files import EPISODE_HEADINGS, TASK_HEADINGS, episode_rows
    from balrog_rag.results.terminal import say, show_table

    show_table(out, str(files.folder), TASK_HEADINGS, _tasks(files, played))
    rows = episode_rows(played, most)
    if rows:
        show_table(out, "", EPISODE_HEADINGS, rows, words=(0, 3))
    if len(played) > len(rows):
        say(out, f"{len(played) - len(rows):,} more")
    state = "every episode has ended" if _over(files, played) else f"{len(files.planned):,} episodes planned"
    say(out, state)
