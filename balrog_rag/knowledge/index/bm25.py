"""Search by words: BM25 over stemmed words, with titles counted more than once."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from balrog_rag.contracts.errors import KnowledgeError
from balrog_rag.knowledge.embed import Vectors
from balrog_rag.knowledge.index import Hits, Texts, best

# Words, and symbols that stand alone, as map symbols and keys do.
_WORD = re.compile(r"[^\W_]+(?:'[a-z]+)?|(?<!\S)[^\w\s]{1,2}(?!\S)")
# The commonest words of English questions, which do not identify a topic.
_STOP = frozenset(
    """a about above am an and any are as at be because been being both but by can could did do does doing
    for from had has have having he her here him his how i if in into is it its just me my no nor not of
    on or our own s same she should so some such t than that the their them then there these they this
    those to too very was we were what when where which while who whom why will with would you your
    """.split()  # noqa: SIM905
)


class BM25:
    """Lucene's BM25 by bm25s."""

    needs_vectors: ClassVar[bool] = False
    count: int
    """The number of passages in the index."""

    @classmethod
    def lasting(cls, options: Mapping[str, Any]) -> dict[str, Any]:
        """All options: scores are computed when the index is built."""
        return {name: options[name] for name in ("k1", "b", "title")}

    @classmethod
    def build(
        cls, folder: Path, texts: Texts, vectors: Vectors | None, options: Mapping[str, Any], threads: int
    ) -> None:
        """Count every passage's words."""
        import bm25s

        title = int(options["title"])
        documents = [
            words(heading) * title + words(body)
            for heading, body in zip(texts.titles(), texts.bodies(), strict=True)
        ]
        index = bm25s.BM25(method="lucene", k1=options["k1"], b=options["b"])
        index.index(documents, show_progress=False)
        index.save(folder, corpus=None)

    def __init__(
        self, folder: Path, vectors: Vectors | None, options: Mapping[str, Any], threads: int
    ) -> None:
        """Open the files that `build` wrote."""
        import bm25s

        self._index = bm25s.BM25.load(folder, mmap=True, load_corpus=False)
        # Still mapped, but as plain arrays: a search takes many small slices, and a memmap is slow at that.
        self._index.scores = {
            name: value.view(np.ndarray) if isinstance(value, np.memmap) else value
            for name, value in self._index.scores.items()
        }
        self.count = int(self._index.scores["num_docs"])
        if wrong := self._wrong():
            raise KnowledgeError(f"{folder}: {wrong}; build the index again")

    def _wrong(self) -> str:
        """Describe what would make the library fail; empty if nothing."""
        data, places, starts = (self._index.scores[name] for name in ("data", "indices", "indptr"))
        if len(data) != len(places) or not np.isfinite(data).all():
            return "scores are missing or NaN"
        if len(places) and not 0 <= int(places.min()) <= int(places.max()) < self.count:
            return "scores of passages that do not exist"
        if not (np.diff(starts) >= 0).all() or int(starts[0]) < 0 or int(starts[-1]) > len(data):
            return "the table of words does not fit the scores"
        # The library adds an empty word without scores, which no query contains.
        numbers = (number for word, number in self._index.vocab_dict.items() if word)
        return "" if all(0 <= number < len(starts) - 1 for number in numbers) else "a word without scores"

    def search(self, queries: Sequence[str], vectors: Vectors | None, k: int) -> list[Hits]:
        """Return the passages that share words with the query; rare words count most."""
        return [self._one(query, k) for query in queries]

    def _one(self, query: str, k: int) -> Hits:
        known = [word for word in words(query) if word in self._index.vocab_dict]
        if not known:
            return []
        scores = self._index.get_scores(known)
        places = np.flatnonzero(scores > 0)
        if len(places) > 8 * k:
            floor = np.partition(scores, -k)[-k]
            places = np.flatnonzero(scores >= max(floor, np.finfo(np.float32).tiny))
        return best(scores[places], places, k)


def words(text: str) -> list[str]:
    """Return the text's words: lower case, stemmed, without the commonest."""
    return [_stem(word) for word in _WORD.findall(text.lower()) if word not in _STOP]


@lru_cache(maxsize=65536)
def _stem(word: str) -> str:
    return str(_stemmer().stemWord(word))


@lru_cache(maxsize=1)
def _stemmer() -> Any:
    import Stemmer  # type: ignore[import-not-found]

    return Stemmer.Stemmer("english")
