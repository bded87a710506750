"""`balrog-rag export`: runs and episodes in formats of other tools, or as training data."""

import argparse
import re
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import BinaryIO

from balrog_rag.cli.command_line import file_to_write, made_folder, note
from balrog_rag.contracts.errors import ConfigError, RunFolderError
from balrog_rag.util.files import replacing
from balrog_rag.util.wording import many

TRAINING = ("sft", "preference", "chat")
"""Formats of training data."""


def add_arguments(export: argparse.ArgumentParser) -> None:
    """Add the flags of `export`."""
    export.add_argument("journal", type=Path, metavar="RUN_OR_JOURNAL")
    export.add_argument(
        "--to",
        "--format",
        choices=("jsonl", "atif", "inspect", "hf-traces", "hf-results", "eee", "otlp", "parquet", *TRAINING),
        default="jsonl",
        help="jsonl: one event per line; atif: trajectories; inspect: .eval logs; hf-traces: session traces "
        "of the Hugging Face Hub; hf-results: .eval_results of a model there; eee: results for Every Eval "
        "Ever; otlp: OpenTelemetry spans; parquet: three tables; sft, preference, chat: training data "
        "(default: jsonl)",
    )
    export.add_argument(
        "--organization", default="unknown", help="who evaluated, for --to eee", metavar="NAME"
    )
    export.add_argument(
        "--relationship",
        choices=("first_party", "third_party", "collaborative", "other"),
        default="other",
        help="what the evaluator is to the model, for --to eee (default: other)",
    )
    export.add_argument(
        "--dataset", help="the benchmark's dataset repository, for --to hf-results", metavar="ORG/NAME"
    )
    export.add_argument("--prompts", action="store_true", help="put prompts and answers into --to otlp")
    export.add_argument(
        "--outcome", action="append", default=[], help="only episodes that end so; repeatable"
    )
    export.add_argument("--min-progression", type=float, default=0.0, metavar="X", help="0 to 1")
    export.add_argument(
        "--until-progress", action="store_true", help="leave out answers after progression rose last"
    )
    export.add_argument("--duplicates", action="store_true", help="learn repeated answers more than once")
    export.add_argument(
        "--out",
        type=Path,
        metavar="PLACE",
        help="a file for one journal or for training data, a folder for a run (default: standard output)",
    )


def run_export(options: argparse.Namespace) -> int:
    """Write what is asked for."""
    with ExitStack() as stack:
        return (_training if options.to in TRAINING else _episodes)(options, stack)


def _out(options: argparse.Namespace, stack: ExitStack) -> BinaryIO:
    if options.out is None:
        return sys.stdout.buffer
    file_to_write("--out", options.out)
    return stack.enter_context(replacing(options.out))


def _episodes(options: argparse.Namespace, stack: ExitStack) -> int:
    from balrog_rag.episode.journal import exists
    from balrog_rag.export.run_export import OF_EPISODES, Credits, write_episode, write_runs
    from balrog_rag.results.run_folder import one_journal

    _refuse_training_flags(options)
    place, kind, out = options.journal, options.to, options.out
    if not exists(place):
        raise RunFolderError(f"{place}: no such file or folder")
    if kind in OF_EPISODES and _to_one_file(place, out):
        write_episode(one_journal(place), kind, _out(options, stack), options.prompts)
        return 0
    if out is None:
        raise ConfigError(f"--to {kind}: writes several files; add --out FOLDER")
    credits = Credits(options.organization, options.relationship, _dataset(options))
    stack.enter_context(_place_of_runs(place, kind, out))
    for path in write_runs(place, kind, out, credits, options.prompts, note=note):
        print(path)
    return 0


def _refuse_training_flags(options: argparse.Namespace) -> None:
    if options.overrides:
        raise ConfigError(f"{options.overrides[0]}: overrides need training data; add e.g. --to sft")
    if options.outcome or options.min_progression or options.until_progress or options.duplicates:
        raise ConfigError(
            "--outcome, --min-progression, --until-progress and --duplicates need training data; "
            "add e.g. --to sft"
        )


def _to_one_file(place: Path, out: Path | None) -> bool:
    """Whether a format of episodes becomes one file (or standard output) instead of one per journal."""
    from balrog_rag.results.run_folder import journals

    if not place.is_dir():
        return True
    found = len(journals(place))
    if out is None:
        return found <= 1
    return found == 1 and not out.is_dir() and bool(out.suffix)


def _dataset(options: argparse.Namespace) -> str:
    """The dataset repository, which one format must have."""
    given: str = options.dataset or ""
    if options.to == "hf-results" and not re.fullmatch(r"[\w.-]+/[\w.-]+", given):
        said = f"--dataset {given}" if given else "--dataset: missing"
        raise ConfigError(f"{said}; --to hf-results needs a dataset repository ORG/NAME")
    return given


@contextmanager
def _place_of_runs(place: Path, kind: str, out: Path) -> Iterator[None]:
    """Make the folder of several files, and remove it if none came; one journal's log may be named itself."""
    from balrog_rag.export.run_export import EVAL

    if kind == "inspect" and not place.is_dir() and out.suffix == EVAL and not out.is_dir():
        file_to_write("--out", out)
        yield
        return
    if out.exists() and not out.is_dir():
        raise ConfigError(f"--out {out}: is a file; --to {kind} needs a folder")
    new = not out.exists()
    made_folder("--out", out)
    try:
        yield
    finally:
        if new and not any(out.iterdir()):
            out.rmdir()


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
    if options.to == "preference" and not made.samples:
        note("pairs come from games that were played several times with different progression")
    return 0
