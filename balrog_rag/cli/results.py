"""`balrog-rag results COMMAND`: recreate a run's tables from its journals, or merge parts of a run.

balrog-rag results rebuild RUN...
balrog-rag results merge RUN.shards --out RUN
balrog-rag results unpack RUN [EPISODE...]
balrog-rag results upload RUN --store URL
"""

import argparse
from pathlib import Path

from balrog_rag.cli.command_line import Parser, called, ended
from balrog_rag.util.terminal_safe import one_line
from balrog_rag.util.wording import many

MOST_IN_PACK = 100_000
SHOWN = 10
"""Missing episodes that are listed."""


def main(arguments: list[str] | None = None) -> int:
    """Run the command; an error is one line on stderr."""
    parser = Parser(
        prog=called("results"), description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    rebuild = commands.add_parser("rebuild", help="reread every journal and rewrite summaries and tables")
    rebuild.add_argument("runs", nargs="+", type=Path, metavar="RUN", help="a run folder")
    rebuild.set_defaults(command=_rebuild)
    merge = commands.add_parser(
        "merge", help="put shards, or parts of one run from several machines, together"
    )
    merge.add_argument("parts", nargs="+", type=Path, metavar="PART", help="RUN.shards, or a run folder")
    merge.add_argument("--out", type=Path, required=True, metavar="RUN", help="the run folder to create")
    merge.add_argument(
        "--pack", type=_pack, metavar="N",
        help="journals in one file; 0: a file for each (default: as the run has them)",
    )  # fmt: skip
    merge.set_defaults(command=_merge)
    upload = commands.add_parser("upload", help="copy journals to an object store that lacks them")
    upload.add_argument("run", type=Path, metavar="RUN", help="a run folder")
    upload.add_argument("--store", required=True, metavar="URL", help="the run's runner.store")
    upload.set_defaults(command=_upload)
    unpack = commands.add_parser("unpack", help="write packed journals as files, which take precedence")
    unpack.add_argument("run", type=Path, metavar="RUN", help="a run folder")
    unpack.add_argument("episodes", nargs="*", metavar="EPISODE", help="env/task/NN (default: all)")
    unpack.set_defaults(command=_unpack)
    chosen = parser.parse_args(arguments)
    return ended(lambda: chosen.command(chosen))


def _merge(chosen: argparse.Namespace) -> int:
    from balrog_rag.results.run_folder import resume_with
    from balrog_rag.run.merging import merge

    made = merge(chosen.parts, chosen.out, chosen.pack)
    what = "merged from" if made.is_new else "is already the merge of"
    print(one_line(f"{made.folder}: {what} {many(made.parts, 'parts')}"))
    if made.missing:
        names = ", ".join(made.missing[:SHOWN]) + (", ..." if len(made.missing) > SHOWN else "")
        print(one_line(f"{many(len(made.missing), 'episodes')} missing or unfinished: {names}"))
        print(one_line(f"play them with: {resume_with(made.folder)}"))
    return 0


def _pack(text: str) -> int:
    if not text.isdecimal() or int(text) == 1 or int(text) > MOST_IN_PACK:
        raise argparse.ArgumentTypeError(f"{text!r}: expected 0, or a number from 2 to {MOST_IN_PACK:,}")
    return int(text)


def _upload(chosen: argparse.Namespace) -> int:
    from balrog_rag.results.run_folder import frozen_config
    from balrog_rag.run.object_store import ObjectStore, check_url, upload

    frozen_config(chosen.run)
    check_url(chosen.store, "--store")
    sent, of = upload(ObjectStore(chosen.store, chosen.run.resolve()), chosen.run)
    print(one_line(f"{chosen.store}: {sent:,} of {many(of, 'journals')} uploaded, the others were there"))
    return 0


def _unpack(chosen: argparse.Namespace) -> int:
    from balrog_rag.results.run_folder import frozen_config, locked
    from balrog_rag.run.journal_packer import unpack

    frozen_config(chosen.run)
    with locked(chosen.run):
        print(one_line(f"{chosen.run}: {many(unpack(chosen.run, chosen.episodes), 'journals')} written"))
    return 0


def _rebuild(chosen: argparse.Namespace) -> int:
    from balrog_rag.results.summary import write_all
    from balrog_rag.results.terminal import console
    from balrog_rag.results.terminal_tables import print_summary

    for run in chosen.runs:
        print_summary(write_all(run, use_index=False), console())
    return 0
