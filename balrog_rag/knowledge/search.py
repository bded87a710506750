"""Search: from queries to passages, through an embedder, an index and optionally a reranker.

The same query returns the same passages in the same order, alone or in a batch.
"""

from collections.abc import Mapping, Sequence
from math import inf
from typing import Protocol, runtime_checkable

from msgspec.structs import replace

from balrog_rag.contracts.data import Passage
from balrog_rag.knowledge.covering import covering
from balrog_rag.knowledge.embed import Embedder, Vectors
from balrog_rag.knowledge.index import Hits, Index
from balrog_rag.knowledge.integrity import checked_vectors
from balrog_rag.knowledge.passages import wording
from balrog_rag.knowledge.rewriting import is_long, meant, parts, subject
from balrog_rag.util.terminal_safe import cleaned

LONGEST_SEARCHED = 4000
"""Longest query in characters; the rest is ignored."""


_SPARE = 50
"""Hits examined beyond k if a prior can reorder them."""


_TWINS = 5
"""Hits examined beyond k because passages of the same text are shown once."""


class Reranker(Protocol):
    """Scores how well each text answers a query."""

    def scores(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """Return one score per text; higher is better."""
        ...


@runtime_checkable
class PassageReranker(Protocol):
    """Scores passages by everything known about them, such as the search's own scores and order."""

    def passage_scores(self, query: str, passages: Sequence[Passage]) -> Sequence[float]:
        """Return one score per passage, given best first; higher is better."""
        ...


def scores_of(
    reranker: Reranker | PassageReranker, query: str, passages: Sequence[Passage]
) -> Sequence[float]:
    """Return the scores of either kind of reranker."""
    if isinstance(reranker, PassageReranker):
        return reranker.passage_scores(query, passages)
    return reranker.scores(query, [wording(passage) for passage in passages])


class Searcher:
    """An opened index with everything that a search needs."""

    def __init__(
        self,
        passages: Sequence[Passage],
        index: Index,
        embedder: Embedder | None,
        prior: Mapping[str, float] | None = None,
        reranker: Reranker | PassageReranker | None = None,
        rerank: int = 0,
        passing: Sequence[str] = (),
        parts: float = 0.0,
        cover: float = 0.0,
        versions: Sequence[str] = (),
        remember: bool = False,
        meaning: Mapping[str, str] | None = None,
    ) -> None:
        """`embedder` is None if the index needs no vectors; a reranker orders the best `rerank`.

        Phrases of `passing` are removed from queries. A part that equals a key of `meaning` is replaced by
        its value. The parts of a query are searched as well if `parts`, the factor on their scores, is above
        0; if `cover` is, each part gets a passage that covers it (`covering`). With `versions`, only passages
        about game versions with such a prefix, or about no particular version, are returned. `remember`
        caches the results of each text as long as this object exists.
        """
        self._meaning = meaning or {}
        self._known: dict[tuple[str, int], Hits] | None = {} if remember else None
        self._passing, self._parts, self._cover = passing, parts, cover
        self.passages, self._index, self._embedder = passages, index, embedder
        self._reranker, self._rerank = reranker, rerank
        self._factors = [_factor(passage.id, prior) for passage in passages] if prior else None
        self._barred = _of_other_versions(passages, tuple(versions)) if versions else set()

    @property
    def dimensions(self) -> int:
        """The dimensions of the vectors; 0 if the index has none."""
        return self._embedder.dimensions if self._embedder else 0

    def search(self, queries: Sequence[str], k: int, rerank: bool = True) -> list[list[Passage]]:
        """Return the best passages for each query, best first, at most k; none for an empty query."""
        asked = [searched_words(query) for query in queries]
        full = [number for number, query in enumerate(asked) if query and k > 0]
        found: list[list[Passage]] = [[] for _ in asked]
        if not full:
            return found
        reranker = self._reranker if rerank else None
        texts = [asked[number] for number in full]
        depth = max(k, self._rerank) if reranker else k
        for number, hits in zip(full, self._found(texts, depth + _TWINS), strict=True):
            chosen = _different(self._passages(hits))[:depth]
            found[number] = (self._reranked(reranker, asked[number], chosen) if reranker else chosen)[:k]
        return found

    def _found(self, queries: Sequence[str], k: int) -> list[Hits]:
        """The best positions for each query: for its subject, and for its parts if requested."""
        subjects = [meant(subject(query, self._passing), self._meaning) for query in queries]
        families = [[one, *self._parts_of(one)] for one in subjects]
        flat = [text for family in families for text in family]
        hits = iter(self._each(flat, max(k, _SPARE) if self._cover else k))
        return [self._joined(family, [next(hits) for _ in family])[:k] for family in families]

    def _each(self, texts: Sequence[str], k: int) -> list[Hits]:
        """The results of each text by itself; cached ones are not searched again."""
        known = {} if self._known is None else self._known
        new = [text for text in dict.fromkeys(texts) if (text, k) not in known]
        if new:
            vectors = self._vectors_of(new)
            known.update(zip(((text, k) for text in new), self._hits(new, vectors, k), strict=True))
        return [known[text, k] for text in texts]

    def _vectors_of(self, texts: Sequence[str]) -> Vectors | None:
        if self._embedder is None:
            return None
        made = self._embedder.queries(texts)
        return checked_vectors(made, len(texts), self._embedder.dimensions, self._embedder.identity)

    def _parts_of(self, query: str) -> list[str]:
        """The parts to search separately; parts of one word are used for covering only."""
        if not self._cover and not self._parts:
            return []
        found = parts(query)
        wanted = [part for part in found if self._cover or is_long(part)]
        return wanted if len(found) > 1 else []

    def _joined(self, family: Sequence[str], found: Sequence[Hits]) -> Hits:
        """The results of the whole query and its parts, each position with its best score."""
        whole, *others = found
        scores = dict(whole)
        for text, hits in zip(family[1:], others, strict=True):
            for place, score in hits if self._parts and is_long(text) else ():
                scores[place] = max(scores.get(place, -inf), score - abs(score) * (1 - self._parts))
        order = sorted(scores.items(), key=lambda hit: (-hit[1], hit[0]))
        return covering(order, whole, others, self._cover) if self._cover and others and order else order

    def near(self, vector: Vectors, k: int) -> list[Passage]:
        """Return the best passages for one raw vector."""
        if k <= 0:
            return []
        return _different(self._passages(self._hits([""], vector.reshape(1, -1), k + _TWINS)[0]))[:k]

    def _hits(self, queries: Sequence[str], vectors: Vectors | None, k: int) -> list[Hits]:
        if not self._barred:
            return self._weighed_hits(queries, vectors, k)
        wide = self._weighed_hits(queries, vectors, len(self.passages))
        return [[hit for hit in hits if hit[0] not in self._barred][:k] for hits in wide]

    def _weighed_hits(self, queries: Sequence[str], vectors: Vectors | None, k: int) -> list[Hits]:
        if self._factors is None:
            return self._index.search(queries, vectors, min(k, len(self.passages)))
        found = self._index.search(queries, vectors, min(k + _SPARE, len(self.passages)))
        return [self._weighed(hits)[:k] for hits in found]

    def _weighed(self, hits: Hits) -> Hits:
        assert self._factors is not None
        weighed = [(place, score - abs(score) * (1 - self._factors[place])) for place, score in hits]
        return sorted(weighed, key=lambda hit: (-hit[1], hit[0]))

    def _passages(self, hits: Hits) -> list[Passage]:
        return [replace(self.passages[place], score=score) for place, score in hits]

    def _reranked(
        self, reranker: Reranker | PassageReranker, query: str, chosen: list[Passage]
    ) -> list[Passage]:
        head = chosen[: self._rerank]
        scores = scores_of(reranker, query, head)
        scored = [replace(passage, score=float(score)) for passage, score in zip(head, scores, strict=True)]
        return sorted(scored, key=lambda passage: -passage.score) + chosen[self._rerank :]


def _different(passages: list[Passage]) -> list[Passage]:
    """The passages without later ones of the same text."""
    first: dict[str, Passage] = {}
    for each in passages:
        first.setdefault(each.text, each)
    return list(first.values())


def _of_other_versions(passages: Sequence[Passage], wanted: tuple[str, ...]) -> set[int]:
    """The positions of passages about other game versions."""
    told = ((place, each.version) for place, each in enumerate(passages))
    return {place for place, version in told if version and not version.startswith(wanted)}


def _factor(name: str, prior: Mapping[str, float]) -> float:
    """The factor of the longest matching prefix."""
    fitting = [start for start in prior if name.startswith(start)]
    return prior[max(fitting, key=len)] if fitting else 1.0


def searched_words(query: str) -> str:
    """Clean a query for searching: one line, no control characters, limited length."""
    return " ".join(cleaned(query[: 4 * LONGEST_SEARCHED]).split())[:LONGEST_SEARCHED]
