"""`balrog-rag models`: the embedded model, the test server, and fixed questions to a model."""

import argparse
import asyncio
import socket
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from balrog_rag.cli.command_line import MOST_PORT, Parser, called, ended, within
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.models.weights import EMBEDDED, weights
from balrog_rag.util.shell_commands import command

if TYPE_CHECKING:
    from balrog_rag.models.serving.testserver import TestServer


def main(arguments: list[str] | None = None) -> int:
    """Run one command; an error is one line on stderr."""
    chosen = parser().parse_args(arguments)
    return ended(lambda: chosen.run(chosen))


def parser() -> argparse.ArgumentParser:
    """Build the argument parser."""
    top = Parser(prog=called("models"), description=__doc__)
    commands = top.add_subparsers(required=True, metavar="command")
    _serve_options(commands.add_parser("serve", help="serve a GGUF model on loopback like OpenAI"))
    fetch = commands.add_parser("fetch", help="download the embedded model's weights to the cache")
    fetch.set_defaults(run=_fetch)
    _testserver_options(commands.add_parser("testserver", help="an OpenAI-compatible server for tests"))
    _canary_options(commands.add_parser("canary", help="ask a model 20 fixed questions at temperature 0"))
    return top


def _canary_options(command: argparse.ArgumentParser) -> None:
    command.set_defaults(run=_canary)
    command.add_argument(
        "model", metavar="MODEL", help="an option of model=, or a model.name for model=openai"
    )
    command.add_argument(
        "overrides", nargs="*", metavar="model.KEY=VALUE", help="further settings, such as model.base_url=..."
    )
    command.add_argument(
        "--run",
        type=Path,
        dest="folder",
        metavar="RUN",
        help="store the answers' digests beside this run, in canary.json",
    )


def _canary(chosen: argparse.Namespace) -> int:
    from balrog_rag.cli.ask_canary import canary

    return canary(chosen.model, chosen.overrides, chosen.folder)


def _serve_options(command: argparse.ArgumentParser) -> None:
    command.set_defaults(run=_serve)
    command.add_argument("--model", default=EMBEDDED, help=f"{EMBEDDED} (default) or the path of a GGUF file")
    command.add_argument(
        "--port", type=int, default=8080, help="port on 127.0.0.1 (default 8080; 0: a free one)"
    )
    command.add_argument("--slots", type=int, default=2, help="parallel calls (default 2)")
    command.add_argument("--context", type=int, default=8192, help="maximum tokens per call (default 8192)")
    command.add_argument("--threads", type=int, default=0, help="threads (default 0: one per core)")


def _fetch(chosen: argparse.Namespace) -> int:
    print(weights(EMBEDDED))
    return 0


def _serve(chosen: argparse.Namespace) -> int:
    from balrog_rag.models.llama import start

    within("--slots", chosen.slots, 1)
    within("--context", chosen.context, 64)
    within("--threads", chosen.threads, 0)
    _refuse_taken(chosen.port)
    path = weights(chosen.model)
    server = start(
        path, slots=chosen.slots, slot_context=chosen.context, threads=chosen.threads, port=chosen.port
    )
    print(f"{server.listening_address}/v1", flush=True)
    print(
        "play with it:",
        command(
            "run",
            "model=vllm",
            f"model.name=hosted_vllm/{path.stem}",
            f"model.base_url={server.listening_address}/v1",
        ),
        flush=True,
    )
    threading.Event().wait()
    return 0


def _refuse_taken(port: int) -> None:
    """Report a port that is in use: llama.cpp would abort the process."""
    within("--port", port, 0, MOST_PORT)
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            raise ConfigError(
                f"--port {port}: {error.strerror}; choose another, or 0 for a free one"
            ) from error


def _testserver_options(command: argparse.ArgumentParser) -> None:
    command.set_defaults(run=_testserver)
    command.add_argument("--port", type=int, default=0, help="port on 127.0.0.1 (0: a free one)")
    command.add_argument("--latency", type=float, default=0.0, help="seconds of delay per answer")
    command.add_argument("--tokens", type=int, nargs=3, metavar=("IN", "OUT", "CACHED"), help="usage sent")
    command.add_argument("--per-second", type=int, help="requests per second; 429 above")
    command.add_argument("--fault", action="append", default=[], help="fault to inject (repeatable)")
    command.add_argument("--fault-rate", type=float, default=1.0, help="share of prompts that fail")
    command.add_argument("--fault-times", type=int, default=1, help="failing attempts per prompt; -1: all")
    command.add_argument("--answer", help="fixed answer text")


def _testserver(chosen: argparse.Namespace) -> int:
    from balrog_rag.models.serving.testserver import TestServer

    within("--latency", chosen.latency, 0)
    within("--per-second", chosen.per_second, 1)
    within("--fault-rate", chosen.fault_rate, 0, 1)
    within("--fault-times", chosen.fault_times, -1)
    within("--tokens", min(chosen.tokens, default=0) if chosen.tokens else None, 0)
    _refuse_taken(chosen.port)
    server = TestServer(
        port=chosen.port,
        latency=chosen.latency,
        tokens=tuple(chosen.tokens) if chosen.tokens else None,
        per_second=chosen.per_second,
        faults=chosen.fault,
        fault_rate=chosen.fault_rate,
        fault_times=chosen.fault_times,
        answer=None if chosen.answer is None else lambda texts: chosen.answer,
        keep=0,
    )
    asyncio.run(_serve_for_ever(server))
    return 0


async def _serve_for_ever(server: "TestServer") -> None:
    async with server:
        print(server.url, flush=True)
        await asyncio.get_running_loop().create_future()
