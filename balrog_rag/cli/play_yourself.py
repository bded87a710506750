"""`balrog-rag play`: play a run's games yourself, in the terminal or in a browser on this machine."""

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from balrog_rag.cli.command_line import Parser, called, chosen_port, ended, flags_and_overrides
from balrog_rag.cli.play_session import PersonsRun, refuse_absent_person
from balrog_rag.cli.session import played
from balrog_rag.contracts.errors import ConfigError

if TYPE_CHECKING:
    from balrog_rag.config.schema import Config

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
    made.add_argument("--port", type=int, help="port for --browser (default: a free one)")
    made.add_argument("--no-open", action="store_true", help="with --browser: only print the address")
    return made


def play(options: argparse.Namespace, words: list[str]) -> int:
    """Plan the run or resume it, and play it."""
    port = chosen_port(options.port, "--browser", options.browser)
    if options.no_open and not options.browser:
        raise ConfigError("--no-open: needs --browser")
    from balrog_rag.results.stored_run import read_run
    from balrog_rag.run.attempt import attempt
    from balrog_rag.run.begin import new_run, resumed_run
    from balrog_rag.run.request import resumed_folder

    folder, others = resumed_folder(words)
    check = refuse_others if options.browser else refuse_absent
    if folder is None:
        run = new_run(["agent=human", *others], check)
    else:
        run = resumed_run(read_run(folder), others)
        check(run.config)
    with attempt(run):
        return played(PersonsRun(run, (port, not options.no_open) if options.browser else None))


def refuse_others(config: "Config") -> None:
    """Refuse a run that no person plays."""
    if config.agent.name != "human":
        raise ConfigError(
            f"agent={config.agent.name}: a person does not play it; use `balrog-rag run` or "
            "`balrog-rag resume`"
        )


def refuse_absent(config: "Config") -> None:
    """Refuse a run that no person plays, or where nobody can type."""
    refuse_others(config)
    refuse_absent_person(config)
