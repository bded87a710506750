"""`balrog-rag ablate agent=NAME --games N`: what is each tactic of a program worth?

Plays the program with all its tactics and without each of them, in the same games, and prints a table.
"""

import argparse
import sys
from pathlib import Path

from balrog_rag.cli.command_line import Parser, called, ended, note, within
from balrog_rag.util.terminal_safe import terminal_safe
from balrog_rag.util.wording import many

GAMES = 100


def main(arguments: list[str] | None = None) -> int:
    """Run the command; an error is one line on stderr."""
    made = parser()
    options, words = made.parse_known_args(sys.argv[1:] if arguments is None else arguments)
    if refused := [word for word in words if "=" not in word]:
        made.error(f"unrecognized argument: {refused[0]}")
    return ended(lambda: ablate(options, words))


def parser() -> argparse.ArgumentParser:
    """Return the argument parser."""
    made = Parser(
        prog=called("ablate"),
        description=__doc__,
        epilog="followed by KEY=VALUE overrides, e.g. agent=delver env=nethack run.seed=7",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument(
        "--games", type=int, default=GAMES, metavar="N", help="games per task and arm (default: %(default)s)"
    )
    made.add_argument("--switches", default="", metavar="A,B", help="only these tactics (default: all)")
    made.add_argument(
        "--table", type=Path, metavar="FOLDER", help="only print the table of an earlier ablation"
    )
    made.add_argument("--list", action="store_true", help="only list the program's tactics")
    return made


def ablate(options: argparse.Namespace, words: list[str]) -> int:
    """Play the arms and print the table."""
    from balrog_rag.cli.sweep import play_all
    from balrog_rag.config.compose import compose
    from balrog_rag.run.ablation import ablation_arms, switches_of
    from balrog_rag.run.sweep_plan import sweep_of

    within("--games", options.games, 1)
    if options.table is not None:
        return print_table(options.table)
    if options.list:
        for each in switches_of(compose(words).agent.name):
            print(terminal_safe(f"{each.name:<14} {each.phase:<10} {each.says}"))
        return 0
    wanted = [name for name in options.switches.split(",") if name]
    runs = sweep_of(ablation_arms(words, options.games, wanted), "ablation")
    code = play_all(runs)
    return code or print_table(runs[0].folder.parent)


def print_table(folder: Path) -> int:
    """Print the table of an ablation's folder."""
    from balrog_rag.contracts.errors import RunFolderError
    from balrog_rag.results.ablation_table import COLUMNS, ablation_rows
    from balrog_rag.results.arms import run_folders
    from balrog_rag.results.run_folder import resume_with
    from balrog_rag.results.runs import load
    from balrog_rag.run.ablation import BASELINE, WITHOUT, switches_of

    runs = {each.name: each for each in map(load, run_folders(folder))}
    if BASELINE not in runs:
        raise RunFolderError(
            f"{folder}: not an ablation (no {BASELINE}); pass the folder that ablate printed"
        )
    complete = {name: run for name, run in runs.items() if not (run.partial or run.problems)}
    unfinished = [name for name in runs if name not in complete]
    baseline = runs[BASELINE]
    arms = [
        (each.name, each.phase, complete[arm])
        for each in switches_of(str(baseline.config["agent"]["name"]))
        if (arm := f"{WITHOUT}{each.name}") in complete
    ]
    if BASELINE in unfinished or not arms:
        lacking = f"{BASELINE} is not" if BASELINE in unfinished else f"no arm but {BASELINE} is"
        raise RunFolderError(f"{folder}: {lacking} complete; resume with: {resume_with(folder)}")
    if unfinished:
        note(
            f"{len(unfinished)} of {many(len(runs) - 1, 'arms')} left out, since they are not complete; "
            f"resume with: {resume_with(folder)}"
        )
    rows = ablation_rows(baseline, arms)
    print(terminal_safe(f"all tactics: {rows[0].verdict.their_mean:.2f} % in {len(baseline.episodes)} games"))
    print(terminal_safe(aligned([list(COLUMNS), *(row.cells for row in rows)])))
    return 0


def aligned(table: list[list[str]]) -> str:
    """Return a table with columns of equal width."""
    widths = [max(len(row[place]) for row in table) for place in range(len(table[0]))]
    padded = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in table)
    return "\n".join(row.rstrip() for row in padded)
