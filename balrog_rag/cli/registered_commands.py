"""Commands that plug-ins and the studies register: found by name, listed, run."""

from collections.abc import Sequence

from balrog_rag.contracts import registry
from balrog_rag.contracts.blame import blame_of
from balrog_rag.contracts.commands import Command
from balrog_rag.contracts.errors import BalrogError, PluginError
from balrog_rag.util.terminal_safe import one_line


def registered(name: str) -> bool:
    """Whether there is such a command."""
    return registry.commands.has(name)


def listed(under: str = "") -> dict[str, str]:
    """The help of every command by name; with `under`, of its sub-commands, by their last word."""
    prefix = f"{under} " if under else ""
    found = [name for name in registry.commands.names() if name.startswith(prefix)]
    return {name.removeprefix(prefix): _help(name) for name in found}


def _help(name: str) -> str:
    try:
        return one_line(_command(name).help)
    except PluginError as error:  # one broken plug-in must not take the help of all others away
        return one_line(f"broken: {error}")


def _command(name: str) -> Command:
    found = registry.commands.get(name)
    if not isinstance(found, Command) or found.name != name:
        raise PluginError(
            f"command plug-in {name!r}: expected a balrog_rag.contracts.commands.Command with this name, "
            f"got {found!r}; fix or uninstall the package that provides it"
        )
    return found


def carry_out(name: str, words: Sequence[str]) -> int:
    """Run a registered command; what it raises or returns by mistake is one line."""
    command = _command(name)
    try:
        code = command.run(list(words))
    except (BalrogError, BrokenPipeError):
        raise
    except Exception as error:  # the code is anybody's
        line, trace = blame_of(error, f"command {name}: raised")
        raise PluginError(f"command {name} failed: {line}", trace) from error
    if not isinstance(code, int):
        raise PluginError(f"command {name}: returned {code!r}; return an exit code, 0 for success")
    return code
