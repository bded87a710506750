"""`compare --values A.csv B.csv`: the verdict on two columns of numbers."""

import argparse
import csv
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from balrog_rag.contracts.errors import ConfigError

OF_RUNS = {"measure": "progression", "detect": None, "planned": None, "look": 1}
"""Options that apply only to runs, and their defaults."""
MISSING = {"na", "n/a", "none", "null", "nan", "missing"}
"""Words for a missing number, which are not headings."""


def compare_values(options: argparse.Namespace) -> int:
    """Print the verdict."""
    from balrog_rag.results import terminal
    from balrog_rag.results.statistics.values import numbers, verdict

    for name, default in OF_RUNS.items():
        if getattr(options, name) != default:
            raise ConfigError(f"--{name}: only valid for runs; remove it or --values")
    ours, theirs = (numbers(column(path), str(path)) for path in (options.ours, options.theirs))
    made = verdict(ours, theirs, paired=options.paired, solved=options.solved)
    terminal.say(terminal.console(), made.sentence)
    return 0


def column(path: Path) -> list[float]:
    """Read one number per line; the first line may be a heading."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            return list(islice(_numbers(path, file), _most() + 1))
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror})") from None
    except (UnicodeDecodeError, csv.Error):
        raise ConfigError(f"{path}: not a text file; pass a file with one number per line") from None


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
            raise ConfigError(f"{path}, line {gap}: empty; write a number or remove the line")
        if len(cells) > 1:
            raise ConfigError(f"{path}, line {place}: {len(cells)} columns; pass a file with one")
        if place > 1 or not heading(word):
            yield number(path, place, word)


def heading(word: str) -> bool:
    """Whether a first line is a heading: it starts like a name and is not a number."""
    return (word[0].isalpha() or word[0] == "_") and word.lower() not in MISSING and not _is_number(word)


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def number(path: Path, place: int, word: str) -> float:
    """Parse the number in a line; raises ConfigError with the line if it is not one."""
    from math import isfinite

    if not _is_number(word):
        raise ConfigError(f"{path}, line {place}: {word[:80]!r} is not a number")
    if not isfinite(float(word)):
        raise ConfigError(f"{path}, line {place}: {word[:80]} is not finite; use a finite number")
    return float(word)
