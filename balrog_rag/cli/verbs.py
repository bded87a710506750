"""The one command `balrog-rag`, a verb for each thing that can be done; also `python -m balrog_rag`."""

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
    """What a verb does: `words` makes the words of the module's `main` of those behind the verb."""

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
    "resume": Verb("go on with a run or a sweep: RUN [KEY=VALUE ...]", "main", _resumed),
    "sweep": Verb("a run for every combination: agent=naive,cot ...", "main", lambda rest: ["-m", *rest]),
    "view": Verb("episodes in a browser, beside what the model read", "view"),
    "show": Verb("an episode's prompts, answers and screens, step by step", "episode", _of_episode("show")),
    "verify": Verb("play journals again and compare everything", "episode", _of_episode("verify")),
    "fork": Verb("play on from a step with another agent or model", "episode", _of_episode("fork")),
    "export": Verb("an episode's events, for other programs", "episode", _of_episode("export")),
    "report": Verb("one page of verdicts, tables and figures", "report"),
    "compare": Verb("two runs, or two lists of numbers, and a verdict", "compare"),
    "leaderboard": Verb("build a board, submit a run, verify a submission", "leaderboard"),
    "counterfactual": Verb("at how many steps retrieval changed the action", "counterfactual"),
    "results": Verb("make a run's summaries anew from its journals", "results"),
    "knowledge": Verb("search, index and measure the knowledge base", "knowledge"),
    "dataset": Verb("recorded games: bring in, choose, stream, count", "dataset"),
    "learn": Verb("a player from recorded games: behavioural cloning", "learn"),
    "prompts": Verb("what models read, and demonstrations for them", "prompts"),
    "envs": Verb("tasks and options of the games, and their levels", "envs"),
    "doctor": Verb("what this machine has, and what a run would lack", "doctor"),
    "models": Verb("serve and fetch the embedded model; a test server", "models"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    return ended(lambda: _carry_out(words))


def _carry_out(words: list[str]) -> int:
    refuse_in_words(words)
    first, rest = (words[0], words[1:]) if words else ("--help", [])
    if first in ("-h", "--help"):
        print(_help())
        return 0
    if first == "--version":
        print(f"balrog_rag {__version__}")
        return 0
    if first == "completion":
        return _completion(rest)
    if first == "complete":
        print("\n".join(candidates(rest)))
        return 0
    command_line.prefix = "balrog-rag "
    if first not in VERBS:
        if registered(first):
            return carry_out(first, rest)
        raise ConfigError(_unknown(first, rest))
    verb = VERBS[first]
    code: int = import_module(f"balrog_rag.cli.{verb.module}").main(verb.words(rest))
    return code


def _unknown(first: str, rest: Sequence[str]) -> str:
    if "=" in first or first in ("-m", "--multirun"):
        verb = "sweep" if first.startswith(("-m", "--m")) else "run"
        behind = rest if verb == "sweep" else [first, *rest]
        return f"write balrog-rag {' '.join([verb, *behind])}"
    if first == "eval":
        return f"write balrog-rag {' '.join(['run', *rest])}"
    if first == "episode" and rest and rest[0] in VERBS:
        return f"write balrog-rag {' '.join(rest)}"
    return f"{first}: no such verb{nearest(first, [*VERBS, *_own_commands()])}"


def _own_commands() -> list[str]:
    """Registered commands of one word, which stand beside the verbs."""
    return [name for name in registry.commands.names() if " " not in name and name not in VERBS]


def _help() -> str:
    listed = "\n".join(f"  {name:<15} {verb.says}" for name, verb in VERBS.items())
    more = "\n".join(f"  {name:<18} {says}" for name, says in commands().items() if name not in VERBS)
    return (
        "usage: balrog-rag VERB ...\n\n"
        "Benchmarks language-model agents in text games, with retrieval plug-ins.\n\n"
        f"{listed}\n"
        "  completion      print what makes a shell complete these words: bash, zsh or fish\n\n"
        f"commands of plug-ins and studies:\n{more}\n\n"
        "balrog-rag VERB --help says more. python -m balrog_rag.eval and its sisters do the same."
    )


SCRIPTS = {
    "bash": "_balrog_rag() {{ COMPREPLY=($(compgen -W "
    '"$(balrog-rag complete "${{COMP_WORDS[@]:1:COMP_CWORD}}")" -- "${{COMP_WORDS[COMP_CWORD]}}")); }}\n'
    "compopt -o nospace 2>/dev/null; complete -o default -F _balrog_rag balrog-rag",
    "zsh": "autoload -U +X bashcompinit && bashcompinit\n{bash}",
    "fish": "complete -c balrog-rag -a '(balrog-rag complete (commandline -opc)[2..] (commandline -ct))'",
}


def _completion(rest: Sequence[str]) -> int:
    shell = rest[0] if rest else ""
    if shell not in SCRIPTS:
        raise ConfigError(f"completion {shell}".strip() + f": name a shell{nearest(shell, SCRIPTS)}")
    bash = SCRIPTS["bash"].format()
    print(SCRIPTS[shell].format(bash=bash))
    return 0


def candidates(words: Sequence[str]) -> list[str]:
    """What the last of these words may become."""
    if len(words) <= 1:
        return [*VERBS, *_own_commands(), "completion"]
    if words[0] not in ("run", "sweep", "resume", "fork"):
        return []
    from balrog_rag.config.groups import group_options
    from balrog_rag.config.schema import documented_keys

    group, equals, _ = words[-1].partition("=")
    if equals:
        return [f"{group}={option}" for option in group_options().get(group, [])]
    return [*(f"{name}=" for name in group_options()), *(f"{key}=" for key, _ in documented_keys())]


def script() -> None:
    """What `balrog-rag` runs."""
    leave(main())
