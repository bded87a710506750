"""`balrog-rag compare A B`: is A better than B, how do their settings differ, where do episodes diverge?

With --values for two files of numbers: is the mean of A higher?"""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from balrog_rag.cli.command_line import Parser, called, ended
from balrog_rag.cli.compare_values import compare_values
from balrog_rag.contracts.errors import ConfigError

if TYPE_CHECKING:
    from rich.console import Console

    from balrog_rag.results.arms import Arm
    from balrog_rag.results.comparing import ArmComparison

MOST_PAIRS = 20


def main(arguments: list[str] | None = None) -> int:
    """Run the command; an error is one line on stderr."""
    options = parser().parse_args(arguments)
    return ended(lambda: (compare_values if options.values else compare)(options))


def parser() -> argparse.ArgumentParser:
    """Build the argument parser."""
    made = Parser(prog=called("compare"), description=__doc__)
    made.add_argument("ours", type=Path, metavar="A", help="a run folder, or a folder of runs of one kind")
    made.add_argument("theirs", type=Path, metavar="B", help="the run or folder to compare with")
    made.add_argument("--measure", default="progression", help="what to compare (default: %(default)s)")
    made.add_argument(
        "--partial", action="store_true",
        help="also compare runs with open or missing episodes, over games that both have finished",
    )  # fmt: skip
    made.add_argument("--detect", type=float, metavar="POINTS", help="difference to plan episodes for")
    made.add_argument(
        "--planned", type=int, metavar="N",
        help="total planned episodes per arm: treat this as an interim look, and report whether to stop",
    )  # fmt: skip
    made.add_argument(
        "--look", type=int, default=1, metavar="K", help="number of this look, of equally spaced ones"
    )
    made.add_argument(
        "--values",
        action="store_true",
        help="A and B are files with one number per line, optionally with a heading: compare them",
    )
    made.add_argument(
        "--paired", action="store_true", help="with --values: equal lines belong to the same game"
    )
    made.add_argument(
        "--solved", action="store_true",
        help="with --values: each number is 0 or 1 (or 0 or 100), for unsolved or solved",
    )  # fmt: skip
    return made


def compare(options: argparse.Namespace) -> int:
    """Print differing settings, verdicts, tasks and divergences."""
    from balrog_rag.results import terminal
    from balrog_rag.results.arms import departures
    from balrog_rag.results.comparing import compared, compared_statistics
    from balrog_rag.results.looks import noted
    from balrog_rag.results.report.details import preventable_sentence
    from balrog_rag.results.terminal import say, show_table

    check_plan(options)
    if options.paired or options.solved:
        raise ConfigError(
            "--paired, --solved: only valid with --values; runs that share games are always paired"
        )
    arms, found = compared((options.ours, options.theirs), options.measure, options.detect, options.partial)
    seen = noted(arms, found.whole)
    if options.planned is None:
        found = msgspec.structs.replace(found, whole=seen)
    console = terminal.console()
    for caveat in (run.caveat for arm in arms for run in arm.runs if run.caveat):
        say(console, f"note: {caveat}.")
    for note in departures(arms):
        say(console, f"note on {note}.")
    show_settings(console, arms)
    show_verdicts(console, found)
    if rows := compared_statistics(*arms):
        headings = ["kind", "statistic", "A", "B", "A - B", "95 %\ninterval", "p"]
        show_table(console, "statistics of your own", headings, rows, words=(0, 1))
    if note := preventable_sentence(*arms):
        say(console, note)
    if options.planned is not None and found.whole.made:
        show_look(console, found, options.planned, options.look)
    show_partings(console, arms)
    return 0


def check_plan(options: argparse.Namespace) -> None:
    """Reject an impossible plan or look."""
    for name, value in (("--planned", options.planned), ("--look", options.look)):
        if value is not None and value < 1:
            raise ConfigError(f"{name} {value}: must be 1 or more")


def show_settings(console: "Console", arms: "list[Arm]") -> None:
    """Print the settings in which the two differ."""
    from balrog_rag.results.arms import differences
    from balrog_rag.results.comparability import short
    from balrog_rag.results.recorded_provenance import different_packages
    from balrog_rag.results.served import served_difference
    from balrog_rag.results.terminal import say, show_table

    rows = [[key, *map(short, row)] for key, row in differences([arm.settings for arm in arms])]
    if rows:
        headings = ["key", arms[0].name, arms[1].name]
        show_table(console, "settings that differ", headings, rows, words=range(3))
    else:
        say(console, "the settings do not differ.")
    if different := different_packages(
        *([folder for run in arm.runs for folder in run.folders] for arm in arms)
    ):
        say(console, f"package versions that differ: {'; '.join(different)}")
    if served := served_difference(arms):
        say(console, f"{served}.")


def show_verdicts(console: "Console", found: "ArmComparison") -> None:
    """Print the verdict, by environment and by task, and the sentence."""
    from balrog_rag.results.statistics.sentence import between, signed
    from balrog_rag.results.terminal import say, show_table

    parts = {"average": found.whole, **found.environments, **found.tasks}
    if len(found.environments) < 2:
        del parts["average"]
    rows = [
        [name, f"{made.our_mean:.2f}", f"{made.their_mean:.2f}", signed(made.difference, made),
         between(made), f"{made.test.p:.2g}",
         f"{made.our_count} / {made.their_count}"]
        for name, made in parts.items()
    ]  # fmt: skip
    headings = [found.whole.measure, "A", "B", "A - B", "95 %\ninterval", "p", "episodes"]
    if found.whole.made:
        show_table(console, f"A = {found.whole.ours}, B = {found.whole.theirs}", headings, rows)
    say(console, f"{found.whole.ours} against {found.whole.theirs}: {found.whole.sentence}")
    for note in found.whole.notes:
        say(console, f"note: {note}.")


def show_look(console: "Console", found: "ArmComparison", planned: int, number: int) -> None:
    """Print whether a sequential design may stop here."""
    from balrog_rag.results.statistics.sequential import PlannedLook, look
    from balrog_rag.results.terminal import say

    count = min(found.whole.our_count, found.whole.their_count)
    before: PlannedLook | None = None
    for earlier in range(1, number):
        before = look(1.0, round(count * earlier / number), planned, before)
    now = look(found.whole.claim_p, count, planned, before)
    note = "stop: the verdict is clear" if now.clear else "stop: plan complete" if now.stop else "continue"
    say(console, f"look {number} at {count} of {planned}: p may be at most {now.allowed:.2g} here; {note}.")


def show_partings(console: "Console", arms: "list[Arm]") -> None:
    """Print where episodes of the same game first differ."""
    from balrog_rag.results.divergence import MOST_READ, partings
    from balrog_rag.results.terminal import say, show_table
    from balrog_rag.util.wording import many

    found, pairs = partings(arms[0], arms[1])
    if not found:
        say(console, "the runs have no game in common.")
        return
    rows = [
        [
            one.ours,
            "never" if one.step is None else str(one.step),
            one.difference,
            one.our_action,
            one.their_action,
        ]
        for one in found[:MOST_PAIRS]
    ]
    headings = ["episode", "step", "in", "A", "B"]
    show_table(console, "where pairs first differ", headings, rows, words=(0, 2, 3, 4))
    same = sum(one.step is None for one in found)
    of = f"the first {MOST_READ:,} of {many(pairs, 'pairs')} were read: " if pairs > MOST_READ else ""
    say(console, f"{of}{many(len(found), 'pairs')}, {same} identical from beginning to end.")
