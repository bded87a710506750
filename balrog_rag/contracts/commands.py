"""User-defined commands, run as `balrog-rag NAME`."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from balrog_rag.contracts.errors import ConfigError

_NAME = re.compile(r"[a-z][\w-]*( [a-z][\w-]*)?")


@dataclass(frozen=True, kw_only=True)
class Command:
    """A command: its name, one line of help, and a function from the words behind the name to an exit code.

    >>> def count(words):
    ...     print(len(words))
    ...     return 0
    >>> COUNT = Command(name="count", help="count words", run=count)
    """

    name: str
    """One word; `knowledge NAME` makes it a sub-command of `balrog-rag knowledge`."""
    help: str
    """One line for `balrog-rag --help`."""
    run: Callable[[list[str]], int]
    """Returns 0 for success. A BalrogError that it raises is printed as one line."""

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ConfigError(f"command {self.name!r}: not a name; use lower-case letters, digits, _ and -")
        if not self.help or "\n" in self.help:
            raise ConfigError(f"command {self.name}: help={self.help!r} is not one line; write one line")
