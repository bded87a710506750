"""Models that need no provider: scripted, replayed, embedded; and the configurations of all."""

import asyncio
import random
import threading
from dataclasses import replace

import pytest

from balrog_rag.agents.prompts import source
from balrog_rag.config.compose import compose
from balrog_rag.config.schema import ModelConfig
from balrog_rag.contracts.data import AnswerFormat, Message, Reply, Request
from balrog_rag.contracts.errors import BalrogError, ConfigError, ModelRefused
from balrog_rag.episode.journal import Completion, Header, Start
from balrog_rag.episode.journal_writer import Writer
from balrog_rag.models import build, canned_answers
from balrog_rag.models.api_keys import VARIABLES, refuse_unanswerable
from balrog_rag.models.grammar import grammar
from balrog_rag.models.serving.testserver import TestServer
from balrog_rag.models.weights import weights
from balrog_rag.util import litellm_loading
from balrog_rag.util.paths import data
from tests.models.support import ACTIONS, ASK, model_config, question

FORMATS = {
    "<|ACTION|>{}<|END|>": AnswerFormat(ACTIONS, "<|ACTION|>", "<|END|>"),
    "ACTION: {}": AnswerFormat(ACTIONS, "ACTION: ", "", reasoning=True),
    "{}": AnswerFormat(ACTIONS),
}


def complete(model, *requests):
    async def run():
        try:
            return [await model.complete(request) for request in requests]
        finally:
            await model.close()

    return asyncio.run(run())


@pytest.mark.parametrize("option", sorted(path.stem for path in (data("conf") / "model").glob("*.yaml")))
def test_every_model_of_conf_composes(option):
    more = ["model.options.journal=x"] if option == "replay" else []
    config = compose([f"model={option}", *more]).model
    assert isinstance(config, ModelConfig)
    assert config.name


@pytest.mark.parametrize(
    ("option", "name", "whole"),
    [
        ("ollama", "qwen3:8b", "ollama_chat/qwen3:8b"),
        ("ollama", "hf.co/org/model:Q4", "ollama_chat/hf.co/org/model:Q4"),
        ("ollama", "ollama/llama3.2", "ollama/llama3.2"),
        ("vllm", "Qwen/Qwen3-8B", "hosted_vllm/Qwen/Qwen3-8B"),
        ("vllm", "openai/gpt-oss-20b", "hosted_vllm/openai/gpt-oss-20b"),
        ("vllm", "hosted_vllm/Qwen/Qwen3-8B", "hosted_vllm/Qwen/Qwen3-8B"),
        ("openrouter", "openai/gpt-5.4-mini", "openrouter/openai/gpt-5.4-mini"),
        ("openai", "gpt-4o", "openai/gpt-4o"),
        ("openai", "anthropic/claude-haiku-4-5", "anthropic/claude-haiku-4-5"),
        ("openai", "groq/llama-3.3-70b-versatile", "groq/llama-3.3-70b-versatile"),
        ("openai", "Qwen/Qwen3-8B", "openai/Qwen/Qwen3-8B"),
        ("bedrock", "us.anthropic.claude-haiku-4-5-v1:0", "bedrock/us.anthropic.claude-haiku-4-5-v1:0"),
        ("local", "model.gguf", "model.gguf"),
        ("scripted", "gpt-4o", "gpt-4o"),
    ],
)
def test_a_models_own_name_is_completed_by_the_provider_that_was_chosen(option, name, whole):
    assert compose([f"model={option}", f"model.name='{name}'"]).model.name == whole


def test_a_server_is_asked_for_the_name_that_it_prints():
    async def run():
        async with TestServer() as server:
            words = ["model=vllm", "model.name=Qwen/Qwen3-8B", f"model.base_url={server.url}"]
            model = build(compose(words).model)
            await model.complete(question())
            await model.close()
            return server.calls[0].json["model"]

    assert asyncio.run(run()) == "Qwen/Qwen3-8B"


def test_a_name_that_nobody_can_place_is_refused():
    refuse_unanswerable(
        model_config("local", backend="litellm", name="gpt-4o", base_url="http://127.0.0.1:9")
    )
    with pytest.raises(ConfigError, match=r"model\.name=qwen3:8b: unknown provider; use"):
        refuse_unanswerable(model_config("local", backend="litellm", name="qwen3:8b"))


@pytest.mark.parametrize("provider", sorted(VARIABLES))
def test_a_missing_key_is_refused_and_one_under_any_of_its_names_is_not(provider, monkeypatch):
    for name in (*VARIABLES[provider], f"{provider.upper()}_API_BASE"):
        monkeypatch.delenv(name, raising=False)
    config = model_config("openai", name=f"{provider}/x")
    litellm_wants = litellm_loading.load().validate_environment(config.name)["missing_keys"]
    assert set(litellm_wants) & set(VARIABLES[provider])
    with pytest.raises(
        ConfigError, match=f"model.name={provider}/x: API key missing; set {VARIABLES[provider][0]}"
    ):
        refuse_unanswerable(config)
    with pytest.raises(ModelRefused, match=r"API key missing; set .*, then resume"):
        complete(build(config), question())
    refuse_unanswerable(replace(config, base_url="http://127.0.0.1:9/v1"))
    for name in VARIABLES[provider]:
        with monkeypatch.context() as having:
            having.setenv(name, "given")
            refuse_unanswerable(config)


@pytest.mark.parametrize("option", ["vllm", "ollama", "bedrock", "vertex", "local", "scripted"])
def test_who_needs_no_key_is_asked_for_none(option):
    refuse_unanswerable(model_config(option))


def test_an_own_server_without_an_address_is_refused_before_anything_is_sent(monkeypatch):
    monkeypatch.delenv("HOSTED_VLLM_API_BASE", raising=False)
    with pytest.raises(ConfigError, match=r"model\.base_url=null: hosted_vllm/.*set model\.base_url"):
        build(model_config("vllm", base_url=None))
    monkeypatch.setenv("HOSTED_VLLM_API_BASE", "http://127.0.0.1:9/v1")
    assert build(model_config("vllm", base_url=None)).name.startswith("hosted_vllm/")


def test_scripted_answers_follow_from_the_question_and_not_from_the_order():
    asked = [question(n) for n in range(30)]
    forward = {
        r.digest: a.text
        for r, a in zip(asked, complete(build(model_config("scripted")), *asked), strict=True)
    }
    mixed = random.Random(1).sample(asked, len(asked))
    again = {
        r.digest: a.text
        for r, a in zip(mixed, complete(build(model_config("scripted")), *mixed), strict=True)
    }
    assert forward == again
    assert len(set(forward.values())) > 3
    other = complete(build(model_config("scripted", options={"seed": 1})), *asked)
    assert [a.text for a in other] != list(forward.values())


@pytest.mark.parametrize("shape", FORMATS)
def test_scripted_answers_keep_the_format_asked_for(shape):
    request = Request(question().messages, "act", FORMATS[shape])
    (reply,) = complete(build(model_config("scripted")), request)
    assert reply.text.splitlines()[-1] in {shape.format(action) for action in ACTIONS}


@pytest.mark.parametrize(
    ("last", "shape"),
    [
        (ASK, "<|ACTION|>{}<|END|>"),
        ("Think, then end with ACTION: <action>", "ACTION: {}"),
        ("You always have to output one of the above actions and no other text.", "{}"),
    ],
)
def test_scripted_answers_find_the_format_in_the_prompt(last, shape):
    (reply,) = complete(build(model_config("scripted")), question(last=last))
    assert reply.text.splitlines()[-1] in {shape.format(action) for action in ACTIONS}


@pytest.mark.parametrize("prompt", ["answer_robust_cot", "answer_robust_star", "answer_robust_naive"])
def test_a_thought_is_added_where_the_prompt_asks_for_one(prompt):
    (reply,) = complete(build(model_config("scripted")), question(last=source(prompt)))
    assert (canned_answers.THOUGHT in reply.text) == ("naive" not in prompt)
    assert reply.text.splitlines()[-1] in {f"<|ACTION|>{action}<|END|>" for action in ACTIONS}


def test_scripted_answers_can_be_given():
    model = build(model_config("scripted", options={"answers": ["a", "b"], "order": "sequence"}))
    assert [reply.text for reply in complete(model, *map(question, range(3)))] == ["a", "b", "a"]


@pytest.mark.parametrize(
    ("options", "words"),
    [({"anwers": ["x"]}, "did you mean answers"), ({"seed": "x"}, "seed"), ({"order": "sequence"}, "needs")],
)
def test_wrong_options_are_one_line(options, words):
    with pytest.raises(ConfigError, match=words):
        build(model_config("scripted", options=options))


def test_replayed_answers_come_by_prompt_and_in_order(tmp_path, specs):
    spec = specs()[0]
    with Writer(tmp_path / "a_run_00.journal.jsonl") as writer:
        writer.append(Header(1, spec, spec.digest, "", {}))
        writer.append(Start("", {}))
        for text in ("first", "second"):
            writer.append(Completion(0, "act", question(1).digest, Reply(text, cost=0.5)))
        writer.append(Completion(0, "act", question(2).digest, Reply("other")))
    asked = [question(2), question(1), question(1), question(1)]
    for place in (tmp_path, tmp_path / "a_run_00.journal.jsonl"):
        model = build(model_config("replay", options={"journal": str(place)}))
        assert [reply.text for reply in complete(model, *asked)] == ["other", "first", "second", "second"]
    model = build(model_config("replay", options={"journal": str(tmp_path)}))
    with pytest.raises(ModelRefused, match="no answer"):
        complete(model, question(3))
    with pytest.raises(ConfigError, match="no journal"):
        build(model_config("replay", options={"journal": str(tmp_path / "none")}))


def test_a_grammar_holds_odd_actions():
    text = grammar(AnswerFormat(('say "hi"\\', "a\nb"), "<|ACTION|>", "<|END|>"))
    assert r'"say \"hi\"\\"' in text
    assert r'"a\nb"' in text


def test_the_embedded_model_writes_a_line_behind_a_label(embedded):
    model = build(model_config("local", options={"slots": 1, "threads": 1, "slot_context": 512}))
    (reply,) = complete(model, Request(question().messages, "query", AnswerFormat((), "Query: ")))
    assert reply.text.startswith("Query: ")
    assert 10 <= len(reply.text.removeprefix("Query: ")) <= 81
    assert "\n" not in reply.text


def test_the_embedded_model_may_take_longer_than_a_network(embedded):
    model = build(
        model_config("local", timeout=0.01, options={"slots": 1, "threads": 1, "slot_context": 512})
    )
    (reply,) = complete(model, Request(question().messages, "act", FORMATS["{}"]))
    assert reply.text in ACTIONS


@pytest.mark.slow
def test_who_stops_at_once_does_not_wait_for_what_the_embedded_model_writes(embedded):
    options = {"slots": 1, "threads": 1, "slot_context": 1024}
    endless = {"max_tokens": 600, "constrain": False, "stop": [], "extra_body": {"ignore_eos": True}}

    async def cut_off():
        model = build(model_config("local", options=options, **endless))
        await model.warm()
        asking = asyncio.create_task(model.complete(question()))
        while not (writing := [each for each in threading.enumerate() if each.name == "in_thread"]):
            await asyncio.sleep(0.01)
        asking.cancel()
        await asyncio.wait([asking])
        await model.close()
        return writing[0], writing[0].is_alive()

    thread, still_writing = asyncio.run(cut_off())
    thread.join()
    assert still_writing


def test_the_embedded_model_does_not_read_anew_what_a_call_of_another_purpose_came_after(embedded):
    observation = Message("user", " ".join(f"stone {number}" for number in range(25)))
    ways = (Message("user", "Write a query."), Message("user", "Act."))
    query, act = (Request((observation, way), "act", FORMATS["{}"]) for way in ways)
    summary = Request((Message("user", "Passages: " + "guide " * 40),), "summary", FORMATS["{}"])
    model = build(model_config("local", options={"slots": 1, "threads": 1, "slot_context": 512}))
    replies = complete(model, query, summary, act)
    assert replies[1].usage.cached < 40  # the words that every conversation begins with
    assert replies[2].usage.cached > 60


@pytest.mark.parametrize(("name", "words"), [("/no/such.gguf", "no such file"), (__file__, "not a GGUF")])
def test_a_wrong_file_of_weights_is_one_line(name, words):
    with pytest.raises(ConfigError, match=words):
        weights(name)


@pytest.fixture(scope="module")
def embedded():
    pytest.importorskip("xllamacpp")
    try:
        return weights("SmolLM2-135M-Instruct")
    except BalrogError as error:
        pytest.skip(f"the weights cannot be fetched here: {error}")


def test_the_embedded_model_answers_in_any_format_and_several_at_once(embedded):
    requests = [Request(question(n).messages, "act", form) for n, form in enumerate(FORMATS.values())]

    async def run():
        model = build(model_config("local", options={"slots": 2, "threads": 1, "slot_context": 1024}))
        ticks = 0

        async def tick():
            nonlocal ticks
            while True:
                ticks += 1
                await asyncio.sleep(0.005)

        ticking = asyncio.create_task(tick())
        replies = await asyncio.gather(*map(model.complete, requests))
        ticking.cancel()
        await model.close()
        return replies, ticks

    replies, ticks = asyncio.run(run())
    for shape, reply in zip(FORMATS, replies, strict=True):
        assert reply.text.splitlines()[-1] in {shape.format(action) for action in ACTIONS}
        assert reply.cost == 0
        assert reply.usage.input > 50
    assert ticks > 3  # the event loop went on meanwhile


@pytest.mark.slow
def test_the_embedded_model_cuts_a_prompt_that_its_slot_cannot_hold(embedded):
    history = [Message("user" if n % 2 == 0 else "assistant", "stone " * 60) for n in range(9)]
    request = Request((question().messages[0], *history), "act", FORMATS["{}"])
    model = build(model_config("local", options={"slots": 1, "threads": 1, "slot_context": 512}))
    (reply,) = complete(model, request)
    assert reply.trimmed > 0
    assert reply.text in ACTIONS
