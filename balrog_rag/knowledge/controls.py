"""Lower bounds of retrieval: the same look-ups at the same length, with passages that do not bear on them.

`shuffled` gives other passages of the corpus, `empty` passages that say nothing. What an agent gains from
either it gains from longer prompts and from being told that there is reference text, not from knowledge.
"""

from bisect import bisect_left
from collections.abc import Sequence

from msgspec.structs import replace

from balrog_rag.contracts.data import Passage, digest
from balrog_rag.knowledge.search import Searcher, searched_words

NEAR = 64
"""Passages of about the same length, among which one is drawn."""
_NOTHING = "This passage is left blank on purpose. "


class Shuffled:
    """Replaces each passage by another one of about its length, drawn by the query."""

    def __init__(self, inner: Searcher) -> None:
        """Every passage of the corpus may come up."""
        self._inner, self.passages, self.dimensions = inner, inner.passages, inner.dimensions
        lengths = sorted((len(each.text), place) for place, each in enumerate(inner.passages))
        self._lengths = [length for length, _ in lengths]
        self._places = [place for _, place in lengths]

    def search(self, queries: Sequence[str], k: int, rerank: bool = True) -> list[list[Passage]]:
        """As many passages as the real search finds, in its order."""
        found = self._inner.search(queries, k, rerank)
        return [self._other(searched_words(query), row) for query, row in zip(queries, found, strict=True)]

    def _other(self, query: str, found: Sequence[Passage]) -> list[Passage]:
        taken = {each.id for each in found}
        others = []
        for rank, passage in enumerate(found):
            other = self._drawn(f"{query}\n{rank}", len(passage.text), taken)
            others.append(replace(other, score=passage.score))
            taken.add(other.id)
        return others

    def _drawn(self, seed: str, length: int, taken: set[str]) -> Passage:
        """One of about that length, that is none of those taken where there are others."""
        middle = bisect_left(self._lengths, length)
        low = max(0, min(middle - NEAR // 2, len(self._places) - NEAR))
        near = [self.passages[place] for place in self._places[low : low + NEAR]]
        free = [each for each in near if each.id not in taken] or near
        return free[int(digest(seed), 16) % len(free)]


class Empty:
    """Replaces each passage by as many meaningless characters."""

    def __init__(self, inner: Searcher) -> None:
        """The search itself is the real one."""
        self._inner, self.passages, self.dimensions = inner, inner.passages, inner.dimensions

    def search(self, queries: Sequence[str], k: int, rerank: bool = True) -> list[list[Passage]]:
        """As many passages as the real search finds, each as long."""
        found = self._inner.search(queries, k, rerank)
        return [[_blank(passage, rank) for rank, passage in enumerate(row, start=1)] for row in found]


def _blank(passage: Passage, rank: int) -> Passage:
    length = len(passage.text)
    text = (_NOTHING * (length // len(_NOTHING) + 1))[:length]
    return Passage(f"blank/{rank}", "Reference", text, passage.score)


def controlled(searcher: Searcher, control: str) -> Searcher | Shuffled | Empty:
    """The search, or what stands for it as a bound."""
    if control == "shuffled":
        return Shuffled(searcher)
    return Empty(searcher) if control == "empty" else searcher
