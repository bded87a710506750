"""`balrog-rag view`: episodes played back in a browser, beside what the model read and wrote."""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from balrog_rag.cli.command_line import MOST_PORT, Parser, called, ended, file_to_write, within
from balrog_rag.contracts.errors import ConfigError, ReplayError
from balrog_rag.util.terminal_safe import terminal_safe
from balrog_rag.util.wording import many

if TYPE_CHECKING:
    from balrog_rag.viewer.listing import ListedEpisode

SHOWN_FROM = 5
"""Number of episodes from which the progress of writing a page is shown."""
LONGEST_EXPRESSION = 2_000
"""Maximum characters of `--mark`, as in the page's search."""
EPILOG = """examples:
  balrog-rag view results/RUN                       in the browser; follows a running run
  balrog-rag view results/RUN --out run.html        one file that opens without a server
  balrog-rag view JOURNAL --out death.gif --steps 400:450
  balrog-rag view JOURNAL JOURNAL --out pair.html   two episodes, to compare side by side
  balrog-rag view results/RUN/nld                   recordings (*.ttyrec*.bz2), one or a folder of them"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; an error is one line on stderr."""
    options = parser().parse_args(arguments)
    return ended(lambda: view(options))


def parser() -> argparse.ArgumentParser:
    """Build the argument parser."""
    made = Parser(
        prog=called("view"),
        description=__doc__,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument(
        "paths",
        type=Path,
        nargs="+",
        metavar="PATH",
        help="a run folder, a sweep, a submission, a journal, a recording",
    )
    made.add_argument(
        "--out",
        type=Path,
        metavar="FILE",
        help="write one HTML file instead of serving it; NAME.cast or NAME.gif: the screens of one episode",
    )
    made.add_argument("--steps", metavar="A:B", help="with .cast or .gif: range of positions")
    made.add_argument(
        "--tiles",
        action="store_true",
        help="draw NetHack's and MiniHack's maps in tiles as well (larger files)",
    )
    made.add_argument(
        "--mark",
        default="",
        metavar="EXPR",
        help="mark steps by an expression, such as 'hp<0.3 & action:pray'",
    )
    made.add_argument(
        "--port", type=int, default=0, help="port on 127.0.0.1 (default: a free one)", metavar="PORT"
    )
    made.add_argument("--no-browser", action="store_true", help="only print the address")
    made.add_argument(
        "--no-token",
        action="store_true",
        help="omit the token from the address; every account on this machine can then read the page and "
        "write notes",
    )
    return made


def view(options: argparse.Namespace) -> int:
    """Write the page, or serve it."""
    if options.out is None:
        from balrog_rag.viewer.server import serve

        within("--port", options.port, 0, MOST_PORT)
        return serve(
            options.paths,
            options.port,
            not options.no_browser,
            options.no_token,
            expression(options.mark),
            options.tiles,
        )
    from balrog_rag.viewer import bundle
    from balrog_rag.viewer.listing import listed
    from balrog_rag.viewer.screen_recording import ENDINGS

    file_to_write("--out", options.out, (".html", *ENDINGS))
    episodes = listed(options.paths)
    if options.out.suffix in ENDINGS:
        if options.mark or options.tiles:
            raise ConfigError(f"--{'mark' if options.mark else 'tiles'}: only valid for a page")
        return record(options, episodes)
    if options.steps is not None:
        raise ConfigError(f"--steps: only valid with --out NAME{' or NAME'.join(ENDINGS)}")
    marked = expression(options.mark)
    failures = bundle.write(
        episodes, options.out, progress=counter(len(episodes)), mark=marked, tiles=options.tiles
    )
    print(terminal_safe(bundle.summary_line(options.out, episodes, failures)))
    return 0


def expression(text: str) -> str:
    """Check the length of an expression; the page says what is wrong with its content."""
    if len(text) > LONGEST_EXPRESSION:
        raise ConfigError(f"--mark: {len(text):,} characters; use at most {LONGEST_EXPRESSION:,}")
    return text


def counter(count: int) -> Callable[[int], None]:
    """Return a function that shows on a terminal how many episodes are written."""
    if count < SHOWN_FROM or not sys.stderr.isatty():
        return lambda done: None

    def shown(done: int) -> None:
        print(
            f"\r{done:,} of {count:,} episodes",
            end="\n" if done == count else "",
            file=sys.stderr,
            flush=True,
        )

    return shown


def record(options: argparse.Namespace, episodes: "Sequence[ListedEpisode]") -> int:
    """Write the screens of a single episode."""
    from balrog_rag.viewer import screen_recording

    if len(episodes) != 1:
        raise ConfigError(f"--out {options.out}: takes a single episode; select one of these {len(episodes)}")
    source = episodes[0].source()
    source.run()
    if source.failure:
        raise ReplayError(source.failure)
    count = screen_recording.write(source.collector, options.out, episodes[0].key, options.steps)
    print(terminal_safe(f"{options.out}: {many(count, 'moments')}"))
    return 0
