"""Search the knowledge base from Python."""

from functools import lru_cache
from typing import TYPE_CHECKING

from balrog_rag.contracts.data import Passage

if TYPE_CHECKING:
    from balrog_rag.knowledge.search import Searcher


def search(query: str, k: int = 5, *settings: str) -> list[Passage]:
    """Return the best `k` passages for a query, best first.

    `settings` are overrides as for a run, e.g. "knowledge.index=bm25"; an index is built on first use.
    """
    return _searcher(settings).search([query], k)[0]


@lru_cache(maxsize=4)
def _searcher(settings: tuple[str, ...]) -> "Searcher":
    from balrog_rag.knowledge.config_section import compose
    from balrog_rag.knowledge.opening import open_searcher

    return open_searcher(compose(list(settings)))
