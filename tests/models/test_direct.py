"""The direct call to an own server is LiteLLM's ordinary call but for its cost: the same comes of it."""

import asyncio
import json
import math
import socket
from contextlib import ExitStack, contextmanager

import msgspec
import pytest
from msgspec.structs import replace

from balrog_rag.contracts.data import Message, Reply, Request
from balrog_rag.contracts.errors import ConfigError, ModelUnavailable
from balrog_rag.models import build, calls, direct, failures, settings, transport, wire
from balrog_rag.models.failures import Failure, Heard, Kind
from balrog_rag.models.serving.faults import FAULTS
from balrog_rag.models.serving.http import Listener
from balrog_rag.models.serving.testserver import TestServer
from balrog_rag.util import litellm_loading
from tests.models.support import model_config, question

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
UNLIKE = {"content-length", "connection", "host"}


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


def outcomes(url, asked=None, patience=20, **changes):
    """What becomes of one attempt each way: the reply, or the failure."""

    async def attempt(call):
        heard = Heard()
        transport.heard_now.set(heard)
        turns = wire.outgoing((asked or question()).messages, fuse=False, mark=False)
        try:
            async with asyncio.timeout(patience):
                return wire.incoming(await call(turns), ())
        except Exception as error:  # noqa: BLE001 - whatever comes of it is what is compared
            return failures.classify(error, heard)
        finally:
            await call.close()

    async def run():
        said = settings.of_config(model_config("vllm", base_url=url, **changes))
        litellm = litellm_loading.load()
        return [
            await attempt(call) for call in (direct.prepare(litellm, said), calls.Ordinary(litellm, said))
        ]

    return run()


@pytest.mark.parametrize("fault", FAULTS)
def test_both_ways_make_the_same_of_every_fault(fault):
    patience = 1 if fault in ("hang", "drip") else 20

    async def run():
        async with TestServer(faults=[fault], fault_times=-1, tokens=(100, 10, 40)) as server:
            return await outcomes(server.url, patience=patience)

    one, other = asyncio.run(run())
    if fault.startswith("echo"):  # the one that tells each header, in the order it came
        one, other = (replace(seen, text=seen.text[:30]) for seen in (one, other))
    assert one == other
    assert isinstance(one, Reply | Failure)


@contextmanager
def deaf():
    """The address of a machine that lets nobody in: its queue of connections is full."""
    with ExitStack() as stack:
        listening = stack.enter_context(socket.socket())
        listening.bind(("127.0.0.1", 0))
        listening.listen(0)
        for _ in range(4):
            caller = stack.enter_context(socket.socket())
            caller.setblocking(False)
            caller.connect_ex(listening.getsockname())
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/v1"


def test_both_ways_say_alike_why_no_connection_came_about():
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        nobody = f"http://127.0.0.1:{closed.getsockname()[1]}/v1"
        refused = asyncio.run(outcomes(nobody))
    nowhere = asyncio.run(outcomes("http://no-such-host.invalid/v1"))
    with deaf() as url:
        unanswered = asyncio.run(outcomes(url, connect_timeout=0.3))
    for (one, other), words in (
        (refused, "Connect call failed"),
        (nowhere, "no-such-host.invalid"),
        (unanswered, "Connection timeout to host"),
    ):
        assert one == other
        assert one.kind is Kind.NETWORK
        assert words in str(one)
        assert "HTTP" not in str(one).replace("http", "")


@pytest.mark.parametrize(
    "changes",
    [{"extra_headers": {"x-lab": "red\nblue"}}, {"userinfo": "me:canary-pass@"}, {"label": "x" * 70}],
    ids=["a header of two lines", "a name and a password", "no name of a host"],
)
def test_both_ways_refuse_what_cannot_be_sent(changes):
    userinfo, label = changes.pop("userinfo", ""), changes.pop("label", "127.0.0.1:9")

    async def run():
        async with TestServer() as server:
            place = server.url.removeprefix("http://") if label == "127.0.0.1:9" else f"{label}/v1"
            return await outcomes(f"http://{userinfo}{place}", **changes), server.counts

    (one, other), counts = asyncio.run(run())
    assert one == other
    assert one.kind is Kind.UNSENT
    assert one.text
    assert "canary" not in str(one)
    assert not counts


def test_half_a_sign_in_a_prompt_is_sent_as_the_ordinary_way_sends_it():
    bodies = []

    async def serve(request, connection):
        bodies.append(json.loads(request.body))
        connection.send(400, b"no")

    async def run():
        listener = Listener(serve)
        port = await listener.open("127.0.0.1", 0)
        asked = Request((Message("user", "look \ud83d here"),))
        one, other = await outcomes(f"http://127.0.0.1:{port}/v1", asked)
        await listener.close()
        return one, other

    one, other = asyncio.run(run())
    assert one == other
    assert bodies[0] == bodies[1]
    assert bodies[0]["messages"][0]["content"] == "look \ud83d here"


def test_an_answer_in_another_alphabet_is_read_alike():
    async def serve(request, connection):
        connection.send(400, "é è".encode("latin-1"), {"content-type": "text/plain; charset=latin-1"})

    async def run():
        listener = Listener(serve)
        port = await listener.open("127.0.0.1", 0)
        one, other = await outcomes(f"http://127.0.0.1:{port}/a%2Fb c/v1")
        await listener.close()
        return one, other

    one, other = asyncio.run(run())
    assert one == other
    assert "é è" in one.text


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_are_followed_as_the_ordinary_way_follows_them(status):
    async def run():
        async with TestServer() as server:

            async def move(request, connection):
                connection.send(status, b"", {"location": server.url + "/chat/completions"})

            listener = Listener(move)
            port = await listener.open("127.0.0.1", 0)
            said = settings.of_config(model_config("vllm", base_url=f"http://127.0.0.1:{port}/v1"))
            litellm = litellm_loading.load()
            seen = []
            for call in (calls.make(litellm, said), calls.Ordinary(litellm, said)):
                transport.heard_now.set(heard := Heard())
                turns = wire.outgoing(question().messages, fuse=False, mark=False)
                try:
                    seen.append(wire.incoming(await call(turns), ()))
                except Exception as error:  # noqa: BLE001 - whatever comes of it is what is compared
                    seen.append(failures.classify(error, heard))
                await call.close()
            await listener.close()
            return seen

    one, other = asyncio.run(run())
    assert one == other
    assert isinstance(one, Reply) == (status in (307, 308))


class Forgetful:
    """A server that closes a connection when it is used again, or every connection at once."""

    def __init__(self, every):
        self._every, self._known, self.requests = every, set(), 0

    async def __call__(self, request, connection):
        self.requests += 1
        if self._every or connection in self._known:
            connection.abort()
            return
        self._known.add(connection)
        message = {"role": "assistant", "content": "north"}
        body = {"id": "1", "object": "chat.completion", "created": 1, "model": "m"}
        body |= {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
        connection.send(200, msgspec.json.encode(body))


@pytest.mark.parametrize("every", [False, True], ids=["a kept connection", "every connection"])
def test_only_a_kept_connection_that_broke_is_replaced_without_an_attempt(every):
    async def run():
        server = Forgetful(every)
        listener = Listener(server)
        port = await listener.open("127.0.0.1", 0)
        config = model_config("vllm", base_url=f"http://127.0.0.1:{port}/v1", retry={"attempts": 1})
        model = build(config)
        results = [
            await asyncio.gather(model.complete(question(number)), return_exceptions=True)
            for number in range(3)
        ]
        await model.close()
        await listener.close()
        return [result for (result,) in results], server.requests

    results, requests = asyncio.run(run())
    if every:
        assert [type(result) for result in results] == [ModelUnavailable] * 3
        assert requests == 3
    else:
        assert [result.attempts for result in results] == [1, 1, 1]
        assert requests == 5


@pytest.mark.parametrize(
    ("option", "changes"),
    [
        ("openai", {"base_url": "http://127.0.0.1:9/v1"}),
        ("vllm", {"base_url": "https://127.0.0.1:9/v1"}),
        ("vllm", {"extra_body": {"tools": 3}}),
        ("vllm", {"extra_body": {"tools": []}}),
        ("vllm", {"extra_body": {"supports_system_message": False}}),
        ("vllm", {"extra_body": {"mock_response": "north"}}),
        ("vllm", {"extra_body": {"headers": {"x-lab": "red"}}}),
        ("vllm", {"extra_body": {"top_k": math.nan}}),
        ("vllm", {"extra_headers": {"x-lab": "r\u00f6d"}}),
    ],
    ids=lambda value: str(value)[:50],
)
def test_all_else_goes_the_ordinary_way(option, changes):
    said = settings.of_config(model_config(option, api_key_env="TEST_KEY", **changes))
    assert direct.prepare(litellm_loading.load(), said) is None


def test_an_answer_in_pieces_is_refused():
    with pytest.raises(ConfigError, match=r"extra_body\.stream"):
        settings.of_config(model_config("vllm", extra_body={"stream": True}))


@pytest.mark.parametrize("variable", ["http_proxy", "all_proxy", "ALL_PROXY"])
def test_a_proxy_is_not_passed_by(variable, monkeypatch):
    said = settings.of_config(model_config("vllm", base_url="http://192.0.2.1:8000/v1"))
    assert direct.prepare(litellm_loading.load(), said) is not None
    monkeypatch.setenv(variable, "http://127.0.0.1:9")
    assert direct.prepare(litellm_loading.load(), said) is None
    monkeypatch.setenv("no_proxy", "192.0.2.1:8000")  # LiteLLM looks for the host alone
    assert direct.prepare(litellm_loading.load(), said) is None
    monkeypatch.setenv("no_proxy", "192.0.2.1")
    assert direct.prepare(litellm_loading.load(), said) is not None
