"""`balrog-rag envs`: tasks and options of the environments, and the levels and games that some need."""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from balrog_rag.cli.command_line import Parser, called, ended
from balrog_rag.contracts import registry
from balrog_rag.contracts.kinds import kind_of
from balrog_rag.envs.minihack import boxoban
from balrog_rag.util.terminal_safe import terminal_safe
from balrog_rag.util.wording import many

if TYPE_CHECKING:
    from balrog_rag.envs.conform import ComparisonCount


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return the exit code."""
    options = _parser().parse_args(arguments)
    return ended(lambda: _carry_out(options))


def _carry_out(options: argparse.Namespace) -> int:
    if options.command == "fetch":
        return _fetch(options.source)
    if options.command == "build":
        return _build(options.source, options.workers)
    if options.command == "conform":
        return _conform(options.files, options.pictures)
    return _options(options.env) if options.command == "options" else _list(options.env)


def _fetch(source: str) -> int:
    print(f"Boxoban levels are in {boxoban.fetch(source)}")
    return 0


def _build(source: Path | None, workers: int) -> int:
    from balrog_rag.envs.textworld.building import build, missing
    from balrog_rag.envs.textworld.games import games_folder
    from balrog_rag.knowledge.progress import shown_progress

    wanted = missing()
    print(f"{many(len(wanted), 'games')} of TextWorld to build into {games_folder()}")
    with shown_progress("building games", len(wanted)) as done:
        build(wanted, workers, source, done=done)
    print("all 75 games are built")
    return 0


def _list(env: str) -> int:
    for task in kind_of(env).tasks():
        print(f"{env}/{task}")
    return 0


def _options(env: str) -> int:
    fields = msgspec.inspect.type_info(kind_of(env).options).fields  # type: ignore[attr-defined]
    given = {f"env.{field.name}={_default(field)}": _meaning(field.type) for field in fields}
    width = max(map(len, given), default=0)
    for words, meaning in given.items():
        print(f"{words:<{width}}  {meaning}".rstrip())
    return 0


def _default(field: msgspec.inspect.Field) -> str:
    return {None: "null", True: "true", False: "false"}.get(field.default, str(field.default))


def _meaning(kind: msgspec.inspect.Type) -> str:
    extra = getattr(kind, "extra_json_schema", None) or {}
    return str(extra.get("description", ""))


def _conform(files: Sequence[Path], pictures: bool) -> int:
    from balrog_rag.envs.conform import compare

    differing = 0
    for file in files:
        results = compare(file, pictures)
        _print_comparison(results, pictures)
        differing += sum(result.differing for result in results.values())
    return 1 if differing else 0


def _print_comparison(results: Mapping[str, "ComparisonCount"], pictures: bool) -> None:
    from balrog_rag.envs.conform import OWN_PICTURES

    for env, result in results.items():
        print(
            f"{env}: {many(result.episodes, 'episodes')}, {many(result.states, 'states')} compared, "
            f"{result.differing:,} differing"
            + (
                " (images are rendered by this package; they differ if the recorded ones do)"
                if pictures and env in OWN_PICTURES
                else ""
            )
        )
        first = result.first
        if first is not None:
            print(f"  first: {terminal_safe(first.task)}, seed {first.seed}, step {first.step}, {first.what}")
            print(f"    recorded: {terminal_safe(repr(first.recorded))}")
            print(f"    here:     {terminal_safe(repr(first.ours))}")


def _parser() -> argparse.ArgumentParser:
    parser = Parser(prog=called("envs"), description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    fetch = commands.add_parser("fetch", help="download level files to the cache folder")
    fetch.add_argument("what", choices=["boxoban"], help="what to fetch")
    fetch.add_argument(
        "--from",
        dest="source",
        default=boxoban.URL,
        metavar="URL|PATH",
        help=f"source: a URL, a zip file or a folder (default: {boxoban.URL})",
    )
    build = commands.add_parser("build", help="build BALROG's TextWorld games")
    build.add_argument("what", choices=["textworld"], help="what to build")
    build.add_argument(
        "--from",
        dest="source",
        type=Path,
        metavar="FOLDER",
        help="BALROG's folder tw_games: building from its descriptions takes one second per game "
        "(default: build from seeds, which can take minutes per game)",
    )
    build.add_argument(
        "--workers", type=int, default=0, metavar="N", help="parallel builds (default: one per core)"
    )
    conform = commands.add_parser(
        "conform", help="replay recordings of BALROG's own games; exit 1 if a state differs"
    )
    conform.add_argument("files", nargs="+", type=Path, metavar="FILE.jsonl.gz", help="recorded episodes")
    conform.add_argument("--no-pictures", dest="pictures", action="store_false", help="do not compare images")
    tasks = commands.add_parser("tasks", help="list the tasks of an environment")
    tasks.add_argument("env", choices=registry.environments.names(), help="the environment")
    settings = commands.add_parser("options", help="list the options of an environment's games")
    settings.add_argument("env", choices=registry.environments.names(), help="the environment")
    return parser
