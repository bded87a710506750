"""Every fault of a provider, with a real server on loopback: what is retried, and what is not."""

import asyncio

import msgspec
import pytest

from balrog_rag.contracts.data import Message, Request
from balrog_rag.contracts.errors import ConfigError, ContextTooLong, ModelRefused, ModelUnavailable
from balrog_rag.models import build
from balrog_rag.models.serving.faults import BIG
from balrog_rag.models.serving.http import Listener
from balrog_rag.models.serving.testserver import TestServer
from tests.models.support import model_config, question
from tests.support import PATIENCE

QUICK = {"attempts": 3, "seconds": 200, "first_wait": 0.01, "longest_wait": 0.05}
SLOW = {"attempts": 3, "seconds": 600, "first_wait": 100, "longest_wait": 100}
PRICE = {"input": 1.0, "output": 2.0, "cached": 0.5}
TOKENS = (1000, 100, 400)
COST = (600 * 1.0 + 400 * 0.5 + 100 * 2.0) / 1e6

AGAIN = [
    *("429", "429-retry-after", "500", "502", "503", "hang", "drip", "reset"),
    *("truncated", "wrong-json", "no-json", "invalid-utf8", "echo-500"),
]
ANSWERS = ["empty", "null", "refusal", "length", "big", "tool-call", "half-a-sign"]
NEVER = {
    "400": (ModelRefused, "refused"),
    "401": (ModelRefused, "key"),
    "402": (ModelRefused, "no credit left"),
    "403": (ModelRefused, "key"),
    "404": (ModelRefused, "no such model"),
    "context": (ContextTooLong, "too long"),
    "echo-401": (ModelRefused, "key"),
}


preset = "vllm"


@pytest.fixture(params=["vllm", "deepseek"], autouse=True)
def both_ways(request, monkeypatch):
    """Every fault meets both ways of calling: the client's own, and LiteLLM's."""
    monkeypatch.setenv("DEEPSEEK_API_KEY", "test-key-0123456789")
    monkeypatch.setattr(f"{__name__}.preset", request.param)


def client(server, **changes):
    settings = {
        "base_url": server.url,
        "retry": QUICK,
        "price": PRICE,
        "timeout": 120,
        "connect_timeout": 60,
    }
    return build(model_config(preset, **{**settings, **changes}))


def patience(fault):
    """Seconds that an attempt may take: short only if the fault is a missing answer."""
    return 1.0 if fault in ("hang", "drip") else 120


async def ask(server, *requests, **changes):
    model = client(server, **changes)
    try:
        await model.warm()
        return await asyncio.gather(*map(model.complete, requests))
    finally:
        await model.close()


@pytest.mark.parametrize("fault", AGAIN)
def test_a_passing_fault_costs_one_more_asking(fault):
    async def run():
        async with TestServer(faults=[fault], tokens=TOKENS) as server:
            (reply,) = await ask(server, question(), timeout=patience(fault))
            return reply, server.counts, server.answered

    reply, counts, answered = asyncio.run(run())
    assert reply.text.startswith("<|ACTION|>")
    assert reply.attempts == 2
    assert reply.cost == pytest.approx(COST)
    assert list(counts.values()) == [2]
    assert list(answered.values()) == [1]


@pytest.mark.parametrize("fault", AGAIN)
def test_a_lasting_fault_ends_within_its_bounds(fault):
    async def run():
        async with TestServer(faults=[fault], fault_times=-1) as server:
            with pytest.raises(ModelUnavailable) as caught:
                await ask(server, question(), timeout=patience(fault))
            return str(caught.value), server.counts

    text, counts = asyncio.run(run())
    assert list(counts.values()) == [QUICK["attempts"]]
    assert "after 3 attempts" in text
    assert "\n" not in text


@pytest.mark.parametrize("fault", ANSWERS)
def test_an_odd_answer_is_an_answer_with_its_cost(fault):
    async def run():
        async with TestServer(faults=[fault], fault_times=-1, tokens=TOKENS) as server:
            (reply,) = await ask(server, question())
            return reply, server.counts

    reply, counts = asyncio.run(run())
    assert list(counts.values()) == [1]
    assert reply.attempts == 1
    assert reply.cost == pytest.approx(COST)
    expected = {"length": "length", "refusal": "refusal", "tool-call": "tool_calls"}.get(fault, "stop")
    assert reply.finish == expected
    assert (len(reply.text) > BIG) == (fault == "big")
    assert msgspec.json.encode(reply)  # a journal can hold it
    assert (reply.text == "") == (fault in ("empty", "null", "refusal", "tool-call"))


@pytest.mark.parametrize("fault", NEVER)
def test_what_cannot_succeed_is_asked_once_and_said_in_one_line(fault):
    kind, words = NEVER[fault]

    async def run():
        async with TestServer(faults=[fault], fault_times=-1) as server:
            with pytest.raises(kind) as caught:
                await ask(server, question())
            return str(caught.value), server.counts

    text, counts = asyncio.run(run())
    assert list(counts.values()) == [1]
    assert words in text
    assert "\n" not in text
    assert "model.name" in text or "key" in text or "model" in text


def test_many_prompts_under_every_fault_are_each_answered_once():
    faults = [
        "429",
        "429-retry-after",
        "500",
        "502",
        "503",
        "reset",
        "truncated",
        "wrong-json",
        "invalid-utf8",
    ]

    async def run():
        async with TestServer(faults=faults, fault_rate=0.5, tokens=TOKENS) as server:
            replies = await ask(server, *map(question, range(200)))
            return replies, server.counts, server.answered

    replies, counts, answered = asyncio.run(run())
    assert all(count == 1 for count in answered.values())
    assert len(answered) == len(counts) == 200
    assert sum(reply.cost for reply in replies) == pytest.approx(200 * COST)
    assert sum(counts.values()) == sum(reply.attempts for reply in replies) > 200


def test_a_prompt_too_long_loses_its_oldest_turns_and_says_how_many():
    history = [
        Message("user" if n % 2 == 0 else "assistant", f"turn {n} " + "stone " * 50) for n in range(21)
    ]
    asked = Request((Message("system", "You play.\n\nnorth: go,\nsouth: go,\n", stable=True), *history))

    async def run():
        async with TestServer(script=["context", "context"]) as server:
            (reply,) = await ask(server, asked)
            return reply, [call.json["messages"] for call in server.calls]

    reply, sent = asyncio.run(run())
    assert reply.attempts == len(sent) == 3
    assert [len(messages) for messages in sent] == sorted({len(messages) for messages in sent}, reverse=True)
    assert reply.trimmed == len(sent[0]) - len(sent[-1]) > 0
    for messages in sent:
        assert messages[0] == sent[0][0]
        assert messages[-1] == sent[0][-1]
        assert messages[1]["role"] == "user"


def test_a_cut_prompt_gets_no_new_attempts():
    history = [Message("user", f"turn {n} " + "stone " * 50) for n in range(21)]
    asked = Request((Message("system", "You play.", stable=True), *history))

    async def run():
        async with TestServer(script=["500", "context", "500"]) as server:
            with pytest.raises(ModelUnavailable, match="after 3 attempts"):
                await ask(server, asked)
            return server.counts

    assert sum(asyncio.run(run()).values()) == QUICK["attempts"]


def test_no_time_is_slept_away_after_the_last_attempt():
    async def run():
        async with TestServer(faults=["500"], fault_times=-1) as server:
            loop = asyncio.get_running_loop()
            model = client(
                server, retry={"attempts": 1, "first_wait": 30, "longest_wait": 30, "seconds": 600}
            )
            await model.warm()
            begun = loop.time()
            with pytest.raises(ModelUnavailable):
                await asyncio.wait_for(model.complete(question()), PATIENCE)
            await model.close()
            return loop.time() - begun

    assert asyncio.run(run()) < 20


def test_waits_beyond_the_bound_on_total_time_are_not_begun():
    async def run():
        async with TestServer(faults=["429-retry-after"], fault_times=-1, retry_after=3600) as server:
            with pytest.raises(ModelUnavailable, match="rate limit"):
                await asyncio.wait_for(ask(server, question()), PATIENCE)
            return server.counts

    assert list(asyncio.run(run()).values()) == [1]


def test_an_empty_purse_is_no_rate_limit():
    async def run():
        from balrog_rag.models.serving import faults

        body = faults.error_body(
            "You exceeded your current quota", "insufficient_quota", "insufficient_quota"
        )

        async def quota(exchange):
            exchange.connection.send(429, body)

        faults.FAULTS["quota"] = quota
        try:
            async with TestServer(faults=["quota"], fault_times=-1) as server:
                with pytest.raises(ModelRefused, match="no credit"):
                    await ask(server, question())
                return server.counts
        finally:
            del faults.FAULTS["quota"]

    assert list(asyncio.run(run()).values()) == [1]


def test_a_rate_limit_lowers_the_concurrency_for_all_and_it_grows_back():
    async def run():
        async with TestServer(latency=0.01, script=["429"] * 8) as server:
            model = client(server, concurrency=16, retry={**QUICK, "attempts": 20})
            await model.warm()
            await asyncio.gather(*[model.complete(question(n)) for n in range(16)])
            low = model.pace.limit
            await asyncio.gather(*[model.complete(question(100 + n)) for n in range(300)])
            high = model.pace.limit
            await model.close()
            return low, high, server.most_in_flight

    low, high, most = asyncio.run(run())
    assert low < 16
    assert high > low
    assert most <= 16


def test_a_server_that_is_not_there_is_one_line():
    async def run():
        async with TestServer() as server:
            url = server.url
        with pytest.raises(ModelUnavailable) as caught:
            await ask(type("Gone", (), {"url": url})(), question())
        return str(caught.value)

    text = asyncio.run(run())
    assert "connection failed: Cannot connect to host 127.0.0.1" in text
    assert "HTTP 500" not in text
    assert "\n" not in text


def test_what_cannot_be_sent_is_tried_once():
    async def run():
        async with TestServer() as server:
            with pytest.raises(
                ModelRefused, match=r"cannot be sent.*check model\.base_url, model\.extra_headers"
            ):
                await asyncio.wait_for(
                    ask(server, question(), extra_headers={"x-lab": "a\nb"}, retry=SLOW), 120
                )
            return server.counts

    assert not asyncio.run(run())


@pytest.mark.parametrize("address", ["127.0.0.1:9/v1", "http:///v1", "http://h:99999/v1", "ftp://h/v1"])
def test_an_address_that_is_none_is_refused_before_any_call(address):
    with pytest.raises(ConfigError, match=r"model\.base_url=.*not a server address"):
        build(model_config(preset, base_url=address))


@pytest.mark.parametrize("when", ["Fri, 31 Dec 99999 23:59:59 GMT", "soon"])
def test_a_retry_after_that_says_nothing_spoils_nothing(when):
    class Server(TestServer):
        async def _complete(self, request, connection, shape):
            send = connection.send
            connection.send = lambda status, body, *_: send(status, body, {"retry-after": when})
            await super()._complete(request, connection, shape)

    async def run():
        async with Server(script=["", "500"]) as server:
            return await ask(server, question(), question(1)), server.counts

    replies, counts = asyncio.run(run())
    assert sorted(reply.attempts for reply in replies) == [1, 2]
    assert sum(counts.values()) == 3


def test_a_retry_after_of_nothing_is_no_reason_to_hurry():
    async def run():
        retry = {"attempts": 3, "first_wait": 0.2, "longest_wait": 0.4}
        async with TestServer(faults=["429-retry-after"], fault_times=2, retry_after=0) as server:
            model = client(server, retry=retry)
            await model.warm()
            begun = asyncio.get_running_loop().time()
            reply = await model.complete(question())
            await model.close()
            return reply.attempts, asyncio.get_running_loop().time() - begun

    attempts, seconds = asyncio.run(run())
    assert attempts == 3
    assert seconds >= 0.1 + 0.2


def test_what_keeps_a_model_from_answering_is_told_while_it_lasts():
    async def run():
        async with TestServer(faults=["503"], fault_times=2) as server:
            model = client(server, retry={"attempts": 3, "first_wait": 0.2, "longest_wait": 0.2})
            await model.warm()
            asking = asyncio.create_task(model.complete(question()))
            told = {model.trouble}
            while not asking.done():
                await asyncio.sleep(0.02)
                told.add(model.trouble)
            await model.close()
            return told, model.trouble

    told, afterwards = asyncio.run(run())
    assert afterwards == ""
    told.discard("")
    assert all("the server had an error (HTTP 503)" in said for said in told)
    assert sorted(said.rpartition("; ")[2] for said in told) == ["asked 1 of 3 times", "asked 2 of 3 times"]


def test_a_server_that_is_away_behind_a_redirect_is_asked_again():
    async def run():
        async with TestServer() as server:
            there = iter(["http://127.0.0.1:9/v1", server.url])

            async def move(request, connection):
                connection.send(307, b"", {"location": next(there) + "/chat/completions"})

            listener = Listener(move)
            port = await listener.open("127.0.0.1", 0)
            model = client(server, base_url=f"http://127.0.0.1:{port}/v1")
            reply = await model.complete(question())
            await model.close()
            await listener.close()
            return reply.attempts

    assert asyncio.run(run()) == 2


def test_a_retry_after_beyond_all_bounds_holds_no_other_call():
    async def run():
        async with TestServer(script=["429-retry-after"], retry_after=3600) as server:
            model = client(server)
            await model.warm()
            with pytest.raises(ModelUnavailable):
                await model.complete(question(0))
            reply = await asyncio.wait_for(model.complete(question(1)), PATIENCE)
            await model.close()
            return reply.attempts

    assert asyncio.run(run()) == 1
