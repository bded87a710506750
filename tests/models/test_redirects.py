"""A server that redirects calls to another one: what that one receives."""

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from balrog_rag.contracts.data import Reply
from balrog_rag.contracts.errors import ModelError
from balrog_rag.models import build
from balrog_rag.util import secrets
from tests.models.support import model_config, question

KEY, HEADER = "canary-key-0123456789", "canary-header-0123456789"
CHAT = {
    "model": "there",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "north"}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    "data": [{"object": "embedding", "index": 0, "embedding": [1.0, 0.0]}],
}


class Server(ThreadingHTTPServer):
    """Answers every call, or redirects it to the server at `there`."""

    def __init__(self, status: int = 200, there: str = "") -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.status, self.there = status, there
        self.heard: list[str] = []
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("content-length", 0)))
        self.server.heard.append(f"{self.path}\n{self.headers}")
        body = json.dumps(CHAT).encode()
        self.send_response(self.server.status)
        if self.server.there:
            self.send_header("location", self.server.there + self.path)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:
        """Log nothing."""


@pytest.fixture
def other() -> Iterator[Server]:
    with Server() as server:
        yield server
        server.shutdown()


@pytest.fixture(params=[307, 308])
def first(request: pytest.FixtureRequest, other: Server, monkeypatch) -> Iterator[Server]:
    for name in ("CANARY_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "OPENAI_API_KEY", "AZURE_API_KEY"):
        monkeypatch.setenv(name, KEY)
    monkeypatch.setenv("AZURE_API_VERSION", "2024-06-01")
    monkeypatch.setenv("CANARY_HEADER", HEADER)
    secrets.known_secrets.cache_clear()
    with Server(request.param, f"http://127.0.0.1:{other.server_port}") as server:
        yield server
        server.shutdown()


def asked(option: str, server: Server) -> Reply | str:
    """The answer of such a model at this server, or the failure."""
    headers = {"authorization-x": "env:CANARY_HEADER", "x-team": "env:CANARY_HEADER"}
    config = model_config(
        option,
        base_url=f"http://127.0.0.1:{server.server_port}/v1",
        extra_headers=headers,
        retry={"attempts": 1},
        **({"api_key_env": "CANARY_KEY", "name": "hosted_vllm/test"} if option == "vllm" else {}),
        **({"name": "openai/test"} if option == "openai" else {}),
    )

    async def ask() -> Reply:
        model = build(config)
        try:
            return await model.complete(question())
        finally:
            await model.close()

    try:
        return asyncio.run(ask())
    except ModelError as error:
        return str(error)


@pytest.mark.parametrize("option", ["vllm", "openai", "anthropic", "gemini", "deepseek"])
def test_another_server_gets_no_key_and_no_header(option: str, first: Server, other: Server) -> None:
    answer = asked(option, first)
    assert len(first.heard) >= 1
    assert "canary" in first.heard[0]
    assert len(other.heard) == 1
    assert "canary" not in other.heard[0].lower()
    if option in ("vllm", "openai"):
        assert isinstance(answer, Reply)
        assert answer.text == "north"


def test_the_same_server_gets_them_again(other: Server, first: Server) -> None:
    first.there = f"http://127.0.0.1:{first.server_port}"
    asked("vllm", first)
    assert len(first.heard) > 1
    assert all(KEY in heard and HEADER in heard for heard in first.heard)


@pytest.mark.parametrize("model", ["openai/test", "azure/test", "gemini/test"])
def test_embedders_and_what_lies_under_litellm_keep_to_it_too(
    model: str, first: Server, other: Server
) -> None:
    from balrog_rag.knowledge import provider

    litellm = provider.litellm()
    base = f"http://127.0.0.1:{first.server_port}/v1"
    with suppress(Exception):  # the answer is one provider's, and not every other's
        litellm.embedding(model=model, input=["newt"], api_base=base, timeout=10, num_retries=0)
    assert "canary" in first.heard[0]
    assert len(other.heard) == 1
    assert "canary" not in other.heard[0].lower()
