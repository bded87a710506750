"""`balrog-rag results rebuild RUN...`: recreate the derived files of a run folder from its journals."""

import argparse
from pathlib import Path

from balrog_rag.cli.command_line import Parser, called, ended


def main(arguments: list[str] | None = None) -> int:
    """Run the command; an error is one line on stderr."""
    parser = Parser(prog=called("results"), description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    rebuild = commands.add_parser("rebuild", help="reread every journal and rewrite summaries and tables")
    rebuild.add_argument("runs", nargs="+", type=Path, metavar="RUN", help="a run folder")
    rebuild.set_defaults(command=_rebuild)
    chosen = parser.parse_args(arguments)
    return ended(lambda: chosen.command(chosen))


def _rebuild(chosen: argparse.Namespace) -> int:
    from balrog_rag.results.summary import write_all
    from balrog_rag.results.terminal import console
    from balrog_rag.results.terminal_tables import print_summary

    for run in chosen.runs:
        print_summary(write_all(run, use_index=False), console())
    return 0
