"""Passages chosen so that every part of a query is spoken of before one part is spoken of twice.

"Explore dark areas, key" finds ten passages on dark areas before the first on keys, since both the meaning
and the words of the query are mostly about dark areas; but the first of them says all that the others do.
"""

from collections.abc import Sequence

from balrog_rag.knowledge.index import Hits

_WHOLE = 0.5
"""How much it counts, beside a part, that a passage suits the whole query."""


def covering(order: Hits, whole: Hits, parts: Sequence[Hits], share: float) -> Hits:
    """`order`, and at its front behind the first a passage for each part that none before speaks of.

    A passage speaks of a part where it has at least `share` of the best score that any has for the part.
    """
    suits, left = dict(whole), [_near(part, share) for part in parts]
    chosen = [order[0][0]]
    while left := [near for near in left if near and not near.keys() & chosen]:
        chosen.append(max(_candidates(left, suits))[1])
    known = dict(hit for hits in (*parts, order) for hit in hits)
    return [(place, known[place]) for place in chosen] + [hit for hit in order if hit[0] not in chosen]


def _near(part: Hits, share: float) -> dict[int, float]:
    """The places that speak of a part, each with its share of the best score."""
    best = part[0][1] if part else 0.0
    return {place: score / best for place, score in part if best > 0 and score >= share * best}


def _candidates(left: Sequence[dict[int, float]], suits: dict[int, float]) -> list[tuple[float, int]]:
    return [(part + _WHOLE * suits.get(place, 0.0), place) for near in left for place, part in near.items()]
