"""Judgements of single passages against the query that found them, on a written scale, and their scores.

A judgement names its judge, and the passage by id and content, so it is valid while the passage is unchanged.
A query is answered if one of its first three passages answers it.
"""

from collections.abc import Iterable, Sequence
from math import sqrt
from pathlib import Path
from typing import Literal

import msgspec

from balrog_rag.contracts.data import Passage
from balrog_rag.contracts.errors import KnowledgeError
from balrog_rag.knowledge.passages import content_hash
from balrog_rag.util.files import read_file

Grade = Literal["answers", "useful", "no"]
GRADES: tuple[Grade, ...] = ("answers", "useful", "no")
SCALE = """answers  A player who asked this knows from the passage alone what to do now, or what is the case.
         Where the query has several parts, the part that decides what to do next must be answered.
         The passage must be right.
useful   It bears on what was asked and would make a player act better, but what was asked is open.
no       It says nothing that helps with what was asked, though it may share words with it."""
TOP = 3


class Judgement(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One passage for one query."""

    query: str
    how: Literal["frequency", "type"]
    rank: int
    passage: str
    said: str
    """Hash of the passage's content."""
    grade: Grade
    judge: str
    why: str = ""
    search: str = ""
    """Which of two compared searches found it, such as `before` and `after`."""


class AnswerScore(msgspec.Struct, frozen=True):
    """How well queries were answered."""

    queries: int
    answer: float
    """Share of queries that one of the first three passages answers."""
    answer_low: float
    answer_high: float
    useful: float
    """Share of queries with at least one useful passage."""
    useless: float
    """Share of the shown passages that were useless."""


def judgement(
    query: str, how: Literal["frequency", "type"], rank: int, passage: Passage, grade: Grade, judge: str
) -> Judgement:
    """A judge's grade of a passage."""
    return Judgement(query, how, rank, passage.id, content_hash(passage), grade, judge)


def read_judgements(path: Path) -> list[Judgement]:
    """Read every line of a file of judgements; none if the file does not exist yet."""
    try:
        return msgspec.json.Decoder(Judgement).decode_lines(read_file(path))
    except FileNotFoundError:
        return []
    except (OSError, msgspec.DecodeError) as error:
        raise KnowledgeError(f"{path}: not a file of judgements: {error}") from error


def score(judgements: Sequence[Judgement]) -> AnswerScore:
    """Compute the scores over the judged queries."""
    queries = by_query(judgements)
    count = len(queries)
    hits = sum(answered(row) for row in queries.values())
    helped = sum(any(each.grade != "no" for each in row) for row in queries.values())
    useless = sum(each.grade == "no" for each in judgements)
    low, high = wilson(hits, count)
    shown = len(judgements)
    return AnswerScore(count, hits / count, low, high, helped / count, useless / shown if shown else 0.0)


def by_query(judgements: Iterable[Judgement]) -> dict[str, list[Judgement]]:
    """The first three passages of each query."""
    found: dict[str, list[Judgement]] = {}
    for each in judgements:
        if each.rank <= TOP:
            found.setdefault(each.query, []).append(each)
    return found


def wilson(hits: int, count: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share."""
    if not count:
        return 0.0, 1.0
    z, share = 1.959964, hits / count
    middle = (share + z * z / (2 * count)) / (1 + z * z / count)
    half = z / (1 + z * z / count) * sqrt(share * (1 - share) / count + z * z / (4 * count * count))
    return middle - half, middle + half


def answered(row: Sequence[Judgement]) -> bool:
    """Whether a passage answers its query."""
    return any(each.grade == "answers" for each in row)
