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
    first, *rest = arguments or ["--help"]
    command = {"rollout": _rollout, "serve": _serve}.get(first)
    if command is None:
        raise ConfigError(f"{first}: expected rollout or serve")
    return ended(lambda: command(rest))


def _rollout(words: Sequence[str]) -> int:
    parser = Parser(prog=called("rollout"), description="Play one episode and print its result.")
    parser.add_argument("task", metavar="TASK", help="env/task, e.g. nle/NetHackChallenge-v0")
    parser.add_argument("overrides", nargs="*", metavar="KEY=VALUE", help="overrides, as for `run`")
    parser.add_argument("--seed", type=int, help="the game's seed (default: 0)")
    parser.add_argument("--split", help="train, validation, test or eval; needs --index")
    parser.add_argument("--index", type=int, help="which seed of the split")
    parser.add_argument("--agent", default="naive_append", help="agent or preset (default: naive_append)")
    parser.add_argument("--max-steps", type=int, help="most agent steps")
    parser.add_argument("--deadline", type=float, help="most seconds")
    parser.add_argument(
        "--base-url", help="model server with OpenAI's protocol, e.g. http://127.0.0.1:8000/v1"
    )
    parser.add_argument("--model", default="", help="the model's name there, or a model option")
    parser.add_argument("--api-key-env", metavar="NAME", help="environment variable with the key")
    parser.add_argument("--sampling", default="{}", metavar="JSON", help="further fields of every request")
    parser.add_argument("--id", default="", help="name of its folder; one that has begun is continued")
    parser.add_argument("--folder", type=Path, help="parent of that folder (default: in the user cache)")
    parser.add_argument("--json", action="store_true", help="print the result as one line of JSON")
    # Interspersed: overrides and flags may come in any order.
    options = parser.parse_intermixed_args(words)
    if options.folder is not None:
        folder_to_write("--folder", options.folder)
    from balrog_rag.rollouts.rollout import rollout

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


def _serve(words: Sequence[str]) -> int:
    parser = Parser(
        prog=called("serve"),
        description=f"Serve rollouts over HTTP. Other than on loopback, requests need the token in ${TOKEN}.",
    )
    parser.add_argument("--host", default="127.0.0.1", help="address (default: 127.0.0.1)")
    parser.add_argument("--port", type=int, default=8766, help="port; 0: a free one (default: 8766)")
    parser.add_argument("--folder", type=Path, help="folder of journals (default: in the user cache)")
    parser.add_argument("--workers", type=int, help="game processes (default: one per core)")
    parser.add_argument("--at-once", type=int, default=256, help="rollouts played at once (default: 256)")
    options = parser.parse_args(words)
    within("--port", options.port, 0, MOST_PORT)
    within("--workers", options.workers, 0, 1024)
    within("--at-once", options.at_once, 1, 10_000)
    if options.folder is not None:
        folder_to_write("--folder", options.folder)
    from balrog_rag.rollouts.rollout import default_folder
    from balrog_rag.rollouts.service_http import serve

    folder = options.folder or default_folder()
    token = os.environ.get(TOKEN, "")
    return asyncio.run(serve(folder, options.host, options.port, token, options.workers, options.at_once))
