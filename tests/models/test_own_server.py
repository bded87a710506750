"""Our own client and LiteLLM's with the same server: the same requests and the same results."""

import asyncio
import json
import math
import socket
import ssl
import threading
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import product
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from balrog_rag.contracts.data import Message, Reply, Request, Usage
from balrog_rag.contracts.errors import ConfigError, ModelRefused, ModelUnavailable
from balrog_rag.models import build, calls, table
from balrog_rag.models.failures import FailedCall, Failure, Kind
from balrog_rag.models.own_server import OwnServer
from balrog_rag.models.posting import proxy_for
from balrog_rag.models.prices import Answer, Card
from balrog_rag.models.serving.faults import FAULTS
from balrog_rag.models.serving.http import Listener
from balrog_rag.models.serving.testserver import TestServer
from balrog_rag.models.through_litellm import LiteLLMCall
from balrog_rag.models.wire import LONGEST_ANSWER
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
    "OpenAI's": {"name": "openai/gpt-4o-mini", "max_tokens": 99},
    "OpenAI's that reasons": {"name": "openai/gpt-5.4-mini", "max_tokens": 99},
    "no bound": {"max_tokens": None},
}
UNLIKE = {"content-length", "connection", "host", "user-agent", "accept", "accept-encoding"}


async def answered(call, messages):
    """The result of one attempt: an answer, or the failure."""
    try:
        return await call(messages)
    except FailedCall as failed:
        return failed.failure


def both(messages, **changes):
    """What the server received from each client, and what each read of its answer."""

    async def run():
        async with TestServer(tokens=(100, 10, 40)) as server:
            config = model_config("vllm", base_url=server.url, **changes)
            read = []
            for call in (OwnServer(config), LiteLLMCall(config)):
                call.open()
                read.append((await call(messages)).reply)
                await call.close()
            return list(server.calls), read

    return asyncio.run(run())


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("TEST_KEY", "test-key-0123456789")


@pytest.mark.parametrize("messages", [question().messages, PICTURE, ODD], ids=["text", "picture", "odd"])
@pytest.mark.parametrize("changes", SETTINGS.values(), ids=SETTINGS)
def test_both_ways_send_and_read_the_same(changes, messages):
    (one, other), (reply, same) = both(messages, **changes)
    assert one.json == other.json
    if "api_key_env" in changes:  # LiteLLM makes up a key where there is none
        assert {name: one.headers[name] for name in one.headers.keys() - UNLIKE} == {
            name: other.headers[name] for name in other.headers.keys() - UNLIKE
        }
    assert one.headers["content-type"] == "application/json"
    assert reply == same
    assert reply.usage.cached == 40


def test_content_is_sent_as_a_list_of_parts_where_wanted():
    """As BALROG's client sends it; joined messages keep a part each."""
    turns = (*PICTURE, Message("user", ""), Message("assistant", "north"))

    def contents(**changes):
        (call, through_litellm), _ = both(turns, **changes)
        assert through_litellm.json["messages"][:-1] == call.json["messages"][:-1]  # it turns answers to text
        return [message["content"] for message in call.json["messages"]]

    def part(text):
        return {"type": "text", "text": text}

    system, user, picture = part("You play."), part("north: go\nLook."), contents()[1][1]
    assert picture["type"] == "image_url"
    assert contents() == ["You play.", [user, picture], "", "north"]
    assert contents(content="parts") == [[system], [user, picture], [part("")], [part("north")]]
    joined = contents(content="parts", fuse_roles=True)
    assert joined == [[system], [user, picture, part("")], [part("north")]]


async def outcomes(url, asked=None, patience=120, **changes):
    """The result of one attempt with each client."""
    config = model_config("vllm", base_url=url, **changes)
    seen = []
    for call in (OwnServer(config), LiteLLMCall(config)):
        call.open()
        try:
            async with asyncio.timeout(patience):
                seen.append(await answered(call, (asked or question()).messages))
        except TimeoutError:
            seen.append(TimeoutError)
        await call.close()
    return seen


def gist(outcome):
    """The essence of a result, without the words of an error."""
    if isinstance(outcome, Failure):
        return outcome.kind, outcome.status, outcome.retry_after
    # LiteLLM sorts the fields of what it keeps of a tool call.
    return msgspec.structs.replace(outcome.reply, native="") if isinstance(outcome, Answer) else outcome


@pytest.mark.parametrize("fault", FAULTS)
def test_both_ways_make_the_same_of_every_fault(fault):
    patience = 1 if fault in ("hang", "drip") else 120

    async def run():
        async with TestServer(faults=[fault], fault_times=-1, tokens=(100, 10, 40)) as server:
            return await outcomes(server.url, patience=patience)

    one, other = asyncio.run(run())
    if fault == "huge":  # which LiteLLM is not given
        assert other.kind is Kind.BROKEN
        assert (len(one.reply.text), one.reply.finish) == (LONGEST_ANSWER, "length")
        return
    assert gist(one) == gist(other)
    if isinstance(one, Failure):
        assert one.text
        assert "\n" not in one.text


@contextmanager
def deaf():
    """The address of a machine that accepts no connection: its queue is full."""
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
        assert gist(one) == gist(other)
        assert one.kind is Kind.NETWORK
        assert words in str(one)
        assert "HTTP" not in str(one).replace("http", "")


@pytest.mark.parametrize(
    "changes",
    [{"extra_headers": {"x-lab": "red\nblue"}}, {"label": "x" * 70}],
    ids=["a header of two lines", "no name of a host"],
)
def test_both_ways_refuse_what_cannot_be_sent(changes):
    label = changes.pop("label", "")

    async def run():
        async with TestServer() as server:
            return await outcomes(f"http://{label}/v1" if label else server.url, **changes), server.counts

    (one, other), counts = asyncio.run(run())
    assert gist(one) == gist(other)
    assert one.kind is Kind.UNSENT
    assert one.text
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
    assert gist(one) == gist(other)
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
    assert gist(one) == gist(other)
    assert "é è" in one.text


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_followed_where_it_leaves_the_call_a_call(status):
    async def run():
        async with TestServer() as server:

            async def move(request, connection):
                connection.send(status, b"", {"location": server.url + "/chat/completions"})

            listener = Listener(move)
            port = await listener.open("127.0.0.1", 0)
            seen = await outcomes(f"http://127.0.0.1:{port}/v1")
            await listener.close()
            return seen, server.url

    (one, other), url = asyncio.run(run())
    assert isinstance(one, Answer) == isinstance(other, Answer) == (status in (307, 308))
    if isinstance(one, Failure):
        assert one.kind is Kind.MODEL
        assert f"the address has moved to {url}" in one.text


@pytest.mark.parametrize(
    ("location", "words"),
    [
        ("", "an unnamed place"),
        ("/v1/chat/completions", "too many redirects"),
        ("file:///etc/passwd", "not a server"),
    ],
)
def test_a_redirect_that_leads_nowhere_is_one_line(location, words):
    async def move(request, connection):
        connection.send(307, b"", {"location": location} if location else None)

    async def run():
        listener = Listener(move)
        port = await listener.open("127.0.0.1", 0)
        one, _ = await outcomes(f"http://127.0.0.1:{port}/v1")
        await listener.close()
        return one

    failure = asyncio.run(run())
    assert failure.kind is Kind.MODEL
    assert words in failure.text


class Forgetful:
    """A server that closes a connection when it is reused, or every connection at once."""

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
    ("option", "changes", "own"),
    [
        ("vllm", {}, True),
        ("vllm", {"base_url": "https://127.0.0.1:9/v1"}, True),
        ("vllm", {"name": "hosted_vllm/openai/gpt-oss-20b"}, True),
        ("ollama", {}, True),
        ("openai", {}, True),
        ("openai", {"name": "openai/gpt-5-codex"}, True),
        ("openai", {"name": "openai/responses/gpt-5.4"}, True),
        ("anthropic", {}, True),
        ("openai", {"name": "mistral/mistral-small-latest"}, False),
        ("deepseek", {"base_url": "http://127.0.0.1:9/v1"}, False),
        ("openrouter", {}, False),
    ],
    ids=lambda value: str(value)[:50],
)
def test_which_models_are_asked_without_litellm(option, changes, own):
    assert isinstance(calls.call_of(model_config(option, **changes)), OwnServer) == own


def test_an_answer_in_pieces_is_refused():
    with pytest.raises(ConfigError, match=r"extra_body\.stream"):
        build(model_config("vllm", extra_body={"stream": True}))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"extra_body": {"top_k": math.nan}}, "model.extra_body"),
        ({"thinking_budget": 2000}, "model.thinking_budget.*model.reasoning_effort"),
    ],
    ids=["no JSON", "counted thinking"],
)
def test_what_no_such_server_takes_is_refused_before_any_call(changes, words):
    with pytest.raises(ConfigError, match=words):
        build(model_config("vllm", **changes))


@pytest.mark.parametrize("variable", ["http_proxy", "all_proxy", "ALL_PROXY"])
def test_a_proxy_is_not_passed_by(variable, monkeypatch):
    url = "http://192.0.2.1:8000/v1"
    assert proxy_for(url) is None
    monkeypatch.setenv(variable, "http://127.0.0.1:9")
    assert proxy_for(url) == "http://127.0.0.1:9"
    monkeypatch.setenv("no_proxy", "192.0.2.1")
    assert proxy_for(url) is None


def test_a_call_goes_through_the_proxy(monkeypatch):
    targets = []

    async def relay(request, connection):
        targets.append(request.target)
        connection.send(503, b"no")

    async def run():
        listener = Listener(relay)
        port = await listener.open("127.0.0.1", 0)
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{port}")
        call = OwnServer(model_config("vllm", base_url="http://192.0.2.1:8000/v1"))
        await answered(call, question().messages)
        await call.close()
        await listener.close()

    asyncio.run(run())
    assert targets == ["http://192.0.2.1:8000/v1/chat/completions"]


def openais_chat_models():
    return [
        name
        for name in table._table()
        if (entry := table.line(name)).get("litellm_provider") == "openai"
        and entry.get("mode") == "chat"
        and "input_cost_per_token" in entry
    ]


def test_a_call_costs_what_litellm_says_it_costs():
    """Of every chat model of OpenAI's: prompts short and long, from the cache and into it, at any tier."""
    litellm = litellm_loading.load()
    usages = [(1000, 100, 0, 0), (1000, 100, 400, 0), (1000, 100, 400, 300), (300_000, 5000, 100_000, 50_000)]
    different = []
    for name in openais_chat_models():
        card = Card.of(model_config("openai", name=f"openai/{name}"), table.openai_line(name))
        for (taken, given, cached, written), tier in product(usages, ("", "flex", "priority")):
            counted = litellm.Usage(
                prompt_tokens=taken,
                completion_tokens=given,
                total_tokens=taken + given,
                prompt_tokens_details={"cached_tokens": cached, "cache_write_tokens": written},
            )
            theirs = litellm.cost_per_token(
                model=name, custom_llm_provider="openai", usage_object=counted, service_tier=tier or None
            )
            reply = Reply("", usage=Usage(taken, given, cached))
            ours = card.cost(Answer(reply, written=written, tier=tier))
            if ours != pytest.approx(sum(theirs), rel=1e-9):
                different.append((name, taken, cached, written, tier, ours, sum(theirs)))
    assert different == []
    assert len(openais_chat_models()) > 50


def test_a_tuned_model_is_priced_as_such():
    line = table.openai_line("ft:gpt-4o-mini-2024-07-18:my-lab::abc123")
    assert line["input_cost_per_token"] == table.line("ft:gpt-4o-mini-2024-07-18")["input_cost_per_token"]
    assert table.openai_line("nobody-knows-me") == {}


CERTIFICATE = Path(__file__).parents[1] / "data" / "tls"


def test_a_certificate_that_nobody_vouches_for_is_one_line_and_not_asked_again(monkeypatch):
    async def serve(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        body = b'{"choices": [{"message": {"content": "north"}}]}'
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        await writer.drain()
        writer.close()

    async def ask():
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(CERTIFICATE / "certificate.pem", CERTIFICATE / "key.pem")
        listening = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)
        port = listening.sockets[0].getsockname()[1]
        model = build(model_config("vllm", base_url=f"https://127.0.0.1:{port}/v1"))
        try:
            return await model.complete(question())
        finally:
            await model.close()
            listening.close()

    with pytest.raises(ModelRefused, match=r"cannot be sent: .*certificate") as caught:
        asyncio.run(ask())
    assert "\n" not in str(caught.value)
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE / "certificate.pem"))
    assert asyncio.run(ask()).text == "north"


@contextmanager
def ollama(**message):
    """A server that speaks Ollama's own protocol, in a thread, since LiteLLM asks it synchronously."""
    said = {
        "model": "llama3.2",
        "message": {"role": "assistant", "content": "north", **message},
        "done": True,
    }
    said |= {"done_reason": "length", "prompt_eval_count": 120, "eval_count": 7}

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            known = self.path == "/api/chat" and body["model"] != "missing"
            if self.path == "/api/chat":
                server.bodies.append(body)
            answer = said if known else {"error": "model 'missing' not found"}
            self.send_response(200 if known else 404)
            self.end_headers()
            self.wfile.write(json.dumps(answer).encode())

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.bodies = []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


def asked_of_ollama(server, messages, ways=(OwnServer, LiteLLMCall), path="", **changes):
    async def run():
        config = model_config("ollama", base_url=f"http://127.0.0.1:{server.server_port}{path}", **changes)
        seen = []
        for way in ways:
            call = way(config)
            call.open()
            seen.append(await answered(call, messages))
            await call.close()
        return seen

    return asyncio.run(run())


@pytest.mark.parametrize("messages", [question().messages, PICTURE, ODD], ids=["text", "picture", "odd"])
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"temperature": 0.5, "max_tokens": 77, "stop": ["<|END|>"], "seed": 5},
        {"extra_body": {"num_ctx": 4096, "keep_alive": "5m", "top_k": 3}},
        {"reasoning_effort": "low"},
    ],
    ids=["plain", "sampling", "further", "effort"],
)
def test_ollama_is_asked_as_litellm_asks_it(changes, messages):
    with ollama(thinking="I look.") as server:
        one, other = asked_of_ollama(server, messages, **changes)
    ours, theirs = server.bodies
    for turn in theirs["messages"]:
        if not turn["images"]:
            del turn["images"]
    assert ours == theirs
    # The routes read reasoning from fields of different names, and would send it back in the same.
    same = {"model": "", "reasoning_in": ""}
    assert replace(one.reply, **same) == replace(other.reply, **same)
    assert (one.reply.text, one.reply.reasoning, one.reply.finish) == ("north", "I look.", "length")
    assert one.reply.usage == Usage(120, 7)


def test_gpt_oss_grades_its_thinking_where_others_switch_it():
    with ollama() as server:
        for name in ("gpt-oss:20b", "qwen3:8b"):
            named = {"name": f"ollama_chat/{name}", "reasoning_effort": "high"}
            asked_of_ollama(server, question().messages, ways=[OwnServer], **named)
    assert [body["think"] for body in server.bodies] == ["high", True]


def test_ollamas_address_may_be_the_one_for_openais_protocol():
    with ollama() as server:
        (answer,) = asked_of_ollama(server, question().messages, ways=[OwnServer], path="/v1/")
    assert answer.reply.text == "north"


def test_ollama_without_that_model_is_one_line():
    with ollama() as server:
        named = {"name": "ollama_chat/missing"}
        (failure,) = asked_of_ollama(server, question().messages, ways=[OwnServer], **named)
    assert failure.kind is Kind.MODEL
    assert failure.text == '{"error": "model \'missing\' not found"}'
