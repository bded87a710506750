"""`balrog-rag leaderboard build|submit|verify`: rank runs, prepare a submission, verify one by replay."""

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from balrog_rag.cli.command_line import Parser, called, ended, folder_to_write
from balrog_rag.contracts.errors import BalrogError, ConfigError
from balrog_rag.util.terminal_safe import terminal_safe
from balrog_rag.util.wording import many

if TYPE_CHECKING:
    from balrog_rag.episode.spec import EpisodeSpec
    from balrog_rag.results.arms import Arm


def main(arguments: list[str] | None = None) -> int:
    """Run the command; an error is one line on stderr."""
    options = parser().parse_args(arguments)
    return ended(lambda: options.run(options))


def parser() -> argparse.ArgumentParser:
    """Build the argument parser."""
    top = Parser(prog=called("leaderboard"), description=__doc__)
    commands = top.add_subparsers(required=True, metavar="COMMAND")
    build = commands.add_parser("build", help="rank run folders, beside published results")
    build.add_argument(
        "runs", nargs="+", type=Path, metavar="RUN", help="run folders, or folders of run folders"
    )
    build.add_argument(
        "--by",
        help="rank by this environment, by `average`, or by a measure such as held or score "
        "(default: the environment that was played, else average)",
    )
    build.add_argument(
        "--out", type=Path, default=Path("reports/leaderboard"), help="folder (default: %(default)s)"
    )
    build.add_argument(
        "--partial", action="store_true", help="also rank runs with open or missing episodes, marked as such"
    )
    build.set_defaults(run=_build)
    submit = commands.add_parser(
        "submit", help="create and check the folder that BALROG's leaderboard requires"
    )
    submit.add_argument("folder", type=Path, metavar="RUN")
    submit.add_argument("--name", help="the entry's name on the board (default: its agent and model)")
    submit.add_argument(
        "--out", type=Path, default=Path("reports/submissions"), help="folder (default: %(default)s)"
    )
    submit.add_argument("--site", help="URL of a page about the agent")
    submit.add_argument("--date", default=time.strftime("%Y-%m-%d"), help="YYYY-MM-DD (default: today)")
    submit.add_argument(
        "--closed", action="store_true", help="the agent or its model is not publicly available"
    )
    submit.set_defaults(run=_submit)
    verify = commands.add_parser(
        "verify", help="replay every journal of run folders or submissions and compare all results"
    )
    verify.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    verify.set_defaults(run=_verify)
    return top


def _build(options: argparse.Namespace) -> int:
    from balrog_rag.results import run_folder
    from balrog_rag.results.arms import departures, load_arms
    from balrog_rag.results.leaderboard.board_page import build, lacking, orders, page
    from balrog_rag.results.report.figures import drawn_against_dollars, saved
    from balrog_rag.results.report.html import html
    from balrog_rag.results.report.markdown import markdown
    from balrog_rag.results.scoring import PROGRESSION
    from balrog_rag.results.served import served_difference

    folder_to_write("--out", options.out)
    everybody = load_arms(options.runs, use_index=False, partial=options.partial)
    arms = [arm for arm in everybody if not arm.forked and not arm.withheld]
    notes = [run.caveat for arm in everybody for run in arm.runs if run.caveat]
    known = orders(everybody)
    played = [order.env for order in known.values() if order.measure is PROGRESSION]
    chosen = options.by or played[0 if len(played) == 2 else -1]
    if chosen not in known:
        raise ConfigError(f"--by {chosen}: not played by any run; choose {', '.join(known)}")
    by = known[chosen]
    notes += [
        f"{arm.name}: not ranked, since {count} of its journals lack it; it needs {by.measure.needs}"
        for arm in arms
        if (count := lacking(arm, by))
    ]
    left_out = [f"{arm.name}: {why}" for arm in everybody if (why := _unranked(arm))]
    notes += filter(None, [served_difference(everybody)])
    for note in [*notes, *left_out, *departures(everybody)]:
        print(terminal_safe(f"note: {note}"))
    entries = build(arms, by)
    for name in dict.fromkeys(entry.group for entry in entries if entry.group):
        names = [entry.name for entry in entries if entry.group == name]
        print(terminal_safe(f"note: ranked apart from the others: {', '.join(names)} ({name})"))
    made = page(entries, arms, by, "Leaderboard", options.out, [*notes, *left_out])
    run_folder.write_bytes(options.out / "leaderboard.md", markdown(made, {}).encode("utf-8", "replace"))
    svgs = {name: saved(figure, "svg") for name, figure in drawn_against_dollars(arms).items()}
    made.sections[0].figures = [*svgs]
    run_folder.write_bytes(options.out / "leaderboard.html", html(made, svgs).encode("utf-8", "replace"))
    run_folder.write_json(options.out / "leaderboard.json", entries)
    own = many(sum(entry.own for entry in entries), "own rows")
    print(f"leaderboard: {options.out / 'leaderboard.html'} ({own})")
    return 0


def _unranked(arm: "Arm") -> str:
    """Why an arm has no rank; empty if it has one."""
    if arm.forked:
        return "not ranked, since its player did not play from the first step"
    if arm.withheld:
        return "not ranked, since episodes are open or missing; finish it with resume=RUN, or pass --partial"
    return ""


def _submit(options: argparse.Namespace) -> int:
    from balrog_rag.results.leaderboard.submission import Metadata, submit

    folder_to_write("--out", options.out)
    metadata = Metadata(options.name or "", not options.closed, options.site, False, options.date)
    run = options.folder
    target, messages = submit(run, options.out, metadata, _planned(run), _balrogs(run))
    print(f"submission: {target}")
    for line in messages:
        print(terminal_safe(line))
    return 0


BALROGS = ("naive", "cot", "robust_naive", "robust_cot", "few_shot", "dummy")
"""BALROG's own agents."""


def _balrogs(run: Path) -> dict[str, Any]:
    """BALROG's stock configuration, with the run's agent if it is one of BALROG's."""
    from balrog_rag.config.compose import compose
    from balrog_rag.config.frozen import plain
    from balrog_rag.results.run_folder import frozen_config

    agent = frozen_config(run).config.get("agent", {}).get("name")
    return plain(
        compose(["experiment=balrog", "model=openai", *([f"agent={agent}"] if agent in BALROGS else [])])
    )


def _verify(options: argparse.Namespace) -> int:
    bad = 0
    for path in options.folders:
        wrong = _differences(path)
        for line in wrong:
            print(terminal_safe(f"differs: {line}"))
        print(terminal_safe(f"{path}: {many(len(wrong), 'differences') if wrong else 'verified'}"))
        bad += bool(wrong)
    return 1 if bad else 0


def _differences(path: Path) -> list[str]:
    """All differences in this folder; an unreadable folder counts as a difference."""
    from balrog_rag.results.leaderboard.verified import verify

    try:
        return verify(
            path, _planned(path), _balrogs(path), _play_again, lambda line: print(terminal_safe(line))
        )
    except BalrogError as error:
        return [str(error)]


def _planned(run: Path) -> "Sequence[EpisodeSpec]":
    from balrog_rag.results.stored_run import read_run
    from balrog_rag.run.resume import specs_of

    return specs_of(read_run(run))


def _play_again(journal: Path, into: Path) -> str:
    import asyncio

    from balrog_rag.run.csv_log import CsvLog
    from balrog_rag.run.replay import replay

    with CsvLog(into) as trajectory:
        return asyncio.run(replay(journal, trajectory)).head
