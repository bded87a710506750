"""`leaderboard site` and `season`: a static site of submissions, and seasons with hidden seeds."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from balrog_rag.cli.command_line import Parser, file_to_write, made_folder
from balrog_rag.contracts.errors import BalrogError, ConfigError
from balrog_rag.util.terminal_safe import terminal_safe
from balrog_rag.util.wording import many

if TYPE_CHECKING:
    from balrog_rag.results.leaderboard.seed_rules import SeedRule
    from balrog_rag.results.leaderboard.site_entries import SiteEntry


def add_commands(commands: "argparse._SubParsersAction[Parser]") -> None:
    """Add both commands."""
    site = commands.add_parser("site", help="write a static site of submissions, each verified by replay")
    site.add_argument("submissions", nargs="+", type=Path, metavar="FOLDER")
    site.add_argument("--out", type=Path, default=Path("site"), help="folder (default: %(default)s)")
    site.add_argument("--title", default="Leaderboard", help="its heading (default: %(default)s)")
    site.add_argument(
        "--no-verify", action="store_true", help="replay nothing; submissions that were not verified say so"
    )
    site.add_argument("--no-view", action="store_true", help="leave out the pages that play back episodes")
    add_seed_options(site)
    site.set_defaults(run=_site)
    season = commands.add_parser("season", help="commit to a digest of secret seeds, and reveal them later")
    steps = season.add_subparsers(required=True, metavar="STEP")
    commit = steps.add_parser("commit", help="draw secret seeds; write them, and the digest to publish")
    commit.add_argument("season", metavar="NAME")
    commit.add_argument("--count", type=int, required=True, help="number of seeds: episodes of each task")
    commit.add_argument("--secret", type=Path, required=True, metavar="FILE", help="keep this to yourself")
    commit.add_argument("--out", type=Path, required=True, metavar="FILE", help="publish this")
    commit.set_defaults(run=_commit)
    reveal = steps.add_parser("reveal", help="write the seeds with the proof that they were announced")
    reveal.add_argument("--secret", type=Path, required=True, metavar="FILE")
    reveal.add_argument("--season", type=Path, required=True, metavar="FILE", help="what was published")
    reveal.add_argument("--out", type=Path, required=True, metavar="FILE")
    reveal.set_defaults(run=_reveal)


def add_seed_options(parser: argparse.ArgumentParser) -> None:
    """Add the options by which a board fixes the games."""
    parser.add_argument("--run-seed", type=int, metavar="N", help="refuse runs whose run.seed is not N")
    parser.add_argument(
        "--season", type=Path, metavar="FILE", help="refuse runs that did not play this season's seeds"
    )
    parser.add_argument("--revealed", type=Path, metavar="FILE", help="the season's revealed seeds")


def seed_rule(options: argparse.Namespace) -> "SeedRule":
    """Return how these options fix the games."""
    from balrog_rag.results.leaderboard.season import checked
    from balrog_rag.results.leaderboard.seed_rules import SeedRule

    if (options.season is None) != (options.revealed is None):
        raise ConfigError("--season and --revealed: pass both, the announcement and what was revealed")
    if options.season is not None and options.run_seed is not None:
        raise ConfigError("--run-seed: not with --season, which fixes the seeds")
    if options.season is None:
        return SeedRule(options.run_seed)
    return SeedRule(season=checked(options.season, options.revealed))


def _site(options: argparse.Namespace) -> int:
    from balrog_rag.cli.verification import balrogs_protocol
    from balrog_rag.results import run_folder
    from balrog_rag.results.leaderboard.site_entries import distinct
    from balrog_rag.results.leaderboard.site_pages import data, index_page, submission_page

    rule, out, failed = seed_rule(options), options.out, 0
    made_folder("--out", out)
    folders = {folder.resolve(): folder for folder in options.submissions}
    entries: dict[Path, SiteEntry] = {}
    for folder in folders.values():
        try:
            entries[folder] = _entry(folder, rule, options)
        except BalrogError as error:  # one unreadable folder must not keep the others from the site
            print(terminal_safe(f"left out: {error}"))
            failed += 1
    if not entries:
        raise ConfigError(f"--out {out}: no submission can be shown, so the site was not written")
    distinct([*entries.values()])
    for folder, entry in entries.items():
        if entry.arm is None:
            continue
        entry.page = f"submissions/{entry.slug}/index.html"
        if not options.no_view:
            entry.view = f"submissions/{entry.slug}/view.html"
            _write_view(folder, out / entry.view)
        text = submission_page(entry, balrogs_protocol(folder), options.title)
        run_folder.write_bytes(out / entry.page, text.encode("utf-8", "replace"))
    shown = [*entries.values()]
    text = index_page(shown, options.title, _rule_in_words(rule))
    run_folder.write_bytes(out / "index.html", text.encode("utf-8", "replace"))
    run_folder.write_json(out / "data.json", data(shown))
    for entry in shown:
        if entry.why_unranked:
            print(terminal_safe(f"not ranked: {entry.slug}: {entry.why_unranked[0]}"))
    print(f"site: {out / 'index.html'} ({many(len(shown), 'submissions')})")
    return 1 if failed else 0


def _entry(folder: Path, rule: "SeedRule", options: argparse.Namespace) -> "SiteEntry":
    from balrog_rag.cli.verification import verified_folder
    from balrog_rag.results.leaderboard.certificate import write_certificate
    from balrog_rag.results.leaderboard.site_entries import entry_of
    from balrog_rag.results.leaderboard.verified import is_verified

    if not (folder / "config.json").exists() or (options.no_verify and not is_verified(folder)):
        return entry_of(folder, rule)
    found = verified_folder(folder, rule, again=False)
    if found.certificate is not None:
        write_certificate(found.certificate, options.out / "certificates")
    return entry_of(folder, rule, found.differences, found.violations, found.certificate)


def _write_view(folder: Path, out: Path) -> None:
    from balrog_rag.viewer import bundle
    from balrog_rag.viewer.listing import listed

    out.parent.mkdir(parents=True, exist_ok=True)
    for line in bundle.write(listed([folder]), out):
        print(terminal_safe(f"note: {line}"))


def _rule_in_words(rule: "SeedRule") -> str:
    if rule.season is not None:
        return (
            f"All ranked submissions played the seeds of season {rule.season.season}, whose digest "
            f"{rule.season.commitment} was announced before."
        )
    if rule.run_seed is not None:
        return f"All ranked submissions played the games that follow from run.seed={rule.run_seed}."
    return "Submitters chose the seeds of their games; each submission's page says how."


def _commit(options: argparse.Namespace) -> int:
    from balrog_rag.results.leaderboard.season import commit

    for option, path in (("--secret", options.secret), ("--out", options.out)):
        file_to_write(option, path)
    announced = commit(options.season, options.count, options.secret, options.out)
    print(f"season {announced.season}: publish {options.out}; keep {options.secret} until the season ends")
    print(f"commitment: {announced.commitment}")
    return 0


def _reveal(options: argparse.Namespace) -> int:
    from balrog_rag.results.leaderboard.season import reveal

    file_to_write("--out", options.out)
    shown = reveal(options.secret, options.season, options.out)
    print(f"season {shown.season}: {options.out} proves the announced digest; play it with:")
    print(shown.words)
    return 0
