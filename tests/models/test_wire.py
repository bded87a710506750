"""What the provider receives, as recorded by the server, and what the reply contains."""

import asyncio
import base64
import json

import pytest

from balrog_rag.config.compose import compose
from balrog_rag.contracts.data import Message, Request, Usage
from balrog_rag.contracts.errors import ConfigError, ModelRefused
from balrog_rag.models import build, ollama, openai, prompt_limit, wire
from balrog_rag.models.serving.testserver import TestServer
from tests.models.support import model_config, question

PNG = b"\x89PNG\r\n\x1a\n not really"


def sent(request, option="vllm", **changes):
    """The body and headers of one call, and its reply."""

    async def run():
        async with TestServer(tokens=(100, 10, 40)) as server:
            model = build(
                model_config(option, **{"base_url": server.url, "api_key_env": "TEST_KEY", **changes})
            )
            reply = await model.complete(request)
            await model.close()
            return server.calls[0].json, server.calls[0].headers, reply

    return asyncio.run(run())


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("TEST_KEY", "test-key-0123456789")


def test_settings_reach_the_provider_and_unset_ones_do_not():
    body, headers, _ = sent(
        question(),
        temperature=0.5,
        max_tokens=77,
        stop=["<|END|>"],
        seed=5,
        extra_headers={"x-lab": "red"},
        extra_body={"top_k": 4},
    )
    assert body["temperature"] == 0.5
    assert body["max_tokens"] == 77
    assert body["stop"] == ["<|END|>"]
    assert body["seed"] == 5
    assert body["top_k"] == 4
    assert headers["x-lab"] == "red"
    assert headers["authorization"] == "Bearer test-key-0123456789"
    plain, _, _ = sent(question())
    assert set(plain) == {"model", "messages", "max_tokens"}


@pytest.mark.parametrize("option", ["openai", "vllm", "deepseek", "xai", "openrouter"])
def test_every_openai_compatible_preset_can_be_pointed_at_another_address(option):
    body, _, reply = sent(question(), option)
    assert body["messages"][-1]["content"].startswith("Turn 0")
    assert reply.text.startswith("<|ACTION|>")
    assert reply.usage.input == 100
    assert reply.usage.cached == 40


def test_a_setting_that_the_model_does_not_take_is_one_line():
    with pytest.raises(ModelRefused, match="does not support parameters") as caught:
        sent(question(), "xai", reasoning_effort="low")
    assert "drop_params" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_reasoning_effort_is_sent():
    body, _, _ = sent(question(), "openai", reasoning_effort="low")
    assert body["reasoning_effort"] == "low"


def test_pictures_go_as_png_data_addresses():
    request = Request((Message("system", "You play."), Message("user", "north: go\nLook.", images=(PNG,))))
    body, _, _ = sent(request, "openai")
    text, picture = body["messages"][-1]["content"]
    assert text == {"type": "text", "text": "north: go\nLook."}
    assert picture["image_url"]["url"] == "data:image/png;base64," + base64.b64encode(PNG).decode()


def test_roles_are_fused_only_where_wanted():
    turns = (Message("system", "s"), Message("user", "a"), Message("user", "b"), Message("assistant", "c"))
    assert [m["role"] for m in wire.outgoing(turns, fuse=True, mark=False)] == ["system", "user", "assistant"]
    assert wire.outgoing(turns, fuse=True, mark=False)[1]["content"] == "a\n\nb"
    assert len(wire.outgoing(turns, fuse=False, mark=False)) == 4


def test_the_stable_head_is_marked_at_most_four_times_and_only_for_models_that_want_it():
    turns = tuple(Message("user", str(n), stable=n < 6) for n in range(8))
    marked = [isinstance(m["content"], list) for m in wire.outgoing(turns, fuse=False, mark=True)]
    assert marked == [False, False, True, True, True, True, False, False]
    body, _, _ = sent(Request(turns), "openai")
    assert all(isinstance(message["content"], str) for message in body["messages"])


def test_anthropic_gets_its_cache_mark():
    litellm = pytest.importorskip("litellm")
    turns = wire.outgoing(question().messages, fuse=False, mark=True)
    config = litellm.AnthropicConfig()
    body = config.transform_request("claude-haiku-4-5", turns, {"max_tokens": 10}, {}, {})
    assert body["system"][0]["cache_control"] == {"type": "ephemeral"}


def test_a_price_of_the_configuration_wins_over_the_table():
    _, _, by_table = sent(question(), "openai", name="openai/gpt-4o-mini")
    assert by_table.cost == pytest.approx((60 * 0.15 + 40 * 0.075 + 10 * 0.6) / 1e6)
    _, _, by_config = sent(
        question(), "openai", name="openai/gpt-4o-mini", price={"input": 1, "output": 2, "cached": 0}
    )
    assert by_config.cost == pytest.approx((60 * 1 + 10 * 2) / 1e6)


@pytest.mark.parametrize(
    ("price", "cost"),
    [
        ({"input": 1}, 60 * 1 + 40 * 0.075 + 10 * 0.6),
        ({"output": 2}, 60 * 0.15 + 40 * 0.075 + 10 * 2),
        ({"cached": 5}, 60 * 0.15 + 40 * 5 + 10 * 0.6),
        ({"input": 0, "output": 0, "cached": 0}, 0),
    ],
    ids=str,
)
def test_a_single_price_of_the_configuration_stands_beside_the_tables_others(price, cost):
    _, _, reply = sent(question(), "openai", name="openai/gpt-4o-mini", price=price)
    assert reply.cost == pytest.approx(cost / 1e6)


@pytest.mark.parametrize("key", [None, "sk-proj-0123456789abcdefghij"])
def test_notes_say_which_price_and_which_key_are_missing(monkeypatch, key):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    if key:
        monkeypatch.setenv("OPENAI_API_KEY", key)

    async def run():
        model = build(model_config("openai", name="openai/nobody-knows-me", price={"input": 1}))
        await model.warm()
        await model.close()
        return model.notes

    *others, price = asyncio.run(run())
    assert price.endswith("set model.price.output")
    wanted = "API key missing for openai/nobody-knows-me: set OPENAI_API_KEY in the environment or .env"
    assert others == ([] if key else [wanted])


@pytest.mark.parametrize(
    ("claimed", "usage"),
    [((100, 10, 400), Usage(100, 10, 100)), ((-5, 10, 2), Usage(0, 10, 0)), ((5, -10, -2), Usage(5, 0, 0))],
)
def test_a_provider_cannot_give_money_back(claimed, usage):
    async def run():
        async with TestServer(tokens=claimed) as server:
            price = {"input": 1, "output": 1, "cached": 0.5}
            model = build(model_config("vllm", base_url=server.url, price=price))
            reply = await model.complete(question())
            await model.close()
            return reply

    reply = asyncio.run(run())
    assert reply.usage == usage
    assert reply.cost >= 0


def test_an_unknown_price_is_said_and_not_guessed():
    async def run():
        async with TestServer() as server:
            model = build(model_config("openai", name="openai/nobody-knows-me", base_url=server.url))
            reply = await model.complete(question())
            await model.close()
            return reply.cost, model.notes

    cost, notes = asyncio.run(run())
    assert cost is None
    assert len(notes) == 1
    assert "model.price" in notes[0]


def test_a_missing_key_is_one_line_before_anything_is_asked(monkeypatch):
    monkeypatch.delenv("TEST_KEY")
    with pytest.raises(ConfigError, match="TEST_KEY"):
        sent(question())


@pytest.mark.parametrize(
    ("option", "changes", "cap", "limit"),
    [
        ("openai", {"context": 1000, "max_tokens": 300}, None, 700),
        ("openai", {"context": 1000, "max_tokens": 300}, 500, 500),
        ("openai", {"name": "openai/gpt-4o-mini", "max_tokens": 8000}, None, 120_000),
        ("vllm", {"name": "hosted_vllm/unknown"}, None, None),
        ("vllm", {"name": "hosted_vllm/unknown"}, 900, 900),
        ("scripted", {"context": None}, None, None),
    ],
)
def test_room_for_the_prompt(option, changes, cap, limit):
    assert prompt_limit(model_config(option, **changes), cap) == limit


def test_a_longest_answer_that_leaves_no_room_is_refused():
    with pytest.raises(ConfigError, match="max_tokens"):
        prompt_limit(model_config("openai", context=1000, max_tokens=1000), None)


@pytest.mark.parametrize(
    "message",
    [
        {"content": "north", "reasoning_content": "I look around."},
        {"content": "north", "reasoning": "I look around."},
        {"content": "<think>I look\naround.</think>\n\nnorth"},
        {"content": "<thinking></thinking>north "},
        {"content": "north"},
    ],
)
def test_an_answer_is_sent_back_as_the_provider_returned_it(message):
    body = json.dumps({"choices": [{"message": message}]}).encode()
    reply = asyncio.run(openai.read(body, question().messages)).reply
    assert "look" not in reply.text
    thought = reply.reasoning if reply.reasoning_in else ""
    said = Message("assistant", reply.text, reasoning=thought, reasoning_in=reply.reasoning_in)
    (turn,) = wire.outgoing([said], fuse=False, mark=False)
    assert turn == {"role": "assistant", **message}


def test_ollamas_thinking_is_sent_back_as_thinking():
    body = json.dumps({"message": {"content": "north", "thinking": "I look."}}).encode()
    reply = asyncio.run(ollama.read(body, question().messages)).reply
    said = Message("assistant", reply.text, reasoning=reply.reasoning, reasoning_in=reply.reasoning_in)
    (turn,) = ollama.question([said], None, compose(["model=ollama"]).model)["messages"]
    assert turn == {"role": "assistant", "content": "north", "thinking": "I look."}
