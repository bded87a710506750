"""Claims of the guide: entries that state numbers or absolutes, and sentences that may disagree."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

import msgspec
import numpy as np

from balrog_rag.knowledge.corpus.embedded import guide
from balrog_rag.knowledge.embed import Vectors
from balrog_rag.knowledge.passages import sentences

_WORDS = (
    "one|two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|twenty|thirty|fifty|hundred|"
    "half|third|quarter|fifth|sixth|seventh|eighth|twice|double"
)
_NUMBER = re.compile(rf"(?<![a-z])\d*d?\d+|\b(?:{_WORDS})\b", re.IGNORECASE)
_ABSOLUTE = re.compile(
    r"\b(?:never|always|cannot|can't|impossible|outright|immune|every|nothing|nobody|none)\b", re.IGNORECASE
)
_NEGATION = re.compile(
    r"\b(?:not|no|never|cannot|nothing|nobody|none|neither|nor|without|fails?)\b|n't\b", re.IGNORECASE
)
_SHORTEST = 5
"""Minimum number of words for a sentence to be compared; shorter ones are mostly instructions."""


class Claim(msgspec.Struct, frozen=True):
    """A sentence of an entry."""

    entry: guide.GuideEntry
    sentence: str


def claims(entry: guide.GuideEntry) -> list[str]:
    """Find the sentences of an entry that state a number or an absolute."""
    return [each for each in sentences(entry.text) if _NUMBER.search(each) or _ABSOLUTE.search(each)]


def ways(entries: Sequence[guide.GuideEntry]) -> dict[str, int]:
    """Count the entries checked in each way."""
    counted = Counter(entry.checked for entry in entries)
    return {way: counted[way] for way in guide.CHECKED}


def only_read(entries: Sequence[guide.GuideEntry]) -> list[tuple[guide.GuideEntry, int]]:
    """Find entries with claims that were only read, with the number of claims; most first."""
    found = [(entry, len(claims(entry))) for entry in entries if entry.checked == "read"]
    return sorted((each for each in found if each[1]), key=lambda each: (-each[1], each[0].path))


def comparable(entries: Sequence[guide.GuideEntry]) -> list[Claim]:
    """Return every sentence that is long enough to be compared."""
    return [
        Claim(entry, sentence)
        for entry in entries
        for sentence in sentences(entry.text)
        if len(sentence.split()) >= _SHORTEST
    ]


def pairs(said: Sequence[Claim], vectors: Vectors, least: float) -> Iterator[tuple[float, Claim, Claim]]:
    """Find differing sentences of two entries with a similarity of at least `least`, most alike first."""
    alike = vectors @ vectors.T
    rows, columns = np.nonzero(np.triu(alike >= least, k=1))
    for place in np.argsort(-alike[rows, columns], kind="stable"):
        one, other = said[rows[place]], said[columns[place]]
        if "read" not in (one.entry.checked, other.entry.checked):
            continue  # both were checked elsewhere; the solutions of Sokoban would fill the list
        if one.entry.path != other.entry.path and _differ(one.sentence, other.sentence):
            yield float(alike[rows[place], columns[place]]), one, other


def _differ(one: str, other: str) -> bool:
    """Whether each states a number that the other lacks, or only one of them negates."""
    numbers, others = ({each.lower() for each in _NUMBER.findall(text)} for text in (one, other))
    return bool(numbers - others and others - numbers) or bool(_NEGATION.search(one)) != bool(
        _NEGATION.search(other)
    )
