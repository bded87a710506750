"""An argument parser with one-line error messages."""

import argparse
from typing import Any, NoReturn

from balrog_rag.contracts.registry import nearest
from balrog_rag.util.terminal_safe import terminal_safe


class Parser(argparse.ArgumentParser):
    """An argument parser that reports errors in one line."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse as usual, but let the command that received an unknown option report it."""
        known, others = super().parse_known_args(args, namespace)
        for word in others:
            if word.startswith("-"):
                near = nearest(word.partition("=")[0], self._option_string_actions)
                self.error(f"{word}: no such option{near}")
        return known, others

    def error(self, message: str) -> NoReturn:
        """Exit with one line that refers to --help."""
        self.exit(2, f"error: {terminal_safe(message)}; see {self.prog} --help\n")
