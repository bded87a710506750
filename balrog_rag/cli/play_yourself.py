"""`balrog-rag play`: play a run's games yourself, in the terminal or in a browser on this machine."""

import argparse
from collections.abc import Sequence

from balrog_rag.cli.command_line import MOST_PORT, Parser, called, ended, flags_and_overrides, within
from balrog_rag.cli.play_session import PersonsRun
from balrog_rag.cli.session import played
from balrog_rag.contracts.errors import ConfigError

EPILOG = """The overrides plan the run, as for `balrog-rag run`; resume=RUN comes back to one.

  balrog-rag play env=nethack env.episodes=3 run.name=me
  balrog-rag play --browser env=nethack agent.options.sees=screen run.name=me"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; an error is one line on stderr."""
    options, words = flags_and_overrides(parser(), arguments)
    return ended(lambda: play(options, words))


def parser() -> argparse.ArgumentParser:
    """Build the argument parser."""
    made = Parser(
        prog=called("play"),
        description=__doc__,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        usage="%(prog)s [--browser] [--port PORT] [GROUP=OPTION ...] [KEY=VALUE ...]",
    )
    made.add_argument("--browser", action="store_true", help="serve a page on 127.0.0.1 and open it")
    made.add_argument("--port", type=int, default=0, help="port for --browser (default: a free one)")
    made.add_argument("--no-open", action="store_true", help="with --browser: only print the address")
    return made


def play(options: argparse.Namespace, words: list[str]) -> int:
    """Plan the run or resume it, and play it."""
    within("--port", options.port, 0, MOST_PORT)
    from balrog_rag.results.stored_run import read_run
    from balrog_rag.run.attempt import attempt
    from balrog_rag.run.begin import new_run, resumed_run
    from balrog_rag.run.request import resumed_folder

    folder, others = resumed_folder(words)
    run = new_run(["agent=human", *others]) if folder is None else resumed_run(read_run(folder), others)
    if run.config.agent.name != "human":
        raise ConfigError(f"{run.folder}: agent={run.config.agent.name} plays it; use balrog-rag resume")
    with attempt(run):
        return played(PersonsRun(run, (options.port, not options.no_open) if options.browser else None))
