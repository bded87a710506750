"""Passages chosen so that every part of a query is spoken of before one part is spoken of twice.

"Explore dark areas, key" finds ten passages on dark areas before the first on keys, since both the meaning
and the words of the query are mostly about dark areas; but the first of them says all that the others do.
"""

from collections.abc import Container, Sequence

from balrog_rag.knowledge.index import Hits

_WHOLE = 0.5
"""How much it counts, beside a part, that a passage suits the whole query."""
_FAR = 0.6
"""Share of the best score below which none is moved up: it suits a word of the query and little else."""


def covering(order: Hits, whole: Hits, parts: Sequence[Hits], share: float) -> Hits:
    """`order`, and at its front behind the first a passage for each part that none before speaks of.

    A passage speaks of a part where it has at least `share` of the best score that any has for the part, and
    is not far behind in `order`.
    """
    suits, known = dict(whole), dict(order)
    fit = {place for place, score in order if score >= _FAR * order[0][1]}
    left = [_near(part, share, fit) for part in parts]
    chosen = [order[0][0]]
    while left := [near for near in left if near and not near.keys() & chosen]:
        chosen.append(max(_candidates(left, suits))[1])
    return [(place, known[place]) for place in chosen] + [hit for hit in order if hit[0] not in chosen]


def _near(part: Hits, share: float, fit: Container[int]) -> dict[int, float]:
    """The places that speak of a part, each with its share of the best score."""
    best = part[0][1] if part else 0.0
    return {place: score / best for place, score in part if place in fit and 0 < share * best <= score}


def _candidates(left: Sequence[dict[int, float]], suits: dict[int, float]) -> list[tuple[float, int]]:
    return [(part + _WHOLE * suits.get(place, 0.0), place) for near in left for place, part in near.items()]
