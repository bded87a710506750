"""`balrog-rag mcp`: a run's games for a client with its own loop, over the Model Context Protocol."""

import argparse
import asyncio
import os
import sys
from collections.abc import Coroutine, Sequence
from contextlib import redirect_stdout
from typing import TYPE_CHECKING, Any

from balrog_rag.cli.command_line import (
    Parser,
    as_far_as_read,
    called,
    chosen_port,
    ended,
    flags_and_overrides,
)
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.run.interrupts import ignoring_hangup
from balrog_rag.util import extras

if TYPE_CHECKING:
    from balrog_rag.run.plan import PlannedRun
    from balrog_rag.run.run import RunOutcome

TOKEN = "BALROG_RAG_TOKEN"
EPILOG = """The overrides plan the run, as for `balrog-rag run`; run.name is required, so that the same
command continues the run. agent.name=NAME is the name under which tables list the client.

  balrog-rag mcp env=nethack env.actions=skills env.episodes=5 run.name=r agent.name=my-agent
  balrog-rag mcp --http --port 8770 env=nethack run.name=r     several clients; token: BALROG_RAG_TOKEN"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; an error is one line on stderr."""
    options, words = flags_and_overrides(parser(), arguments)
    return ended(lambda: serve(options, words))


def parser() -> argparse.ArgumentParser:
    """Build the argument parser."""
    made = Parser(
        prog=called("mcp"),
        description=__doc__,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        usage="%(prog)s [--http] [--port PORT] [GROUP=OPTION ...] [KEY=VALUE ...]",
    )
    made.add_argument("--http", action="store_true", help="streamable HTTP on 127.0.0.1 instead of stdio")
    made.add_argument("--port", type=int, help="port for --http (default: a free one)")
    return made


def serve(options: argparse.Namespace, words: list[str]) -> int:
    """Plan the run or continue it, and serve it until the client is gone."""
    port = chosen_port(options.port, "--http", options.http)
    extras.require("mcp", "mcp", "balrog-rag mcp")
    from balrog_rag.run.attempt import attempt

    with redirect_stdout(sys.stderr):  # stdout is the protocol's
        run = planned_run(client_words(words))
    with attempt(run):
        return _served(run, port if options.http else None)


def client_words(words: Sequence[str]) -> list[str]:
    """Return the overrides with the agent that plays for a client."""
    found = ["agent=own_loop"]
    for word in words:
        key, _, value = word.partition("=")
        if key == "agent":
            raise ConfigError(f"{word}: the client is the agent; leave it out, or name it by agent.name=NAME")
        if key == "model":
            raise ConfigError(f"{word}: the client has its own model; leave it out")
        found.append(f"agent.options.client={value}" if key == "agent.name" else word)
    return found


def planned_run(words: list[str]) -> "PlannedRun":
    """Return the run of these overrides: a new one, or the one of this name that they began."""
    from balrog_rag.results.stored_run import read_run
    from balrog_rag.run.begin import checked_run, composed, resumed_run
    from balrog_rag.run.new_folder import folder_for, make_folder

    config = composed(words)
    if not config.run.name:
        raise ConfigError("run.name: not set; name the run, so that the same command continues it")
    folder = folder_for(config.run, "")
    if (folder / "config.json").exists():
        return resumed_run(read_run(folder), words)
    return make_folder(checked_run(config))


def _served(run: "PlannedRun", port: int | None) -> int:
    """Serve a run over HTTP on a port, or without one over the standard streams."""
    from balrog_rag.cli.one_run import print_and_write
    from balrog_rag.clients.client_run import ClientRun
    from balrog_rag.clients.mcp_server import over_http, over_stdio

    clients = ClientRun(run)
    service: Coroutine[Any, Any, RunOutcome]
    if port is not None:
        service = over_http(clients, port, os.environ.get(TOKEN, ""))
    else:
        service = over_stdio(clients)
    with ignoring_hangup():
        outcome = asyncio.run(service)
        with redirect_stdout(sys.stderr):
            print_and_write(run, outcome)
            as_far_as_read(sys.stderr, lambda: None)
    return 1 if outcome.tally.failed or outcome.tally.fatal else 0
