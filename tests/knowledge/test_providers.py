"""Embedding and reranking through LiteLLM with a real server on loopback; every failure is one line."""

import json
import logging
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from balrog_rag.config.schema import KnowledgeConfig
from balrog_rag.contracts.errors import ConfigError, KnowledgeError
from balrog_rag.knowledge.embed.litellm_embedder import LiteLLMEmbedder
from balrog_rag.knowledge.opening import open_searcher
from balrog_rag.knowledge.rerank.litellm_reranker import LiteLLMReranker

KEY = "sk-aVeryLongKeyThatNobodyMaySee"
GONE = "http://127.0.0.1:9/v1"
Asked = list[dict[str, Any]]


class Provider(ThreadingHTTPServer):
    """Embeds a text as its length and 1, ranks later texts higher; or fails as configured."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Endpoint)
        self.url = f"http://127.0.0.1:{self.server_address[1]}/v1"
        self.failure: tuple[int, str] | None = None
        self.asked: Asked = []


class Endpoint(BaseHTTPRequestHandler):
    server: Provider

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.asked.append(body)
        status, text = self.server.failure or (200, json.dumps(good(body)))
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_: object) -> None:
        """Log nothing."""


def good(body: dict[str, Any]) -> dict[str, Any]:
    if "documents" in body:
        count = len(body["documents"])
        rows = [{"index": place, "relevance_score": place / 10} for place in range(1, count)]
        return {"id": "1", "results": rows[::-1]}
    vectors = [
        {"object": "embedding", "index": place, "embedding": [float(len(text)), 1.0]}
        for place, text in enumerate(body["input"])
    ]
    used = {"prompt_tokens": 1, "total_tokens": 1}
    return {"object": "list", "model": "m", "data": vectors[::-1], "usage": used}


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[Provider]:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with Provider() as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def options(url: str, model: str) -> dict[str, Any]:
    return {
        "model": model,
        "reranking_model": None,
        "base_url": url,
        "dimensions": None,
        "batch": 2,
        "timeout": 20,
    }


def embedder(url: str, model: str = "openai/m") -> LiteLLMEmbedder:
    return LiteLLMEmbedder(options(url, model), 1)


def reranker(url: str, model: str = "hosted_vllm/m") -> LiteLLMReranker:
    return LiteLLMReranker({**options(url, "openai/embeds"), "reranking_model": model}, 1)


def test_the_reranker_names_its_own_model_and_needs_one(provider: Provider) -> None:
    provider.failure = (404, "{}")
    with pytest.raises(KnowledgeError, match="reranking by hosted_vllm/m failed") as refused:
        reranker(provider.url).scores("q", ["a"])
    assert "embeds" not in str(refused.value)
    with pytest.raises(ConfigError, match="reranking_model: no model named"):
        LiteLLMReranker(options(provider.url, "openai/embeds"), 1)


def test_texts_are_embedded_in_batches(provider: Provider) -> None:
    made = embedder(provider.url)
    assert made.dimensions == 2
    told: list[int] = []
    vectors = made.passages(["a", "abc", "abcd"], told.append)
    assert [round(float(row[0] / row[1])) for row in vectors] == [1, 3, 4]
    assert told == [2, 1]
    assert [body["input"] for body in provider.asked[1:]] == [["a", "abc"], ["abcd"]]
    assert made.queries([]).shape == (0, 2)


def test_texts_are_reranked_and_one_left_out_comes_last(provider: Provider) -> None:
    assert list(reranker(provider.url).scores("q", ["a", "b", "c"])) == [0.0, 0.1, 0.2]
    assert (provider.asked[0]["query"], provider.asked[0]["documents"]) == ("q", ["a", "b", "c"])


def one_line(error: pytest.ExceptionInfo[KnowledgeError]) -> str:
    text = str(error.value)
    assert "\n" not in text
    assert KEY not in text
    assert "check knowledge.options.litellm" in text
    return text


@pytest.mark.parametrize(
    ("failure", "said"),
    [
        ((401, json.dumps({"error": {"message": f"Incorrect API key provided: {KEY}"}})), "[redacted]"),
        ((404, json.dumps({"error": {"message": "no model m"}})), "no model m"),
        ((200, "<html>"), "failed"),
    ],
)
def test_a_providers_refusal_is_one_line_without_the_key(
    provider: Provider, failure: tuple[int, str], said: str, capfd: pytest.CaptureFixture[str]
) -> None:
    provider.failure = failure
    with pytest.raises(KnowledgeError, match=r"^embedding by openai/m failed: ") as refused:
        embedder(provider.url)
    assert said in one_line(refused)
    with pytest.raises(KnowledgeError, match=r"^reranking by hosted_vllm/m failed: ") as refused:
        reranker(provider.url).scores("q", ["a"])
    assert said in one_line(refused)
    assert capfd.readouterr() == ("", "")


def test_an_answer_without_vectors_is_one_line(provider: Provider) -> None:
    provider.failure = (200, "{}")
    with pytest.raises(KnowledgeError, match="gave 0 vectors for 1 texts"):
        embedder(provider.url)


def test_a_missing_key_and_an_unknown_provider_are_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "COHERE_API_KEY", "CO_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(KnowledgeError, match="credentials") as missing:
        embedder(GONE)
    one_line(missing)
    with pytest.raises(KnowledgeError, match="COHERE_API_KEY") as missing:
        reranker("", "cohere/m").scores("q", ["a"])
    one_line(missing)
    for ask in (lambda: embedder(GONE, "nobody/m"), lambda: reranker(GONE, "nobody/m").scores("q", ["a"])):
        with pytest.raises(KnowledgeError, match="model=nobody/m") as unknown:
            ask()
        one_line(unknown)


def test_litellm_is_loaded_quietly(provider: Provider) -> None:
    """No advice on standard output, no addresses in anybody's log."""
    embedder(provider.url)
    import litellm

    assert litellm.suppress_debug_info is True
    assert not logging.getLogger("httpx").isEnabledFor(logging.INFO)


def test_what_is_remembered_is_not_embedded_again(
    provider: Provider, notes: Path, settings: Callable[..., KnowledgeConfig]
) -> None:
    litellm = options(provider.url, "openai/m")
    config = settings(
        corpus=str(notes), embedder="litellm", cover=0.8, options={**settings().options, "litellm": litellm}
    )
    plain, remembering = open_searcher(config), open_searcher(config, remember=True)
    queries = ["kick the door, a newt", "read the sign, a newt", "kick the door, a newt"]
    found = [plain.search([query], 3) for query in queries]
    provider.asked.clear()
    assert [remembering.search([query], 3) for query in queries] == found
    assert [asked["input"] for asked in provider.asked] == [
        ["kick the door, a newt", "kick the door", "a newt"],
        ["read the sign, a newt", "read the sign"],
    ]
