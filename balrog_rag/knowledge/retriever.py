"""The retriever of a run: one thread that embeds and searches for all episodes."""

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from queue import Empty, SimpleQueue
from threading import Thread
from typing import NamedTuple, Protocol

from msgspec.structs import replace

from balrog_rag.contracts.data import Passage
from balrog_rag.contracts.errors import BalrogError, KnowledgeError
from balrog_rag.knowledge.search import searched_words
from balrog_rag.util.stopping import being_cancelled, leave_behind

_BATCH = 256
_REMEMBERED = 4096


class SearchBackend(Protocol):
    """Something that can be searched: the knowledge base, or a control condition."""

    def search(self, queries: Sequence[str], k: int) -> list[list[Passage]]:
        """Return the best k passages for each query."""
        ...


class _Asked(NamedTuple):
    query: str
    k: int
    answer: "asyncio.Future[Sequence[Passage]]"
    loop: asyncio.AbstractEventLoop


class BatchRetriever:
    """Answers searches in batches: all searches waiting when the thread is free are done together.

    The same query always returns the same passages, so results are cached.
    """

    def __init__(self, name: str, searcher: SearchBackend) -> None:
        """Start the thread, which ends with `close` or with the process."""
        self.name = name
        self._searcher = searcher
        self._queue: SimpleQueue[_Asked | None] = SimpleQueue()
        self._known: OrderedDict[tuple[str, int], Sequence[Passage]] = OrderedDict()
        self._closed = False
        self._thread = Thread(target=self._work, name="retrieval", daemon=True)
        self._thread.start()

    async def search(self, query: str, k: int) -> Sequence[Passage]:
        """Return the best k passages for the query, best first; fewer if there are no more."""
        if self._closed:
            raise KnowledgeError(f"the knowledge base {self.name} is closed")
        words = searched_words(query)
        if not words or k < 1:
            return ()
        if (words, k) in self._known:
            self._known.move_to_end((words, k))
            return self._known[words, k]
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Sequence[Passage]] = loop.create_future()
        self._queue.put(_Asked(words, k, answer, loop))
        found = await answer
        self._remember((words, k), found)
        return found

    async def close(self) -> None:
        """Answer pending searches and end the thread; when stopping at once, do not wait for it."""
        if not self._closed:
            self._closed = True
            self._queue.put(None)
        if being_cancelled():
            leave_behind(self._thread)
        else:
            await asyncio.to_thread(self._thread.join)

    def _remember(self, name: tuple[str, int], found: Sequence[Passage]) -> None:
        self._known[name] = found
        if len(self._known) > _REMEMBERED:
            self._known.popitem(last=False)

    def _work(self) -> None:
        open_ = True
        while open_:
            batch, open_ = self._waiting()
            for k in sorted({asked.k for asked in batch}):
                self._answer([asked for asked in batch if asked.k == k], k)

    def _waiting(self) -> tuple[list[_Asked], bool]:
        """Return all pending searches, at least one, and whether more may follow."""
        batch: list[_Asked] = []
        asked = self._queue.get()
        while asked is not None:
            batch.append(asked)
            if len(batch) == _BATCH:
                return batch, True
            try:
                asked = self._queue.get_nowait()
            except Empty:
                return batch, True
        return batch, False

    def _answer(self, batch: Sequence[_Asked], k: int) -> None:
        queries = list(dict.fromkeys(asked.query for asked in batch))
        try:
            found = dict(zip(queries, map(_shown, self._searcher.search(queries, k)), strict=True))
        except Exception as error:  # noqa: BLE001 - those who wait get it, whatever it is; the thread lives on
            failure = error if isinstance(error, BalrogError) else KnowledgeError(f"search failed: {error!r}")
            for asked in batch:
                _hand_over(asked, None, failure)
        else:
            for asked in batch:
                _hand_over(asked, found[asked.query], None)


def _shown(passages: Sequence[Passage]) -> tuple[Passage, ...]:
    """Return passages as shown to agents: without the alternative questions used for searching."""
    return tuple(replace(each, asked="") if each.asked else each for each in passages)


def _hand_over(asked: _Asked, found: Sequence[Passage] | None, failure: Exception | None) -> None:
    def settle() -> None:
        if asked.answer.done():
            return
        if failure is not None:
            asked.answer.set_exception(failure)
        else:
            asked.answer.set_result(found or ())

    try:
        asked.loop.call_soon_threadsafe(settle)
    except RuntimeError:  # the loop that asked is closed, so nobody waits for the answer
        return
