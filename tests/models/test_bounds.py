"""Unbounded or invalid response bodies: reading is limited, and the result is an answer or a failure."""

import asyncio
import zlib

import msgspec
import pytest

from balrog_rag.contracts.data import Usage
from balrog_rag.models.calls import call_of
from balrog_rag.models.failures import LONGEST_TEXT, FailedCall, Kind
from balrog_rag.models.prices import Answer
from balrog_rag.models.wire import LONGEST_ANSWER
from balrog_rag.util import secrets
from tests.models.support import model_config, question
from tests.support import PATIENCE

MEGABYTE = 1 << 20
OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
WAYS = ["vllm", "deepseek"]


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("DEEPSEEK_API_KEY", "test-key-0123456789")


class Hostile:
    """A server that answers with these bytes, optionally repeating the last of them; counts what it sent."""

    def __init__(self, *parts, endless=False):
        self.parts, self.endless, self.sent, self.requests = parts, endless, 0, 0

    async def __call__(self, reader, writer):
        try:
            await reader.readuntil(b"\r\n\r\n")
            self.requests += 1
            for part in self.parts:
                await self._send(writer, part)
            while self.endless:
                await self._send(writer, self.parts[-1])
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _send(self, writer, part):
        writer.write(part)
        await writer.drain()
        self.sent += len(part)


def asked(server, way="vllm", **changes):
    """The result of one attempt."""

    async def run():
        listening = await asyncio.start_server(server, "127.0.0.1", 0)
        port = listening.sockets[0].getsockname()[1]
        call = call_of(model_config(way, base_url=f"http://127.0.0.1:{port}/v1", **changes))
        call.open()
        try:
            return await asyncio.wait_for(call(question().messages), PATIENCE)
        except FailedCall as failed:
            return failed.failure
        finally:
            await call.close()
            listening.close()

    return asyncio.run(run())


def whole(body, *headers):
    lines = b"".join(header + b"\r\n" for header in headers)
    return Hostile(OK + lines + b"Content-Length: %d\r\n\r\n" % len(body) + body)


def completion(content="north", **more):
    message = {"role": "assistant", "content": content, **more.pop("message", {})}
    return msgspec.json.encode({"choices": [{"message": message, "finish_reason": "stop"}], **more})


@pytest.mark.parametrize("way", WAYS)
def test_an_endless_body_is_read_to_its_bound(way):
    server = Hostile(OK + b"\r\n", b" " * 65536, endless=True)
    failure = asked(server, way)
    assert (failure.kind, failure.status) == (Kind.BROKEN, 200)
    assert "model.max_answer_bytes" in failure.text
    assert server.sent < 16 * MEGABYTE  # the bound, and what lies in sockets


@pytest.mark.parametrize("way", WAYS)
def test_an_endless_error_is_known_by_its_beginning(way):
    server = Hostile(b"HTTP/1.1 503 No\r\n\r\n", b"overloaded " * 6000, endless=True)
    failure = asked(server, way)
    assert (failure.kind, failure.status) == (Kind.SERVER, 503)
    assert "overloaded" in failure.text
    assert len(failure.text) <= LONGEST_TEXT + 4
    assert server.sent < 16 * MEGABYTE


@pytest.mark.parametrize("way", WAYS)
def test_a_body_that_was_packed_unasked_is_unpacked_to_its_bound(way):
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    bomb = packer.compress(b" " * (64 * MEGABYTE)) + packer.flush()
    failure = asked(whole(bomb, b"Content-Encoding: gzip"), way)
    assert (failure.kind, failure.status) == (Kind.BROKEN, 200)
    good = zlib.compressobj(9, zlib.DEFLATED, 31)
    packed = good.compress(completion()) + good.flush()
    assert asked(whole(packed, b"Content-Encoding: gzip"), way).reply.text == "north"


def test_other_packings_were_not_asked_for():
    failure = asked(whole(completion(), b"Content-Encoding: br"))
    assert (failure.kind, failure.status) == (Kind.BROKEN, 200)
    assert "br" in failure.text


def test_the_bound_is_a_setting():
    body = completion("x" * 5000)
    assert asked(whole(body), max_answer_bytes=4096).kind is Kind.BROKEN
    assert asked(whole(body), max_answer_bytes=8192).reply.text == "x" * 5000


@pytest.mark.parametrize(
    "body",
    [
        b" " * 3 * MEGABYTE,
        b"[" * 3 * MEGABYTE,
        b'{"choices": [' + b"{}," * MEGABYTE + b"{}]}",
        b'{"choices": [{"message": {"content": "x"}}], "more": [' + b"NaN," * MEGABYTE + b"1]}",
        b'{"choices": []}',
        b'{"choices": {}}',
        b'{"choices": [{"message": "north"}]}',
        b'{"error": {"message": "overloaded"}}',
        b"",
        b"null",
    ],
    ids=["spaces", "nested", "many", "no numbers", "none", "no list", "no message", "error", "empty", "null"],
)
def test_what_holds_no_completion_is_broken(body):
    failure = asked(whole(body))
    assert (failure.kind, failure.status) == (Kind.BROKEN, 200)
    assert "\n" not in failure.text
    assert len(failure.text) <= LONGEST_TEXT + 4


@pytest.mark.parametrize(
    "head",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: \xb2\r\n\r\nno",
        b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999999\r\n\r\nno",
        b"HTTP/1.1 \xb2\xb2\xb2 OK\r\n\r\n",
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"x-many: x\r\n" * 100_000 + b"\r\n",
    ],
    ids=["odd length", "long length", "odd status", "other protocol", "many headers"],
)
def test_what_is_no_http_is_asked_again(head):
    failure = asked(Hostile(head))
    assert failure.kind.again
    assert failure.text
    assert "\n" not in failure.text


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("count", ["1" + "0" * 30, "-5", "1e400", '"many"', "null", "[1]", "true", "12.5"])
def test_a_count_of_tokens_that_is_none_is_not_counted(count, way):
    body = completion(usage={"prompt_tokens": 0, "completion_tokens": 7, "total_tokens": 7})
    answer = asked(whole(body.replace(b'"prompt_tokens":0', b'"prompt_tokens":%s' % count.encode())), way)
    if isinstance(answer, Answer):
        msgspec.json.encode(answer.reply)  # a journal can hold it
        assert 0 <= answer.reply.usage.input < 1000
    else:  # LiteLLM takes no such answer
        assert (way, answer.kind) == ("deepseek", Kind.BROKEN)


def test_a_long_answer_is_cut_and_no_secret_in_it_stays():
    secret = "canary-0123456789-canary"
    secrets.remember(secret)
    text = "".join(f"{'x' * (place % 97)} {secret} " for place in range(8000))
    reply = asked(whole(completion(text, message={"reasoning_content": text}))).reply
    assert len(text) > LONGEST_ANSWER
    assert reply.finish == "length"
    for kept in (reply.text, reply.reasoning):
        assert "canary" not in kept
        assert kept.count("[redacted]") > 1000


@pytest.mark.parametrize(
    "hint",
    ["eyJaaaaaaaaa-", "a.a.a. key", "Bearer+", "://a.a.a.", "a://b:", "api_key=", 'password"', "-----BEGIN "],
)
def test_no_text_keeps_the_filter_of_secrets_busy_for_long(hint):
    """It takes minutes where a pattern reads on to the end from each of many beginnings."""
    assert asked(whole(completion(hint * (LONGEST_ANSWER // len(hint))))).reply.text


def test_what_servers_differ_in_is_read_alike():
    think = "<think>I look.</think>north"
    for message, text, reasoning in (
        ({"content": think}, "north", "I look."),
        ({"content": "north", "reasoning": "I look."}, "north", "I look."),
        ({"content": "north", "reasoning_content": "I look."}, "north", "I look."),
        ({"content": [{"type": "text", "text": "nor"}, {"type": "text", "text": "th"}]}, "north", ""),
        ({"content": [{"type": "image"}, "north", 3]}, "", ""),
        ({"content": 3}, "", ""),
    ):
        reply = asked(whole(completion(message=message))).reply
        assert (reply.text, reply.reasoning, reply.finish) == (text, reasoning, "stop")


def test_usage_is_read_in_full():
    usage = {
        "prompt_tokens": 100,
        "completion_tokens": 30,
        "prompt_tokens_details": {"cached_tokens": 40, "cache_write_tokens": 20},
        "completion_tokens_details": {"reasoning_tokens": 25},
    }
    answer = asked(whole(completion(usage=usage, service_tier="flex", model="m-1")))
    assert answer.reply.usage == Usage(100, 30, 40, 25)
    assert (answer.written, answer.tier, answer.reply.model) == (20, "flex", "m-1")


@pytest.mark.parametrize(
    "body", [b'{"choices": [{"message": 3}]}', b"[]", completion(usage={"prompt_tokens": "many"})]
)
def test_no_traceback_of_litellms_stands_in_an_error(body):
    failure = asked(whole(body), "deepseek")
    assert failure.kind is Kind.BROKEN
    assert failure.text
    assert not any(words in failure.text for words in ("Traceback", 'File "', "litellm/"))
