"""Prepare a query for searching: remove phrases without a subject, and split it into parts."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

_LEAST = 2
"""Minimum number of words for a part to be searched separately and weighted like the whole query."""
_BETWEEN = re.compile(r",|\sor\s", re.IGNORECASE)
_GAPS = re.compile(r"(?:\s*,)+\s*")


def subject(query: str, passing: Sequence[str]) -> str:
    """Remove the phrases of `passing` from the query, unless nothing would be left."""
    if not passing:
        return query
    left = _GAPS.sub(", ", _pattern(tuple(passing)).sub("", query)).strip(" ,:;?-")
    return " ".join(left.split()) if re.search(r"\w", left) else query


def parts(query: str) -> list[str]:
    """Return the parts between commas and the sides of an "or", without surrounding punctuation."""
    return [part for each in _BETWEEN.split(query) if (part := each.strip(" .?!"))]


def meant(query: str, meaning: Mapping[str, str]) -> str:
    """Replace each part that equals a key of `meaning` by its value."""
    said = parts(query)
    new = [meaning.get(part.lower(), part) for part in said]
    return ", ".join(new) if new != said else query


def is_long(part: str) -> bool:
    """Whether a part has enough words to be searched separately."""
    return len(part.split()) >= _LEAST


@lru_cache(maxsize=16)
def _pattern(passing: tuple[str, ...]) -> re.Pattern[str]:
    longest_first = sorted(passing, key=len, reverse=True)
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, longest_first))})\b", re.IGNORECASE)
