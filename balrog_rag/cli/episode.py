"""`balrog-rag show`, `verify`, `export` and `fork`: replay journals."""

import argparse
import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from balrog_rag.cli import command_line
from balrog_rag.cli.command_line import Parser, called, ended, flags_and_overrides
from balrog_rag.cli.export import add_arguments, run_export
from balrog_rag.contracts.errors import BalrogError, ConfigError, RunFolderError
from balrog_rag.util.terminal_safe import terminal_safe
from balrog_rag.util.wording import many

if TYPE_CHECKING:
    from balrog_rag.contracts.renaming import Renaming


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code."""
    options, words = flags_and_overrides(parser(), arguments)
    options.overrides = words
    return ended(lambda: options.run(options))


def parser() -> argparse.ArgumentParser:
    """Build the argument parser."""
    own = "episode" if command_line.prefix.startswith("python") else ""
    top = Parser(prog=called(own).strip(), description=__doc__)
    commands = top.add_subparsers(required=True, metavar="COMMAND")
    show = commands.add_parser("show", help="print every step's exact prompt, answer, action and screen")
    show.add_argument("journal", type=Path)
    show.add_argument("--step", type=int, help="only this step")
    show.add_argument("--brief", action="store_true", help="one line per step: action, numbers, message")
    show.add_argument(
        "--original",
        action="store_true",
        help="put the original names back into the prompts of env.renamed",
    )
    show.set_defaults(run=_show)
    verify = commands.add_parser("verify", help="replay journals and compare every digest")
    verify.add_argument("paths", type=Path, nargs="+", metavar="RUN_SWEEP_OR_JOURNAL")
    verify.set_defaults(run=_verify)
    export = commands.add_parser(
        "export",
        help="write an episode's events for other programs, or training data of whole runs",
        epilog="with --to, KEY=VALUE overrides choose the agent that reads the games of bots",
    )
    add_arguments(export)
    export.set_defaults(run=run_export)
    fork = commands.add_parser(
        "fork",
        help="continue from a step with another agent or model",
        epilog="followed by KEY=VALUE overrides for the new player, e.g. agent=cot model.name=...",
    )
    fork.add_argument("journal", type=Path)
    fork.add_argument("--at", type=int, required=True, help="first step that the new player decides")
    fork.add_argument("--out", type=Path, required=True, help="new run folder")
    fork.add_argument("--trust", action="store_true", help="accept a run folder that somebody else created")
    fork.set_defaults(run=_fork)
    return top


def _show(options: argparse.Namespace) -> int:
    from balrog_rag.display.show import Printer
    from balrog_rag.results.run_folder import one_journal
    from balrog_rag.run.replay import replay

    options.journal = one_journal(options.journal)
    refuse_step(options.journal, options.step)
    names = _names_of(options.journal) if options.original else None
    shown = Printer(only=options.step, brief=options.brief, restore=None if names is None else names.restore)
    verdict = asyncio.run(replay(options.journal, shown))
    shown.close(verdict)
    return 0


def _names_of(path: Path) -> "Renaming | None":
    """Return the renaming of a journal's game."""
    from balrog_rag.contracts.kinds import kind_of
    from balrog_rag.episode.journal import read

    header = read(path).header
    return None if header is None else kind_of(header.spec.game.env).hints.renaming(header.spec.game)


def refuse_step(path: Path, step: int | None) -> None:
    """Raise an error if the journal has no such step."""
    from balrog_rag.episode.journal import read

    if step is None:
        return
    count = len(read(path).steps)
    if not 0 <= step < count:
        raise ConfigError(f"--step {step}: the journal has {many(count, 'steps')}, counted from 0")


def _verify(options: argparse.Namespace) -> int:
    from balrog_rag.results.recorded_provenance import contradictions
    from balrog_rag.run.replay import verify

    bad = unchained = 0
    journals = _to_verify(options.paths)
    for journal in journals:
        try:
            verdict = asyncio.run(verify(journal))
        except BalrogError as error:
            bad += 1
            print(f"DIFFERS  {terminal_safe(str(error))}")
        else:
            unchained += not verdict.head
            how = "equal" if verdict.complete else "open"
            length = many(verdict.steps, "steps")
            length += f" in {many(verdict.segments, 'segments')}" if verdict.appends else ""
            print(f"{how}\t{length}\t{terminal_safe(str(journal))}")
    if unchained:
        print(f"note: {many(unchained, 'journals')} {UNCHAINED}")
    for contradiction in contradictions(journals):
        bad += 1
        print(f"DIFFERS  {terminal_safe(contradiction)}")
    print(f"unverified: {UNVERIFIED}", file=sys.stderr)
    return 1 if bad else 0


def _to_verify(paths: Sequence[Path]) -> list[Path]:
    """The journals in runs, sweeps and files; other paths, as from `RUN/*`, are reported and skipped."""
    from balrog_rag.episode import journal
    from balrog_rag.results.run_folder import is_journal, journals

    found: list[Path] = []
    others: list[Path] = []
    for path in paths:
        if not journal.exists(path):
            raise RunFolderError(f"{path}: no such file or folder")
        here = journals(path) if path.is_dir() else [path] if is_journal(path) else []
        found += here
        others += [] if here else [path]
    if not found:
        raise RunFolderError(f"{others[0]}: contains no journal; pass a run, a sweep or a *.journal.jsonl")
    for path in others:
        print(f"skipped\tneither a run nor a journal\t{terminal_safe(str(path))}")
    return found


UNVERIFIED = (
    "of run.json, only the package versions are compared with the journals; "
    "its times, commands, prompts and machine are not verified"
)
UNCHAINED = (
    "of version 1 without hash chain: screens, actions, prompts and scores are verified, "
    "costs, tokens, times, model names and search scores are not"
)


def _fork(options: argparse.Namespace) -> int:
    from balrog_rag.cli.fork import fork
    from balrog_rag.results.run_folder import one_journal

    return fork(one_journal(options.journal), options.at, options.out, options.overrides, options.trust)
