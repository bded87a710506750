"""`balrog-rag view`: episodes played in a browser, beside what the model read and wrote."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from balrog_rag.cli.command_line import Parser, called, ended, file_to_write
from balrog_rag.util.terminal_safe import terminal_safe

EPILOG = """examples:
  balrog-rag view results/RUN --out run.html        one file that opens without a server
  balrog-rag view JOURNAL JOURNAL --out pair.html   two episodes, to be set side by side"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; a mistake is one line on stderr."""
    options = parser().parse_args(arguments)
    return ended(lambda: view(options))


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = Parser(
        prog=called("view"),
        description=__doc__,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument(
        "paths", type=Path, nargs="+", metavar="PATH", help="a run folder, a sweep, or a journal"
    )
    made.add_argument("--out", type=Path, metavar="FILE", required=True, help="write one HTML file")
    return made


def view(options: argparse.Namespace) -> int:
    """Write the page."""
    from balrog_rag.viewer import bundle
    from balrog_rag.viewer.listing import listed

    file_to_write("--out", options.out, (".html", ".htm"))
    episodes = listed(options.paths)
    failures = bundle.write(episodes, options.out)
    print(terminal_safe(bundle.told(options.out, episodes, failures)))
    return 0
