"""Options of a command line whose mistakes are one line."""

import argparse
from typing import Any, NoReturn

from balrog_rag.contracts.registry import nearest
from balrog_rag.util.terminal_safe import terminal_safe


class Parser(argparse.ArgumentParser):
    """A command line whose mistakes are one line, too."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As ever; but an option nobody knows is refused by the command that it was given to."""
        known, others = super().parse_known_args(args, namespace)
        for word in others:
            if word.startswith("-"):
                near = nearest(word.partition("=")[0], self._option_string_actions)
                self.error(f"{word}: no such option{near}")
        return known, others

    def error(self, message: str) -> NoReturn:
        """One line, and where to read more."""
        self.exit(2, f"error: {terminal_safe(message)}; see {self.prog} --help\n")
