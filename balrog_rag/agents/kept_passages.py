"""Passages that stay in the prompt as long as what they are about lasts, and come back when it returns."""

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest

from balrog_rag.contracts.data import Passage
from balrog_rag.contracts.signals import Concern
from balrog_rag.util.tokens import count_text

_MOST = 256
"""Queries whose passages are remembered."""
_ON_QUESTION, _ON_STATE = 2, 1
"""Passages kept on the game's open question, and on each lasting state: more are seldom worth their tokens at
every step."""


class KeptPassages:
    """Remembers what was found about each query, and chooses from it by what matters now.

    A passage leaves the prompt when its concern is no longer reported, or when more urgent ones use up the
    budget.
    A concern that returns is answered from memory, without another search.
    """

    def __init__(self, tokens: int) -> None:
        """At most `tokens` tokens of passages are kept in a prompt; 0 keeps none."""
        self._budget = tokens
        self._found: OrderedDict[str, tuple[Passage, ...]] = OrderedDict()
        self._sizes: dict[str, int] = {}

    def learn(self, query: str, passages: Sequence[Passage]) -> None:
        """Remember the passages that a search for the query returned."""
        self._found[query] = tuple(passages)
        self._found.move_to_end(query)
        if len(self._found) > _MOST:
            self._found.popitem(last=False)

    def open(self, concerns: Sequence[Concern]) -> list[str]:
        """Return the queries that need a search now: the open question and lasting states not searched yet.

        Of the game's question only the first query counts. Without a budget it is searched each time.
        """
        asked = [each.query for each in concerns if each.asked][:1]
        if not self._budget:
            return asked
        lasting = [each.query for each in concerns if each.lasting]
        return [query for query in dict.fromkeys((*asked, *lasting)) if query not in self._found]

    def unknown(self, concerns: Sequence[Concern]) -> list[str]:
        """Return the queries except those of lasting concerns that are answered from memory."""
        known = self._found if self._budget else ()
        kept = {each.query for each in concerns if each.lasting or each.asked}.intersection(known)
        return [each.query for each in concerns if each.query not in kept]

    def relevant(self, concerns: Sequence[Concern]) -> list[Passage]:
        """Return the passages to show: the best of each lasting concern in turn, within the budget."""
        rows = zip_longest(*(self._best(each) for each in concerns if each.lasting or each.asked))
        known = {passage.id: passage for row in rows for passage in row if passage is not None}
        return list(self._affordable(known.values()))

    def _best(self, concern: Concern) -> Sequence[Passage]:
        return self._found.get(concern.query, ())[: _ON_QUESTION if concern.asked else _ON_STATE]

    def _affordable(self, passages: Iterable[Passage]) -> Iterator[Passage]:
        left = self._budget
        for passage in passages:
            if self._size(passage) <= left:
                left -= self._size(passage)
                yield passage

    def _size(self, passage: Passage) -> int:
        if passage.id not in self._sizes:
            self._sizes[passage.id] = count_text(f"{passage.title}\n{passage.text}")
        return self._sizes[passage.id]
