"""A query made fit for searching: without phrases that name no subject, and its parts by themselves."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

_LEAST = 2
"""Words that a part must have to be searched for by itself and weighed like the whole query."""
_GAPS = re.compile(r"(?:\s*,)+\s*")


def subject(query: str, passing: Sequence[str]) -> str:
    """The query without the phrases of `passing`; as it is where nothing would be left."""
    if not passing:
        return query
    left = _GAPS.sub(", ", _pattern(tuple(passing)).sub("", query)).strip(" ,:;?-")
    return " ".join(left.split()) if re.search(r"\w", left) else query


def parts(query: str) -> list[str]:
    """What stands between the commas of a query, without the marks round it."""
    return [part for each in query.split(",") if (part := each.strip(" .?!"))]


def meant(query: str, meaning: Mapping[str, str]) -> str:
    """The query with each part that is but a key of `meaning` said as what it stands for."""
    said = parts(query)
    new = [meaning.get(part.lower(), part) for part in said]
    return ", ".join(new) if new != said else query


def is_long(part: str) -> bool:
    """Whether a part says enough to be searched for by itself."""
    return len(part.split()) >= _LEAST


@lru_cache(maxsize=16)
def _pattern(passing: tuple[str, ...]) -> re.Pattern[str]:
    longest_first = sorted(passing, key=len, reverse=True)
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, longest_first))})\b", re.IGNORECASE)
