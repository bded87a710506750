"""The search over HTTP, used by a real client on loopback."""

import asyncio
import socket
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import aiohttp
import httpx
import msgspec
import pytest

from balrog_rag.config.schema import KnowledgeConfig
from balrog_rag.contracts.data import Passage
from balrog_rag.knowledge.openapi import SearchRequest
from balrog_rag.knowledge.passages import wording
from balrog_rag.knowledge.serve import LARGEST_BODY, MOST_WAITING, Queue, Service, listen
from tests.support import PATIENCE

Settings = Callable[..., KnowledgeConfig]


@contextmanager
def serving(service: Service, waiting: int = MOST_WAITING) -> Iterator[int]:
    """The service's port; it runs in a thread with an event loop."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True).start()

    def done(work):
        return asyncio.run_coroutine_threadsafe(work, loop).result(PATIENCE)

    runner, port = done(listen(service, "127.0.0.1", 0, waiting))
    try:
        yield port
    finally:
        done(runner.cleanup())
        loop.call_soon_threadsafe(loop.stop)


@pytest.fixture(scope="module")
def service(some: Path, settings: Settings) -> Service:
    return Service(settings(corpus=str(some), prior={}))


@pytest.fixture(scope="module")
def client(service: Service) -> Iterator[httpx.Client]:
    with (
        serving(service) as port,
        httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE) as client,
    ):
        yield client


def test_search_by_text(client: httpx.Client) -> None:
    answer = client.post("/search", json={"query": "ring", "top_n": 3, "rerank": False, "contract_id": "x"})
    assert answer.status_code == 200
    results = answer.json()["results"]
    assert len(results) == 3
    assert {"id", "title", "text", "score", "source", "licence"} <= results[0].keys()
    assert client.get(f"/entries/{results[0]['id']}").json()["title"] == results[0]["title"]


def test_search_by_vector_finds_what_it_was_made_from(client: httpx.Client, settings: Settings) -> None:
    from balrog_rag.knowledge.opening import make_embedder

    embedder = make_embedder(settings())
    assert embedder is not None
    entry = client.post("/search", json={"query": "newt", "top_n": 1}).json()["results"][0]
    vector = embedder.queries([wording(msgspec.convert(entry, Passage))])[0].tolist()
    found = client.post("/query", json={"vector": vector, "top_n": 2}).json()["results"]
    assert found[0]["id"] == entry["id"]
    assert found[0]["score"] == pytest.approx(1, abs=0.01)


def test_what_is_served_and_how_to_ask(client: httpx.Client) -> None:
    about = client.get("/").json()
    assert about["dimensions"] == 384
    described = client.get("/openapi.json").json()
    assert described["openapi"].startswith("3.")
    assert set(described["paths"]) == {"/", "/search", "/query", "/entries/{id}"}
    assert "top_n" in described["components"]["schemas"]["SearchRequest"]["properties"]
    page = client.get("/docs")
    assert "text/html" in page.headers["content-type"]
    assert "http" not in page.text.replace("http://127.0.0.1:8321", "")


@pytest.mark.parametrize(
    ("path", "body", "status", "said"),
    [
        ("/search", b"{", 400, "truncated"),
        ("/search", b'{"top_n": 3}', 400, "query"),
        ("/search", b'{"query": 3}', 400, "str"),
        ("/search", b'{"query": "x", "top_n": 0}', 400, "top_n"),
        ("/search", b'{"query": "x", "top_n": 100000}', 400, "top_n"),
        ("/search", b'{"query": "x", "rerank": true}', 400, "no reranker"),
        ("/search", b"\xff", 400, ""),
        ("/query", b'{"vector": [1, 2]}', 400, "384 finite numbers"),
        ("/query", b'{"vector": ["a"]}', 400, "float"),
        ("/query", b'{"vector": [%s], "level": 2}' % b",".join([b"0.1"] * 384), 400, "level: passages"),
        ("/nothing", b"{}", 404, "see /docs"),
        ("/search", b" " * (LARGEST_BODY + 1), 413, "at most"),
    ],
)
def test_bad_requests_are_told_what_is_wrong(
    path: str, body: bytes, status: int, said: str, client: httpx.Client
) -> None:
    answer = client.post(path, content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == status
    assert said in answer.json()["error"]
    assert client.get("/").status_code == 200


def test_other_web_pages_cannot_reach_it(client: httpx.Client) -> None:
    form = client.post("/search", content=b'{"query": "x"}', headers={"Content-Type": "text/plain"})
    assert form.status_code == 415
    rebound = client.post("/search", json={"query": "x"}, headers={"Host": "evil.example"})
    assert rebound.status_code == 403


def test_an_empty_query_and_unknown_entries(client: httpx.Client) -> None:
    assert client.post("/search", json={"query": " "}).json() == {"results": []}
    assert client.get("/entries/no/such").status_code == 404
    assert client.get("/nothing").status_code == 404


async def all_at_once(port: int, clients: int) -> Counter[tuple[int, str | None]]:
    """Count each status and Retry-After of this many searches, each on its own connection."""

    async def one(number: int) -> tuple[int, str | None]:
        async with aiohttp.ClientSession() as session:
            asked = {"query": f"newt {number}", "top_n": 1}
            async with session.post(f"http://127.0.0.1:{port}/search", json=asked) as answer:
                await answer.read()
                return answer.status, answer.headers.get("Retry-After")

    return Counter(await asyncio.gather(*map(one, range(clients))))


@pytest.mark.slow
def test_five_hundred_clients_at_once_are_all_answered(service: Service) -> None:
    with serving(service) as port:
        answers = asyncio.run(asyncio.wait_for(all_at_once(port, 500), PATIENCE))
    assert answers == {(200, None): 500}


def test_searches_that_wait_are_done_together(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    batches: list[list[str]] = []
    search, first = service.searcher.search, threading.Event()

    def counted(queries, k, rerank=True):  # type: ignore[no-untyped-def]
        batches.append(list(queries))
        first.wait(PATIENCE)
        return search(queries, k, rerank=rerank)

    monkeypatch.setattr(service.searcher, "search", counted)

    async def ask() -> list[list[Passage]]:
        queue = Queue(MOST_WAITING, service)
        texts = ["ring", "newt", "ring", "wand"]
        tasks = [asyncio.create_task(queue.search(SearchRequest(each, 2))) for each in texts]
        while not batches:
            await asyncio.sleep(0.01)
        more = [asyncio.create_task(queue.search(SearchRequest(each, 2))) for each in ("bow", "bow", "axe")]
        await asyncio.sleep(0.05)
        first.set()
        return await asyncio.gather(*tasks, *more)

    found = asyncio.run(ask())
    assert [each.id for each in found[0]] == [each.id for each in found[2]]
    assert [each.id for each in found[1]] == [each.id for each in search(["newt"], 2)[0]]
    assert {text for batch in batches for text in batch} == {"axe", "bow", "newt", "ring", "wand"}
    assert all(len(set(batch)) == len(batch) for batch in batches)
    assert len(batches) <= 3  # seven requests


def test_who_comes_when_the_queue_is_full_is_told_so_at_once(service: Service) -> None:
    with serving(service, waiting=5) as port:
        answers = asyncio.run(asyncio.wait_for(all_at_once(port, 200), PATIENCE))
        assert set(answers) == {(200, None), (503, "1")}
        assert answers[(200, None)] >= 5
        again = asyncio.run(all_at_once(port, 5))
    assert again == {(200, None): 5}


@pytest.mark.parametrize("length", [b"\xb2", b"-1", b"1e3", b"9" * 40, b""])
def test_a_length_that_is_none_is_a_bad_request(length: bytes, service: Service) -> None:
    with serving(service) as port, socket.create_connection(("127.0.0.1", port), 10) as connection:
        lines = [b"POST /search HTTP/1.1", b"Host: 127.0.0.1", b"Content-Type: application/json"]
        connection.sendall(b"\r\n".join([*lines, b"Content-Length: " + length, b"", b'{"query": "x"}']))
        assert connection.recv(1000).startswith((b"HTTP/1.1 4", b"HTTP/1.0 4"))
