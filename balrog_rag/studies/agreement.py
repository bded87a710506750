"""Agreement of two judges: raw agreement and Cohen's kappa, with intervals.

The three passages of a query are judged together, so intervals come from resampling whole queries, not single
passages.
"""

from collections.abc import Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from balrog_rag.contracts.errors import KnowledgeError
from balrog_rag.studies.judgements import GRADES, Judgement, answered, by_query

_DRAWS = 4000
_Tables = npt.NDArray[np.float64]


class Kappa(msgspec.Struct, frozen=True):
    """Agreement beyond chance: 1 if all grades are equal, 0 for agreement by chance."""

    value: float
    low: float
    high: float
    """Bounds of a 95 % interval, over queries."""


class Agreement(msgspec.Struct, frozen=True):
    """Agreement on what both judged."""

    judges: tuple[str, str]
    passages: int
    same: float
    """Share of passages with equal grades."""
    kappa: Kappa
    """Cohen's kappa of the three grades."""
    weighted: Kappa
    """The same weighted by the squared distance between grades: answers and no differ by four, not by one."""
    queries: int
    alike: float
    """Share of queries with equal verdicts on whether they are answered."""
    verdicts: Kappa
    """Cohen's kappa of answered or not."""
    answered: tuple[float, float]
    """Share of queries that each judge calls answered."""


def agreement(ours: Sequence[Judgement], theirs: Sequence[Judgement]) -> Agreement:
    """Compute the agreement on what both judged; raise a KnowledgeError if that is nothing."""
    pairs = common(ours, theirs)
    if not pairs:
        raise KnowledgeError("the two files judge no passage in common, so nothing can be compared")
    mine, other = by_query(one for one, _ in pairs), by_query(two for _, two in pairs)
    grades = np.array([_table(_grades(mine[query]), _grades(other[query]), len(GRADES)) for query in mine])
    said = [(answered(mine[query]), answered(other[query])) for query in mine]
    verdicts = np.array([_table([int(one)], [int(two)], 2) for one, two in said])
    return Agreement(
        judges=(pairs[0][0].judge, pairs[0][1].judge),
        passages=len(pairs),
        same=_same(grades),
        kappa=_kappa(grades, _plain(len(GRADES))),
        weighted=_kappa(grades, _squared(len(GRADES))),
        queries=len(said),
        alike=_same(verdicts),
        verdicts=_kappa(verdicts, _plain(2)),
        answered=(sum(one for one, _ in said) / len(said), sum(two for _, two in said) / len(said)),
    )


def common(ours: Sequence[Judgement], theirs: Sequence[Judgement]) -> list[tuple[Judgement, Judgement]]:
    """Select what both judged: the same query, and a passage with the same content."""
    known = {(each.query, each.said): each for each in theirs}
    return [(each, known[each.query, each.said]) for each in ours if (each.query, each.said) in known]


def _grades(row: Sequence[Judgement]) -> list[int]:
    return [GRADES.index(each.grade) for each in row]


def _table(mine: Sequence[int], other: Sequence[int], size: int) -> _Tables:
    """Count the pairs of grades."""
    found = np.zeros((size, size))
    for one, two in zip(mine, other, strict=True):
        found[one, two] += 1
    return found


def _same(tables: _Tables) -> float:
    whole = tables.sum(0)
    return float(np.trace(whole) / whole.sum())


def _plain(size: int) -> _Tables:
    return 1 - np.eye(size)


def _squared(size: int) -> _Tables:
    places = np.arange(size)
    return np.asarray((places[:, None] - places[None, :]) ** 2, float)


def _kappa(tables: _Tables, distance: _Tables) -> Kappa:
    """Kappa of all queries, and the central 95 % over resampled queries."""
    count = len(tables)
    times = np.random.default_rng(0).multinomial(count, np.full(count, 1 / count), _DRAWS)
    again = np.tensordot(times, tables, 1)
    low, high = np.quantile(_beyond_chance(again, distance), [0.025, 0.975])
    return Kappa(float(_beyond_chance(tables.sum(0)[None], distance)[0]), float(low), float(high))


def _beyond_chance(tables: _Tables, distance: _Tables) -> npt.NDArray[np.float64]:
    """1 minus observed over expected disagreement; 1 if no disagreement is expected."""
    shares = tables / tables.sum((1, 2), keepdims=True)
    chance = (shares.sum(2)[:, :, None] * shares.sum(1)[:, None, :] * distance).sum((1, 2))
    differ = (shares * distance).sum((1, 2))
    return np.asarray(1 - np.divide(differ, chance, out=np.zeros_like(differ), where=chance > 0))
