"""The search over HTTP, asked by a real client on loopback."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from balrog_rag.config.schema import KnowledgeConfig
from balrog_rag.knowledge.serve import LARGEST_BODY, Service, make_server

Settings = Callable[..., KnowledgeConfig]


@pytest.fixture(scope="module")
def client(some: Path, settings: Settings) -> Iterator[httpx.Client]:
    server = make_server(Service(settings(corpus=str(some), prior={})), "127.0.0.1", 0)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with httpx.Client(base_url=f"http://127.0.0.1:{server.server_address[1]}", timeout=30) as client:
        yield client
    server.shutdown()
    server.server_close()


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
    vector = embedder.queries([f"{entry['title']}\n{entry['text']}"])[0].tolist()
    found = client.post("/query", json={"vector": vector, "top_n": 2, "level": 2}).json()["results"]
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
