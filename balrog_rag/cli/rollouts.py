"""`balrog-rag rollout` and `balrog-rag serve`: one episode for a trainer, from the shell or over HTTP."""

import argparse
import asyncio
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from balrog_rag.cli.command_line import MOST_PORT, Parser, called, ended, folder_to_write, within
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.util.terminal_safe import terminal_safe

TOKEN = "BALROG_RAG_TOKEN"
"""The variable with the token of the service."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `rollout` or `serve`; return the exit code."""
    options, words = parser().parse_known_args(arguments)
    for word in words:
        if "=" not in word or word.startswith("-") or options.run is not _rollout:
            parser().error(f"unrecognized argument: {word}")
    options.overrides = words
    return ended(lambda: int(options.run(options)))


def parser() -> argparse.ArgumentParser:
    """Build the argument parser."""
    top = Parser(prog=called("").strip(), description=__doc__)
    commands = top.add_subparsers(required=True, metavar="COMMAND")
    one = commands.add_parser(
        "rollout",
        help="play one episode and print its result",
        epilog="followed by KEY=VALUE overrides, as for `run`, e.g. agent.lenient=true model.context=8192",
    )
    one.add_argument("task", metavar="TASK", help="env/task, e.g. nle/NetHackChallenge-v0")
    one.add_argument("--seed", type=int, help="the game's seed (default: 0)")
    one.add_argument("--split", help="train, validation, test or eval; needs --index")
    one.add_argument("--index", type=int, help="which seed of the split")
    one.add_argument("--agent", default="naive_append", help="agent or preset (default: naive_append)")
    one.add_argument("--max-steps", type=int, help="most agent steps")
    one.add_argument("--deadline", type=float, help="most seconds")
    one.add_argument("--base-url", help="model server with OpenAI's protocol: http://127.0.0.1:8000/v1")
    one.add_argument("--model", default="", help="the model's name there, or a model option")
    one.add_argument("--api-key-env", metavar="NAME", help="environment variable with the key")
    one.add_argument("--sampling", default="{}", metavar="JSON", help="further fields of every request")
    one.add_argument("--id", default="", help="name of its folder; one that has begun is continued")
    one.add_argument("--folder", type=Path, help="parent of that folder (default: in the user cache)")
    one.add_argument("--json", action="store_true", help="print the result as one line of JSON")
    one.set_defaults(run=_rollout)
    served = commands.add_parser(
        "serve",
        help="serve rollouts over HTTP",
        epilog=f"Addresses other than loopback need a token in the environment variable {TOKEN}.",
    )
    served.add_argument("--host", default="127.0.0.1", help="address (default: 127.0.0.1)")
    served.add_argument("--port", type=int, default=8766, help="port; 0: a free one (default: 8766)")
    served.add_argument("--folder", type=Path, help="folder of journals (default: in the user cache)")
    served.add_argument("--workers", type=int, help="game processes (default: one per core)")
    served.add_argument("--at-once", type=int, default=256, help="rollouts played at once (default: 256)")
    served.add_argument(
        "--key-env",
        action="append",
        default=[],
        metavar="NAME",
        help="environment variable that clients may use as env:NAME (repeatable)",
    )
    served.set_defaults(run=_serve)
    return top


def _rollout(options: argparse.Namespace) -> int:
    if options.folder is not None:
        folder_to_write("--folder", options.folder)
    from balrog_rag.rollouts.rollout import rollout
    from balrog_rag.rollouts.rollout_spec import check_task

    check_task(options.task)
    result = asyncio.run(
        rollout(
            options.task,
            model=_model(options),
            seed=options.seed,
            split=options.split,
            index=options.index,
            agent=options.agent,
            overrides=options.overrides,
            max_steps=options.max_steps,
            deadline=options.deadline,
            id=options.id,
            folder=options.folder,
        )
    )
    if options.json:
        print(result.json().decode())
    elif result.error is not None:
        print(f"error: {terminal_safe(result.error)}")
    else:
        print(
            f"{result.task} seed {result.seed}: progression {100 * (result.progression or 0):.2f} %, "
            f"{terminal_safe(result.outcome)} after {result.steps} steps in {result.segments} segments\n"
            f"journal: {terminal_safe(result.journal)}"
        )
    return 1 if result.failed else 0


def _model(options: argparse.Namespace) -> dict[str, Any] | str:
    if options.base_url is None:
        if not options.model:
            raise ConfigError("--base-url: missing; name the server, or an option as --model scripted")
        return str(options.model)
    try:
        sampling = json.loads(options.sampling)
    except ValueError as error:
        raise ConfigError(f"--sampling: not JSON ({error})") from error
    key = f"env:{options.api_key_env}" if options.api_key_env else ""
    return {"base_url": options.base_url, "name": options.model, "api_key": key, "sampling": sampling}


def _serve(options: argparse.Namespace) -> int:
    within("--port", options.port, 0, MOST_PORT)
    within("--workers", options.workers, 0, 1024)
    within("--at-once", options.at_once, 1, 10_000)
    if options.folder is not None:
        folder_to_write("--folder", options.folder)
    from balrog_rag.rollouts.rollout import default_folder
    from balrog_rag.rollouts.service_http import serve

    folder = options.folder or default_folder()
    token = os.environ.get(TOKEN, "")
    limits = (options.workers, options.at_once, options.key_env)
    return asyncio.run(serve(folder, options.host, options.port, token, *limits))
