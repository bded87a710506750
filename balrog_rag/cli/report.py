"""`balrog-rag report RUN...`: verdicts, tables and figures for one or more runs."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from balrog_rag.cli.command_line import Parser, called, ended, folder_to_write
from balrog_rag.contracts.data import digest
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.util.terminal_safe import terminal_safe

if TYPE_CHECKING:
    from balrog_rag.results.arms import Arm
    from balrog_rag.results.report.episode_pages import EpisodePages
    from balrog_rag.results.report.write import ReportExtras


def main(arguments: list[str] | None = None) -> int:
    """Run the command; an error is one line on stderr."""
    options = parser().parse_args(arguments)
    return ended(lambda: report(options))


def parser() -> argparse.ArgumentParser:
    """Build the argument parser."""
    made = Parser(prog=called("report"), description=__doc__)
    made.add_argument(
        "runs", nargs="+", type=Path, metavar="RUN", help="run folders, or folders of run folders"
    )
    made.add_argument("--out", type=Path, help="folder for the report (default: reports/NAME)")
    made.add_argument("--title", help="heading of the page")
    made.add_argument("--baseline", metavar="ARM", help="the arm to compare with (default: the first)")
    made.add_argument(
        "--partial", action="store_true",
        help="include verdicts and intervals for runs with open or missing episodes, marked as such",
    )  # fmt: skip
    made.add_argument(
        "--beside", action="append", metavar="DATASET",
        help="also compare the games with this dataset's (`balrog-rag dataset list`); repeatable",
    )  # fmt: skip
    made.add_argument(
        "--db", type=Path, default=Path("ttyrecs.db"), help="database of --beside (default: ttyrecs.db)"
    )
    made.add_argument("--detect", type=float, metavar="POINTS", help="difference to plan episodes for")
    add_pages_option(made)
    made.add_argument(
        "--formats",
        help="comma-separated list of html, md, tex, png, svg, pdf, csv, parquet "
        "(default: html,md,tex,png,csv, and parquet if pyarrow is installed)",
    )  # fmt: skip
    return made


def report(options: argparse.Namespace) -> int:
    """Write the report and print its location."""
    from balrog_rag.results.arms import load_arms
    from balrog_rag.results.comparing import refuse_difference
    from balrog_rag.results.episode_table import has_parquet
    from balrog_rag.results.experiments import of_sweep
    from balrog_rag.results.report.write import KINDS, pick, write_report
    from balrog_rag.results.terminal import console, say

    usual = ["html", "md", "tex", "png", "csv", *(["parquet"] if has_parquet() else [])]
    kinds = [kind.strip() for kind in options.formats.split(",")] if options.formats else usual
    if unknown := [kind for kind in kinds if kind not in KINDS]:
        raise ConfigError(f"--formats {unknown[0]}: unknown format; valid formats: {', '.join(KINDS)}")
    name, arms = name_of(options.runs), load_arms(options.runs, partial=options.partial)
    out, title, baseline = options.out or Path("reports") / name, options.title or name, options.baseline
    refuse_difference(options.detect)
    folder_to_write("--out", out)
    pick(arms, baseline)  # a mistake is reported before pages are written
    experiment = of_sweep(options.runs[0]) if len(options.runs) == 1 else None
    if experiment is not None:
        order = [arm.name for arm in experiment.arms]
        arms.sort(key=lambda arm: order.index(arm.plain) if arm.plain in order else len(order))
        title = options.title or experiment.title
        baseline = baseline or (
            experiment.baseline if experiment.baseline in {arm.plain for arm in arms} else None
        )
    beside = _beside(options, arms) if options.beside else None
    pages = written_pages(arms, out, title, "report.html", options.pages if "html" in kinds else "none")
    found = write_report(arms, out, title, baseline, kinds, options.detect, beside, pages)
    screen = console()
    for verdict in found.verdicts:
        say(screen, f"{verdict.ours} against {verdict.theirs}: {verdict.sentence}")
    print(f"report: {out / 'report.html' if 'html' in kinds else out}")
    return 0


def _beside(options: argparse.Namespace, arms: Sequence["Arm"]) -> "ReportExtras":
    """The runs' games and the datasets' games in one set of tables."""
    from balrog_rag.dataset.box_plots import figures
    from balrog_rag.dataset.recorded_statistics import sections
    from balrog_rag.dataset.sets import of_arms, of_dataset
    from balrog_rag.results.report.write import ReportExtras

    sets = [*of_arms(arms), *(of_dataset(options.db, name) for name in options.beside)]
    return ReportExtras(sections(sets), figures(sets))


def add_pages_option(made: argparse.ArgumentParser) -> None:
    """Add the option that says for which runs pages are written."""
    made.add_argument(
        "--pages", choices=("auto", "all", "none"), default="auto",
        help="write each run's viewer page beside it, and link every episode (auto: of up to 20,000 steps)",
    )  # fmt: skip


def written_pages(arms: "Sequence[Arm]", out: Path, title: str, name: str, way: str) -> "EpisodePages":
    """Write the runs' pages into `out`, with links back to the page `name`; print what is missing."""
    from balrog_rag.results.report.episode_pages import EpisodePages
    from balrog_rag.viewer.bundle import BackLink
    from balrog_rag.viewer.linked_pages import write_pages

    runs = [run for arm in arms for run in arm.runs]
    made = write_pages(runs, out, BackLink(title, f"../{name}"), way)
    for note in made.notes:
        print(terminal_safe(f"note: {note}"))
    return EpisodePages(out, made.written)


LONGEST_NAME = 80
"""Maximum length of a folder name made from several names."""


def name_of(runs: Sequence[Path]) -> str:
    """Join all names, so that a report does not replace another one on fewer runs."""
    names = "+".join(dict.fromkeys(run.resolve().name for run in runs))
    return names if len(names) <= LONGEST_NAME else f"{names[: LONGEST_NAME - 9]}-{digest(names)[:8]}"
