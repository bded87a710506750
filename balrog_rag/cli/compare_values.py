"""`compare --values A.csv B.csv`: the verdict on two columns of numbers."""

import argparse
import csv
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from balrog_rag.contracts.errors import ConfigError

OF_RUNS = {"measure": "progression", "detect": None, "planned": None, "look": 1}
"""Options that say something of runs alone, and their defaults."""
MISSING = {"na", "n/a", "none", "null", "nan", "missing"}
"""Words for a number that is not there: no heading."""


def compare_values(options: argparse.Namespace) -> int:
    """Print the verdict."""
    from balrog_rag.results import terminal
    from balrog_rag.results.statistics.values import verdict

    for name, default in OF_RUNS.items():
        if getattr(options, name) != default:
            raise ConfigError(f"--{name}: is for runs; leave it out with --values")
    ours, theirs = (column(path) for path in (options.ours, options.theirs))
    made = verdict(ours, theirs, paired=options.paired, solved=options.solved)
    terminal.say(terminal.console(), made.sentence)
    return 0


def column(path: Path) -> list[float]:
    """The numbers in this file, one a line; the first line may be their heading."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            return list(islice(_numbers(path, file), _most() + 1))
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror})") from None
    except (UnicodeDecodeError, csv.Error):
        raise ConfigError(f"{path}: is no text; give a file with one number a line") from None


def _most() -> int:
    from balrog_rag.results.statistics.values import MOST

    return MOST


def _numbers(path: Path, lines: Iterator[str]) -> Iterator[float]:
    gap = 0
    for place, cells in enumerate(csv.reader(lines), 1):
        word = "".join(cells).strip()
        if not word:
            gap = gap or place
            continue
        if gap and gap < place:
            raise ConfigError(f"{path}, line {gap}: is empty; put a number there or take the line out")
        if len(cells) > 1:
            raise ConfigError(f"{path}, line {place}: has {len(cells)} columns; give a file with one")
        if place > 1 or not heading(word):
            yield number(path, place, word)


def heading(word: str) -> bool:
    """Whether a first line names the column: it begins like a name and stands for no number."""
    return (word[0].isalpha() or word[0] == "_") and word.lower() not in MISSING and not _is_number(word)


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def number(path: Path, place: int, word: str) -> float:
    """The number in a line; a word that is none is refused, with its line."""
    from math import isfinite

    if not _is_number(word):
        raise ConfigError(f"{path}, line {place}: {word[:80]!r} is no number")
    if not isfinite(float(word)):
        raise ConfigError(f"{path}, line {place}: {word[:80]} cannot be compared; put a finite number there")
    return float(word)
