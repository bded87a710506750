"""`python -m balrog_rag.eval`: compose the configuration, plan, play, summarise."""

import sys
from collections.abc import Sequence

from balrog_rag import __version__
from balrog_rag.cli.command_line import ended
from balrog_rag.config.plain_secrets import refuse_in_words
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.util.stopping import leave


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; every mistake a user can make ends in one line and the error's exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    return ended(lambda: _evaluate(words))


def _evaluate(words: list[str]) -> int:
    refuse_in_words(words)
    if words and words[0] in COMMANDS:
        return _which_command(words)
    if any(word.startswith("-") for word in words):
        from balrog_rag.cli.flags import with_flags

        return with_flags(words)
    from balrog_rag.cli.evaluate import evaluate

    return evaluate(words)


COMMANDS = {
    "eval": "play",
    "episode": "show, verify and fork episodes",
    "report": "tables and figures",
    "compare": "two runs",
    "leaderboard": "rank, submit, verify",
    "counterfactual": "what retrieval changed",
    "results": "make summaries anew",
    "knowledge": "search and index",
    "prompts": "what models read",
    "models": "serve and fetch",
    "envs": "tasks and levels",
}
"""The commands, each by what it is for."""


def which_command(words: Sequence[str]) -> int:
    """What `python -m balrog_rag` says, since each command is a module of its own."""
    return ended(lambda: _which_command(words))


def _which_command(words: Sequence[str]) -> int:
    refuse_in_words(words)
    first, rest = (words[0], " ".join(words)) if words else ("", "")
    if first == "--version":
        print(f"balrog_rag {__version__}")
        return 0
    if first in COMMANDS:
        raise ConfigError(f"write python -m balrog_rag.{rest}")
    if "=" in first or first in ("-m", "--multirun"):
        raise ConfigError(f"write python -m balrog_rag.eval {rest}")
    listed = ", ".join(f".{name} ({purpose})" for name, purpose in COMMANDS.items())
    raise ConfigError(f"name a command: python -m balrog_rag{listed}; each takes --help")


def script() -> None:
    """What `balrog-rag` runs."""
    leave(main())
