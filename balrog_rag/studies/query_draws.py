"""Draw queries from a log of queries with counts, half by frequency and half by type.

By frequency every logged call is equally likely, so common queries count as in play; by type every distinct
query is, so that rare ones are included. No query is drawn twice.
"""

import random
from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Literal, NamedTuple

from balrog_rag.contracts.errors import KnowledgeError
from balrog_rag.util.files import read_file

How = Literal["frequency", "type"]


class Logged(NamedTuple):
    """A query and its number of occurrences."""

    times: int
    query: str


class Drawn(NamedTuple):
    """A query and how it was drawn."""

    query: str
    how: How


def read_log(path: Path) -> list[Logged]:
    """Read lines of a count, a tab and a query; a line without a count is a query that occurred once."""
    try:
        lines = read_file(path).decode("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise KnowledgeError(f"cannot read the queries in {path}: {error}") from error
    found = [_logged(line) for line in lines if line.strip()]
    if not found:
        raise KnowledgeError(f"{path}: contains no queries")
    return found


def _logged(line: str) -> Logged:
    count, tab, query = line.partition("\t")
    return Logged(int(count), query.strip()) if tab and count.isdecimal() else Logged(1, line.strip())


def draw(logged: Sequence[Logged], count: int, seed: int, known: Sequence[str] = ()) -> list[Drawn]:
    """Draw `count` queries that are not in `known`, or all if there are fewer.

    The two kinds of draw alternate, so that a judge who stops early has judged as many of each.
    """
    dice, passed = random.Random(seed), set(known)
    by_query = {each.query: each for each in logged if each.query not in passed}
    left, often = list(by_query.values()), list[Drawn]()
    while left and len(often) < (count + 1) // 2:
        (one,) = dice.choices(left, [each.times for each in left])
        often.append(Drawn(one.query, "frequency"))
        left.remove(one)
    rare = [Drawn(each.query, "type") for each in dice.sample(left, min(len(left), count - len(often)))]
    return [one for pair in zip_longest(often, rare) for one in pair if one is not None]
