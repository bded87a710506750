"""`balrog-rag check PLUGIN`: use a plug-in as a run would, and print what is wrong with it."""

import sys
from argparse import RawDescriptionHelpFormatter
from collections.abc import Sequence
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from balrog_rag.cli.command_line import Parser, called, ended
from balrog_rag.contracts.blame import blame_of
from balrog_rag.contracts.errors import ConfigError, PluginError
from balrog_rag.contracts.registry import nearest
from balrog_rag.util.terminal_safe import terminal_safe

DESCRIPTION = """Use a plug-in as a run would, and print what is wrong with it, one line each.

  balrog-rag check guess                        a registered name: a game, agent, program, model, ...
  balrog-rag check my_game.py:GUESS             an object in a file, whose code is run

Exits with 0 if nothing is wrong, with 1 otherwise. Episodes are played in a temporary folder. Only a model
plug-in that calls a provider costs money: it is asked two questions."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command."""
    parser = Parser(
        prog=called("check"), description=DESCRIPTION, formatter_class=RawDescriptionHelpFormatter
    )
    parser.add_argument("plugin", metavar="PLUGIN", help="a registered name, or FILE.py:NAME")
    options = parser.parse_args(arguments)
    return ended(lambda: _checked(options.plugin))


def _checked(written: str) -> int:
    from balrog_rag.api.checking import check

    findings = check(_object_of(written) if ".py:" in written else written)
    for line in findings:
        print(terminal_safe(line))
    if not findings:
        print(f"{terminal_safe(written)}: nothing is wrong")
    return 1 if findings else 0


def _object_of(written: str) -> Any:
    """Import the file and return the object of that name in it."""
    file, _, name = written.rpartition(":")
    path = Path(file)
    if not path.is_file():
        raise ConfigError(f"{file}: no such file; write FILE.py:NAME")
    spec = spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[path.stem] = module  # as an import does, so that its classes can find their module
    sys.path.insert(0, str(path.resolve().parent))
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # importing anybody's file can raise anything
        line, trace = blame_of(error)
        raise PluginError(f"{file}: cannot be imported: {line}; correct it", trace) from error
    if not hasattr(module, name):
        names = [each for each in vars(module) if not each.startswith("_")]
        raise ConfigError(f"{file}: has no {name!r}{nearest(name, names)}")
    return getattr(module, name)
