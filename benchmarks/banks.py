"""How fast a bank's states are found and reached: `python benchmarks/banks.py JOURNAL... [--at 3000]`.

Printed are the seconds of a replay to key press `--at`, of searching the whole journal for a condition that
reads numbers, and of one that reads the screen at every press.
"""

import argparse
import tempfile
import time
from pathlib import Path

from balrog_rag.banks.expression import Expression
from balrog_rag.banks.moments import ReplayableJournal
from balrog_rag.banks.state_search import search

NUMBERS, SCREEN = "hp * 3 < max_hp and depth > 60", 'depth > 0 and shows("no such text")'


def timed(do, *given):
    """The seconds that a call takes."""
    begun = time.perf_counter()
    do(*given)
    return time.perf_counter() - begun


def reach(journal, at):
    """Replay to a key press."""
    journal.replay(until=at).close()


def find(path, text):
    """Search a journal for a condition."""
    search(path, Expression(text), 0, Path(tempfile.gettempdir()))


def main():
    """Print the figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("journals", nargs="+", type=Path)
    parser.add_argument("--at", type=int, default=3000)
    chosen = parser.parse_args()
    first = ReplayableJournal(chosen.journals[0])
    first.replay(until=1).close()  # loads the game's engine
    for path in chosen.journals:
        journal = ReplayableJournal(path)
        at = min(chosen.at, journal.last)
        took = timed(reach, journal, at)
        numbers, screen = timed(find, path, NUMBERS), timed(find, path, SCREEN)
        print(
            f"{path.name}: to press {at:,} {took:.2f} s; all {journal.last:,} presses: "
            f"numbers {numbers:.2f} s, screens {screen:.2f} s"
        )


if __name__ == "__main__":
    main()
