"""Select games of a dataset by their xlogfile lines."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from balrog_rag.contracts.errors import ConfigError, DatasetError
from balrog_rag.contracts.registry import nearest
from balrog_rag.dataset import database
from balrog_rag.dataset.database import Row
from balrog_rag.envs.nethack.held_progression import ACHIEVEMENTS

WORDS = {"role": "role", "race": "race", "gender": "gender0", "align": "align0"}
"""Options whose value is one of the log's short names, or several separated by commas."""
RANGES = {"score": "points", "turns": "turns", "depth": "maxlvl", "date": "birthdate"}
"""Options whose value is a range such as 100..2000, 100.. or ..2000."""

_RANGE = re.compile(r"(\d*)\.\.(\d*)|(\d+)")


def condition(options: Mapping[str, Any]) -> tuple[str, list[Any]]:
    """Convert options to an SQL condition and its values; options that are None are ignored."""
    parts: list[str] = []
    values: list[Any] = []
    for name, column in WORDS.items():
        if options.get(name):
            wanted = [word.strip()[:3].lower() for word in str(options[name]).split(",")]
            parts.append(f"lower({column}) IN ({', '.join('?' * len(wanted))})")
            values += wanted
    for name, column in RANGES.items():
        if options.get(name):
            for sign, bound in bounds(name, str(options[name])):
                parts.append(f"{column} {sign} ?")
                values.append(bound)
    if options.get("death"):
        parts.append("death LIKE ?")
        values.append(f"%{options['death']}%")
    if options.get("sql"):
        parts.append(f"({options['sql']})")
    return " AND ".join(parts), values


def bounds(name: str, text: str) -> list[tuple[str, int]]:
    """Convert a range to comparisons; 20260131 and 2026-01-31 are the same date."""
    match = _RANGE.fullmatch(text.replace("-", "") if name == "date" else text)
    if match is None or match[0] == "..":
        raise ConfigError(f"--{name} {text}: not a range; use LOW..HIGH, LOW.., ..HIGH or a number")
    if match[3]:
        return [("=", int(match[3]))]
    return [(sign, int(end)) for sign, end in ((">=", match[1]), ("<=", match[2])) if end]


def select(path: Path, name: str, options: Mapping[str, Any]) -> list[Row]:
    """Select the games of a dataset that match all options."""
    where, values = condition(options)
    try:
        found = database.games(path, name, where, values)
    except DatasetError as error:
        if options.get("sql"):
            raise DatasetError(f"--sql {options['sql']}: {error}") from error
        raise
    return [row for row in found if _achieved(row, options.get("achieved"))]


def _achieved(row: Row, wanted: str | None) -> bool:
    if not wanted:
        return True
    return achievement_bit(wanted) & bits(row["achieve"]) > 0


def achievement_bit(text: str) -> int:
    """Return the achievement that matches a part of its name."""
    fitting = [place for place, name in enumerate(ACHIEVEMENTS) if text.lower() in name.lower()]
    if len(fitting) != 1:
        wrong = f"--achieved {text}: matches no (or several) achievements"
        raise ConfigError(f"{wrong}{nearest(text, ACHIEVEMENTS)}")
    return 1 << fitting[0]


def bits(text: Any) -> int:
    """Return the bits of a hexadecimal field of a log line; none if the line lacks the field."""
    try:
        return max(0, int(str(text), 16))
    except ValueError:
        return 0


def columns(rows: Sequence[Row]) -> list[list[str]]:
    """Format games as the cells of a table."""
    names = ("gameid", "role", "race", "points", "turns", "maxlvl", "birthdate", "death")
    return [[str(row[name]) for name in names] for row in rows]


HEADINGS = ("game", "role", "race", "score", "turns", "deepest", "begun", "death")
