"""`balrog-rag run`: compose the configuration, plan, play, summarise."""

import sys
from collections.abc import Sequence

from balrog_rag.cli.command_line import ended
from balrog_rag.cli.verbs import VERBS
from balrog_rag.config.plain_secrets import refuse_in_words
from balrog_rag.contracts.errors import ConfigError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; every user error is one line with the error's exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    return ended(lambda: _evaluate(words))


def _evaluate(words: list[str]) -> int:
    refuse_in_words(words)
    if words and words[0] in VERBS:
        raise ConfigError(f"write balrog-rag {' '.join(words)}")
    if any(word.startswith("-") for word in words):
        from balrog_rag.cli.flags import with_flags

        return with_flags(words)
    from balrog_rag.cli.evaluate import evaluate

    return evaluate(words)
