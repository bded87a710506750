"""The command `balrog-rag` with one verb per task; also `python -m balrog_rag`."""

import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import NamedTuple

from balrog_rag import __version__
from balrog_rag.cli import command_line
from balrog_rag.cli.command_line import ended
from balrog_rag.cli.registered_commands import carry_out, registered
from balrog_rag.cli.registered_commands import listed as commands
from balrog_rag.config.plain_secrets import refuse_in_words
from balrog_rag.contracts import registry
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.contracts.registry import nearest
from balrog_rag.util.stopping import leave


class Verb(NamedTuple):
    """A verb: `words` converts the arguments after the verb to those of the module's `main`."""

    says: str
    module: str
    words: Callable[[list[str]], list[str]] = lambda rest: rest


def _of_episode(name: str) -> Callable[[list[str]], list[str]]:
    return lambda rest: [name, *rest]


def _resumed(rest: list[str]) -> list[str]:
    if not rest or "=" in rest[0] or rest[0].startswith("-"):
        return rest if rest and rest[0] in ("-h", "--help") else ["resume=", *rest]
    return [f"resume={rest[0]}", *rest[1:]]


VERBS = {
    "run": Verb("play a run: [GROUP=OPTION ...] [KEY=VALUE ...]", "main"),
    "resume": Verb("resume a run or a sweep: RUN [KEY=VALUE ...]", "main", _resumed),
    "sweep": Verb("play every combination: agent=naive,cot ...", "main", lambda rest: ["-m", *rest]),
    "watch": Verb("show the progress of a run or a sweep from another terminal", "watch"),
