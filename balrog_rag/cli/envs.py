"""`python -m balrog_rag.envs`: what the environments offer, and the levels some of them need."""

import argparse
from collections.abc import Sequence

from balrog_rag.cli.command_line import ended
from balrog_rag.envs.minihack import boxoban


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit code."""
    options = _parser().parse_args(arguments)
    return ended(lambda: _fetch(options.source) if options.command == "fetch" else _list(options.env))


def _fetch(source: str) -> int:
    print(f"Boxoban levels are in {boxoban.fetch(source)}")
    return 0


def _list(env: str) -> int:
    from balrog_rag.envs.tasks import known_tasks

    for task in known_tasks(env):
        print(f"{env}/{task}")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m balrog_rag.envs", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    fetch = commands.add_parser("fetch", help="bring level files into the cache folder")
    fetch.add_argument("what", choices=["boxoban"], help="what to fetch")
    fetch.add_argument(
        "--from",
        dest="source",
        default=boxoban.URL,
        metavar="URL|PATH",
        help=f"where from: a URL, a zip file or a folder (default: {boxoban.URL})",
    )
    tasks = commands.add_parser("tasks", help="list the tasks of an environment")
    tasks.add_argument("env", choices=["nle", "minihack"], help="the environment")
    return parser
