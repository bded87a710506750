"""Control conditions for retrieval: the same look-ups and lengths, with irrelevant passages.

`shuffled` returns other passages of the corpus, `empty` passages without content. If an agent improves with
either, longer prompts and the mention of reference text are the cause, not knowledge.
"""

from bisect import bisect_left
from collections.abc import Sequence

from msgspec.structs import replace

from balrog_rag.contracts.data import Passage, digest
from balrog_rag.knowledge.search import Searcher, searched_words

NEAR = 64
"""Number of passages of about the same length from which one is drawn."""
_NOTHING = "This passage is left blank on purpose. "


class Shuffled:
    """Replaces each passage by another one of similar length, drawn by the query."""

    def __init__(self, inner: Searcher) -> None:
        """`passages` are all passages of the corpus, which may be drawn."""
        self._inner, self.passages, self.dimensions = inner, inner.passages, inner.dimensions
        lengths = sorted((len(each.text), place) for place, each in enumerate(inner.passages))
        self._lengths = [length for length, _ in lengths]
        self._places = [place for _, place in lengths]

    def search(self, queries: Sequence[str], k: int, rerank: bool = True) -> list[list[Passage]]:
        """Return as many passages as the real search finds, in its order."""
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
        """Draw a passage of similar length, avoiding those already taken if possible."""
        middle = bisect_left(self._lengths, length)
        low = max(0, min(middle - NEAR // 2, len(self._places) - NEAR))
        near = [self.passages[place] for place in self._places[low : low + NEAR]]
        free = [each for each in near if each.id not in taken] or near
        return free[int(digest(seed), 16) % len(free)]


class Empty:
    """Replaces each passage by as many meaningless characters."""

    def __init__(self, inner: Searcher) -> None:
        """`inner` performs the real search."""
        self._inner, self.passages, self.dimensions = inner, inner.passages, inner.dimensions

    def search(self, queries: Sequence[str], k: int, rerank: bool = True) -> list[list[Passage]]:
        """Return as many passages as the real search finds, each of the same length."""
        found = self._inner.search(queries, k, rerank)
        return [[_blank(passage, rank) for rank, passage in enumerate(row, start=1)] for row in found]


def _blank(passage: Passage, rank: int) -> Passage:
    length = len(passage.text)
    text = (_NOTHING * (length // len(_NOTHING) + 1))[:length]
    return Passage(f"blank/{rank}", "Reference", text, passage.score)


def controlled(searcher: Searcher, control: str) -> Searcher | Shuffled | Empty:
    """Return the search, or the control condition that replaces it."""
    if control == "shuffled":
        return Shuffled(searcher)
    return Empty(searcher) if control == "empty" else searcher
