"""The command `balrog-rag` with one verb per task; also `python -m balrog_rag`."""

import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
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
    if not rest:
        raise ConfigError("resume: run folder missing; write balrog-rag resume RUN")
    if "=" in rest[0] or rest[0].startswith("-"):
        return rest if rest[0] in ("-h", "--help") else ["resume=", *rest]
    return [f"resume={rest[0]}", *rest[1:]]


def _swept(rest: list[str]) -> list[str]:
    if not rest:
        raise ConfigError("sweep: nothing to combine; list values, e.g. balrog-rag sweep agent=naive,cot")
    return ["-m", *rest]


VERBS = {
    "run": Verb("play a run: [GROUP=OPTION ...] [KEY=VALUE ...]", "main"),
    "resume": Verb("resume a run or a sweep: RUN [KEY=VALUE ...]", "main", _resumed),
    "sweep": Verb("play every combination: agent=naive,cot ...", "main", _swept),
    "rollout": Verb("play one episode against a model server: TASK ...", "rollouts", _of_episode("rollout")),
    "serve": Verb("serve rollouts over HTTP, for training frameworks", "rollouts", _of_episode("serve")),
    "play": Verb("play a run's games yourself: [KEY=VALUE ...]", "play_yourself"),
    "mcp": Verb("serve a run's games to a client with its own loop: [KEY=VALUE ...]", "mcp"),
    "watch": Verb("show the progress of a run or a sweep from another terminal", "watch"),
    "view": Verb("show episodes in a browser, with prompts and answers", "view"),
    "show": Verb("print an episode's prompts, answers and screens", "episode", _of_episode("show")),
    "verify": Verb("replay journals and compare everything", "episode", _of_episode("verify")),
    "fork": Verb("continue from a step with another agent or model", "episode", _of_episode("fork")),
    "bank": Verb("play variants from states of recorded episodes", "bank"),
    "export": Verb(
        "write runs in formats of other tools, or as training data",
        "episode",
        _of_episode("export"),
    ),
    "report": Verb("write a page of verdicts, tables and figures", "report"),
    "compare": Verb("compare two runs or two lists of numbers", "compare"),
    "leaderboard": Verb("build a leaderboard, submit a run, verify a submission", "leaderboard"),
    "ablate": Verb("measure what each tactic of a program is worth", "ablate"),
    "counterfactual": Verb("measure at how many steps retrieval changed the action", "counterfactual"),
    "results": Verb("recreate a run's summaries from its journals; merge shards", "results"),
    "knowledge": Verb("search, index and measure the knowledge base", "knowledge"),
    "dataset": Verb("import, select, stream and count recorded games", "dataset"),
    "learn": Verb("train a player from recorded games: behavioural cloning", "learn"),
    "prompts": Verb("list prompts, and create demonstrations", "prompts"),
    "envs": Verb("list tasks and options of the games; get their levels", "envs"),
    "doctor": Verb("check this machine, and list what a run would lack", "doctor"),
    "check": Verb("use a plug-in as a run would; list what is wrong", "check"),
    "config": Verb("write the configuration's schema for editors; list every key", "config"),
    "models": Verb("serve or download the embedded model; run a test server", "models"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    return ended(lambda: _carry_out(words))


def _carry_out(words: list[str]) -> int:
    refuse_in_words(words)
    first, rest = (words[0], words[1:]) if words else ("--help", [])
    if first == "help" and rest:  # `help run` is `run --help`
        first, rest = rest[0], ["--help"]
    if first in ("-h", "--help", "help"):
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
    if rest == ["help"] and not Path("help").exists():
        rest = ["--help"]
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
    if first.startswith("-"):
        from balrog_rag.cli.flags import refuse_keys_as_flags

        refuse_keys_as_flags([first, *rest], "balrog-rag run ")
        return f"{first}: verb missing; write balrog-rag run {' '.join([first, *rest])}"
    near = nearest(first, [*VERBS, *_own_commands()])
    return f"{first}: no such verb{near}; balrog-rag --help lists them"


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
        "  completion      print a shell completion script: bash, zsh or fish\n\n"
        f"commands of plug-ins and studies:\n{more}\n\n"
        "See balrog-rag VERB --help. The `python -m balrog_rag.*` modules do the same."
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
    if shell in ("-h", "--help", "help"):
        shells = ",".join(sorted(SCRIPTS))
        print(f"usage: balrog-rag completion {{{shells}}}\n\nPrint a shell completion script.")
        return 0
    if shell not in SCRIPTS:
        raise ConfigError(f"completion {shell}".strip() + f": unknown shell{nearest(shell, SCRIPTS)}")
    bash = SCRIPTS["bash"].format()
    print(SCRIPTS[shell].format(bash=bash))
    return 0


def candidates(words: Sequence[str]) -> list[str]:
    """Possible completions of the last word."""
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
    """Entry point of the `balrog-rag` script."""
    leave(main())
