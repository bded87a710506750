"""Choose passages so that every part of a query is covered before a part is covered twice.

"Explore dark areas, key" finds ten passages on dark areas before the first on keys, because both the meaning
and the words of the query are mostly about dark areas. The ten passages repeat each other.
"""

from collections.abc import Container, Sequence

from balrog_rag.knowledge.index import Hits

_WHOLE = 0.5
"""Weight of the similarity to the whole query, relative to that to a part."""
_FAR = 0.6
"""Share of the best score below which no passage is moved up: it matches little but a word of the query."""


def covering(order: Hits, whole: Hits, parts: Sequence[Hits], share: float) -> Hits:
    """Reorder: behind the first passage, put one for each part that no earlier passage covers.

    A passage covers a part if it has at least `share` of the part's best score and is not far behind in
    `order`.
    """
    suits, known = dict(whole), dict(order)
    fit = {place for place, score in order if score >= _FAR * order[0][1]}
    left = [_near(part, share, fit) for part in parts]
    chosen = [order[0][0]]
    while left := [near for near in left if near and not near.keys() & chosen]:
        chosen.append(max(_candidates(left, suits))[1])
    return [(place, known[place]) for place in chosen] + [hit for hit in order if hit[0] not in chosen]


def _near(part: Hits, share: float, fit: Container[int]) -> dict[int, float]:
    """The positions that cover a part, each with its share of the best score."""
    best = part[0][1] if part else 0.0
    return {place: score / best for place, score in part if place in fit and 0 < share * best <= score}


def _candidates(left: Sequence[dict[int, float]], suits: dict[int, float]) -> list[tuple[float, int]]:
    return [(part + _WHOLE * suits.get(place, 0.0), place) for near in left for place, part in near.items()]
