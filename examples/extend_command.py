"""A command: `balrog-rag longest RUN...` prints the longest episode of each run.

python examples/extend_command.py RUN...       installed by a package, it is also listed by balrog-rag --help
"""

import sys
from argparse import ArgumentParser

import balrog_rag
from balrog_rag.contracts.commands import Command


def longest(words: list[str]) -> int:
    """Print one line for each run; the exit code is 1 where a run has no finished episode."""
    parser = ArgumentParser(prog="balrog-rag longest", description="Print the longest episode of each run.")
    parser.add_argument("runs", nargs="+", metavar="RUN", help="run folder")
    code = 0
    for folder in parser.parse_args(words).runs:
        episodes = balrog_rag.Run(folder).episodes  # a RunFolderError becomes one line by itself
        if episodes.empty:
            print(f"{folder}: no finished episode")
            code = 1
            continue
        row = episodes.loc[episodes["steps"].idxmax()]
        print(f"{folder}: {row['episode']}, {row['steps']} steps, {row['outcome']}")
    return code


LONGEST = Command(name="longest", help="the longest episode of each run", run=longest)


if __name__ == "__main__":
    sys.exit(longest(sys.argv[1:]))
