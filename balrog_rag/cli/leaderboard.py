"""`balrog-rag leaderboard`: rank runs, prepare a submission, verify one by replay, build a site of them."""

import argparse
import time
from pathlib import Path
from typing import TYPE_CHECKING

from balrog_rag.cli import board_site
from balrog_rag.cli.command_line import Parser, called, ended, folder_to_write, made_folder
from balrog_rag.cli.report import add_pages_option, written_pages
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.util.terminal_safe import terminal_safe
from balrog_rag.util.wording import many

if TYPE_CHECKING:
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
    add_pages_option(build)
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
    verify.add_argument(
        "--certificates",
        type=Path,
        metavar="FOLDER",
        help="write a certificate of each into this folder",
    )
    board_site.add_seed_options(verify)
    verify.set_defaults(run=_verify)
    board_site.add_commands(commands)
    return top


def _build(options: argparse.Namespace) -> int:
    from balrog_rag.results import run_folder
    from balrog_rag.results.arms import departures, load_arms
    from balrog_rag.results.leaderboard.board_page import build, lacking, orders, page, with_columns
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
    entries = with_columns(build(arms, by), arms, by)
    for name in dict.fromkeys(entry.group for entry in entries if entry.group):
        names = [entry.name for entry in entries if entry.group == name]
        print(terminal_safe(f"note: ranked apart from the others: {', '.join(names)} ({name})"))
    pages = written_pages(arms, options.out, "Leaderboard", "leaderboard.html", options.pages)
    made = page(entries, arms, by, "Leaderboard", pages, [*notes, *left_out])
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
        return (
            "not ranked, since episodes are open or missing; "
            "finish it with balrog-rag resume RUN, or pass --partial"
        )
    return ""


def _submit(options: argparse.Namespace) -> int:
    from balrog_rag.cli.verification import balrogs_protocol, planned_specs
    from balrog_rag.results.leaderboard.submission import Metadata, submit

    folder_to_write("--out", options.out)
    metadata = Metadata(options.name or "", not options.closed, options.site, False, options.date)
    run = options.folder
    target, messages = submit(run, options.out, metadata, planned_specs(run), balrogs_protocol(run))
    print(f"submission: {target}")
    for line in messages:
        print(terminal_safe(line))
    return 0


def _verify(options: argparse.Namespace) -> int:
    from balrog_rag.cli.verification import verified_folder
    from balrog_rag.results.leaderboard.certificate import write_certificate

    rule, bad = board_site.seed_rule(options), 0
    if options.certificates is not None:
        made_folder("--certificates", options.certificates)
    for path in options.folders:
        found = verified_folder(path, rule)
        wrong, certificate = found.wrong, found.certificate
        for line in wrong:
            print(terminal_safe(f"differs: {line}"))
        print(terminal_safe(f"{path}: {many(len(wrong), 'differences') if wrong else 'verified'}"))
        if certificate is not None and options.certificates is not None:
            print(terminal_safe(f"certificate: {write_certificate(certificate, options.certificates)}"))
        bad += bool(wrong)
    return 1 if bad else 0
