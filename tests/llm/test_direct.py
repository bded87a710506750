"""The direct call to an own server is LiteLLM's ordinary call but for its cost: same request, same reply."""

import asyncio

import pytest

from balrog_rag import litellm_loading
from balrog_rag.llm import calls, direct, settings, wire
from balrog_rag.models.testserver import TestServer
from balrog_rag.vocabulary import Message
from tests.llm.support import model_config, question

PNG = b"\x89PNG\r\n\x1a\n not really"
PICTURE = (Message("system", "You play."), Message("user", "north: go\nLook.", images=(PNG,)))
ODD = (Message("user", 'a\u2028b \u0000 \U0001f409 \\ "'), Message("assistant", ""), Message("user", "go"))
SETTINGS = {
    "plain": {},
    "sampling": {"temperature": 0.5, "max_tokens": 77, "stop": ["<|END|>"], "seed": 5},
    "keys": {"api_key_env": "TEST_KEY", "extra_headers": {"x-lab": "red"}},
    "body": {"extra_body": {"top_k": 4, "chat_template_kwargs": {"enable_thinking": False}}},
    "effort": {"reasoning_effort": "low"},
    "thinking": {"thinking_budget": 2000},
    "no bound": {"max_tokens": None},
}
UNLIKE = {"content-length", "user-agent", "accept", "accept-encoding", "connection", "host"}


def both(messages, **changes):
    """What the server saw of each way, and what each way read of its answer."""

    async def run():
        async with TestServer(tokens=(100, 10, 40)) as server:
            said = settings.of_config(model_config("vllm", base_url=server.url, **changes))
            litellm = litellm_loading.load()
            replies = []
            for call in (direct.prepare(litellm, said), calls.Ordinary(litellm, said)):
                replies.append(wire.incoming(await call(wire.outgoing(messages, fuse=False, mark=False)), ()))
                await call.close()
            return list(server.calls), replies

    return asyncio.run(run())


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("TEST_KEY", "test-key-0123456789")


@pytest.mark.parametrize("messages", [question().messages, PICTURE, ODD], ids=["text", "picture", "odd"])
@pytest.mark.parametrize("changes", SETTINGS.values(), ids=SETTINGS)
def test_both_ways_send_and_read_the_same(changes, messages):
    (one, other), (reply, same) = both(messages, **changes)
    assert one.json == other.json
    assert {name: one.headers[name] for name in one.headers.keys() - UNLIKE} == {
        name: other.headers[name] for name in other.headers.keys() - UNLIKE
    }
    assert one.headers["content-type"] == "application/json"
    assert reply == same
    assert reply.usage.cached == 40


@pytest.mark.parametrize(
    ("option", "changes"),
    [
        ("openai", {"base_url": "http://127.0.0.1:9/v1"}),
        ("vllm", {"base_url": "https://127.0.0.1:9/v1"}),
        ("vllm", {"extra_body": {"tools": 3}}),
    ],
    ids=["another provider", "TLS", "a setting that LiteLLM cannot take"],
)
def test_all_else_goes_the_ordinary_way(option, changes):
    said = settings.of_config(model_config(option, api_key_env="TEST_KEY", **changes))
    assert direct.prepare(litellm_loading.load(), said) is None


def test_a_proxy_is_not_passed_by(monkeypatch):
    said = settings.of_config(model_config("vllm", base_url="http://192.0.2.1/v1"))
    assert direct.prepare(litellm_loading.load(), said) is not None
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    assert direct.prepare(litellm_loading.load(), said) is None
    monkeypatch.setenv("no_proxy", "192.0.2.1")
    assert direct.prepare(litellm_loading.load(), said) is not None
