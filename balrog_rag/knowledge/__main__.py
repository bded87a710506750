"""`python -m balrog_rag.knowledge`: build corpora and indexes, search, measure and serve."""

import sys
from collections.abc import Sequence

from balrog_rag.command_line import ended


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; every mistake a user can make ends in one line and the error's exit code."""
    from balrog_rag.knowledge.commands import run

    words = list(sys.argv[1:] if arguments is None else arguments)
    return ended(lambda: run(words), STOPPED)


STOPPED = "stopped; what was being built is thrown away, what was there before is untouched"


if __name__ == "__main__":
    sys.exit(main())
