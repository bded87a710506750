"""The retriever of a run: many episodes, one thread, the same answers."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from balrog_rag import knowledge
from balrog_rag.config.schema import KnowledgeConfig
from balrog_rag.contracts.data import Passage
from balrog_rag.contracts.errors import KnowledgeError
from balrog_rag.knowledge.opening import open_searcher

Settings = Callable[..., KnowledgeConfig]


@pytest.mark.slow
def test_64_askers_at_once_get_what_each_would_get_alone(some: Path, settings: Settings) -> None:
    config = settings(corpus=str(some))
    words = ("newt", "ring", "door", "trap")
    queries = [f"{word} on level {number}" for number in range(8) for word in words]
    alone = {query: open_searcher(config).search([query], 3)[0] for query in queries[:6]}

    async def ask() -> dict[str, list[object]]:
        retriever = knowledge.build(config)
        found = await asyncio.gather(*(retriever.search(query, 3) for query in queries * 2))
        again = await retriever.search(queries[0], 3)
        assert list(again) == list(found[0])
        await retriever.close()
        return {query: list(passages) for query, passages in zip(queries * 2, found, strict=True)}

    found = asyncio.run(ask())
    for query, passages in alone.items():
        assert found[query] == [replace(each, asked="") for each in passages]


def test_what_a_passage_is_only_found_by_is_not_given_to_agents(tmp_path: Path, settings: Settings) -> None:
    file = tmp_path / "notes.jsonl"
    file.write_text('{"id":"a","title":"Doors","text":"Kick them.","asked":"how to enter a closed house"}\n')
    config = settings(corpus=str(file), index="bm25")

    async def ask() -> list[Passage]:
        retriever = knowledge.build(config)
        found = await retriever.search("closed house", 1)
        await retriever.close()
        return list(found)

    (found,) = asyncio.run(ask())
    assert (found.title, found.text, found.asked) == ("Doors", "Kick them.", "")
    assert open_searcher(config).search(["closed house"], 1)[0][0].asked == "how to enter a closed house"


def test_different_k_in_one_batch(notes: Path, settings: Settings) -> None:
    async def ask() -> list[int]:
        retriever = knowledge.build(settings(corpus=str(notes)))
        found = await asyncio.gather(*(retriever.search("door key", k) for k in (0, 1, 2, 3, 3)))
        await retriever.close()
        return [len(passages) for passages in found]

    assert asyncio.run(ask()) == [0, 1, 2, 3, 3]


def test_a_closed_retriever_says_so_and_closing_twice_is_fine(notes: Path, settings: Settings) -> None:
    async def ask() -> None:
        retriever = knowledge.build(settings(corpus=str(notes)))
        await retriever.close()
        await retriever.close()
        with pytest.raises(KnowledgeError, match="is closed"):
            await retriever.search("door", 1)

    asyncio.run(ask())


def test_what_was_asked_before_closing_is_answered(notes: Path, settings: Settings) -> None:
    async def ask() -> int:
        retriever = knowledge.build(settings(corpus=str(notes)))
        asked = [asyncio.create_task(retriever.search(f"door {number}", 2)) for number in range(40)]
        await asyncio.sleep(0)
        await retriever.close()
        return len(await asyncio.gather(*asked))

    assert asyncio.run(ask()) == 40


def test_a_search_that_breaks_fails_those_who_wait_and_nobody_else(notes: Path, settings: Settings) -> None:
    async def ask() -> None:
        retriever = knowledge.build(settings(corpus=str(notes)))
        passages = retriever._searcher.passages
        retriever._searcher.passages = passages[:1]
        with pytest.raises(KnowledgeError, match="search failed"):
            await retriever.search("kitten", 1)
        retriever._searcher.passages = passages
        assert (await retriever.search("kitten food", 1))[0].title == "Pets"
        await retriever.close()

    asyncio.run(ask())


def test_a_given_up_question_does_not_disturb_others(notes: Path, settings: Settings) -> None:
    async def ask() -> int:
        retriever = knowledge.build(settings(corpus=str(notes)))
        given_up = asyncio.create_task(retriever.search("ghost", 1))
        await asyncio.sleep(0)
        given_up.cancel()
        found = await retriever.search("excalibur", 1)
        await retriever.close()
        return len(found)

    assert asyncio.run(ask()) == 1
