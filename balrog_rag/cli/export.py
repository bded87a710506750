"""`balrog-rag export`: events of one episode, or training data of runs."""

import argparse
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO

from balrog_rag.cli.command_line import file_to_write
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.util.files import replacing
from balrog_rag.util.wording import many


def add_arguments(export: argparse.ArgumentParser) -> None:
    """Add the flags of `export`."""
    export.add_argument("journal", type=Path, metavar="RUN_OR_JOURNAL")
    export.add_argument(
        "--format",
        choices=("jsonl", "atif"),
        help="one event per line as JSON, or an Agent Trajectory Interchange Format file (default: jsonl)",
    )
    export.add_argument(
        "--to",
        choices=("sft", "preference", "chat"),
        help="training data of all episodes: dialogues with weights, pairs of answers, or plain dialogues",
    )
    export.add_argument(
        "--outcome", action="append", default=[], help="only episodes that end so; repeatable"
    )
    export.add_argument("--min-progression", type=float, default=0.0, metavar="X", help="0 to 1")
    export.add_argument(
        "--until-progress", action="store_true", help="leave out answers after progression rose last"
    )
    export.add_argument("--duplicates", action="store_true", help="learn repeated answers more than once")
    export.add_argument("--out", type=Path, metavar="FILE", help="output file (default: standard output)")


def run_export(options: argparse.Namespace) -> int:
    """Write what is asked for."""
    if options.to is not None and options.format is not None:
        raise ConfigError("--format is for one episode's events and --to for training data; give one of them")
    with ExitStack() as stack:
        write = _training if options.to is not None else _events
        return write(options, stack)


def _out(options: argparse.Namespace, stack: ExitStack) -> BinaryIO:
    if options.out is None:
        return sys.stdout.buffer
    file_to_write("--out", options.out)
    return stack.enter_context(replacing(options.out))


def _events(options: argparse.Namespace, stack: ExitStack) -> int:
    from balrog_rag.export.event_lines import export
    from balrog_rag.results.run_folder import one_journal

    if options.overrides:
        raise ConfigError(f"{options.overrides[0]}: overrides need --to")
    filtered = options.outcome or options.min_progression or options.until_progress or options.duplicates
    if filtered:
        raise ConfigError(
            "--outcome, --min-progression, --until-progress and --duplicates need --to; add e.g. --to sft"
        )
    export(one_journal(options.journal), options.format or "jsonl", _out(options, stack))
    return 0


def _training(options: argparse.Namespace, stack: ExitStack) -> int:
    from balrog_rag.contracts.outcome import Outcome
    from balrog_rag.export.training_data import Filters, check_outcomes, export_training

    if not 0 <= options.min_progression <= 1:
        raise ConfigError(f"--min-progression {options.min_progression}: must be between 0 and 1")
    if options.to == "preference" and (options.until_progress or options.duplicates):
        raise ConfigError("--until-progress and --duplicates do not apply to --to preference; leave them out")
    outcomes = check_outcomes(options.outcome, [str(each) for each in Outcome])
    filters = Filters(outcomes, options.min_progression, options.until_progress, options.duplicates)
    made = export_training([options.journal], options.to, _out(options, stack), filters, options.overrides)
    print(
        f"{many(made.samples, 'samples')} with {many(made.answers, 'answers')} of "
        f"{many(made.episodes, 'episodes')}; left out: {many(made.filtered, 'episodes')} by the filters, "
        f"{made.unfinished} unfinished, {many(made.duplicates, 'repeated answers')}",
        file=sys.stderr,
    )
    return 0
