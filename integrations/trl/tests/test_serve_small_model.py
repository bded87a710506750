"""The example's server of small models: its answers are those of transformers, whatever it has kept."""

import asyncio
import importlib.util
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import torch
from aiohttp import web
from transformers import AutoModelForCausalLM

import balrog_rag

from .random_llama import CONTEXT, write_random_llama

EXAMPLE = Path(__file__).parents[3] / "examples" / "serve_small_model.py"
SLOTS, ANSWER = 3, 8
TASK = "babyai/BabyAI-MixedTrainLocal-v0/goto"
NEAR = 0.15
"""Between two sums of the same numbers in another order, in bfloat16."""


def loaded() -> Any:
    """The example as a module."""
    spec = importlib.util.spec_from_file_location("serve_small_model", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


server = loaded()


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("model") / "random.gguf"
    write_random_llama(made)
    return made


@pytest.fixture
def engine(path: Path) -> Any:
    return server.Engine(path, SLOTS, CONTEXT)


@pytest.fixture(scope="module")
def reference(path: Path) -> Any:
    return AutoModelForCausalLM.from_pretrained(path.parent, gguf_file=path.name, dtype=torch.bfloat16)


def dialogue(*texts: str) -> list[dict[str, str]]:
    roles = ["system", *["user", "assistant"] * len(texts)]
    return [{"role": role, "content": text} for role, text in zip(roles, texts, strict=False)]


def asked(engine: Any, *dialogues: list[dict[str, str]]) -> list[Any]:
    return engine.answer([server.Prompt(engine.encode(each), ANSWER, 0.0) for each in dialogues])


def check(reference: Any, engine: Any, messages: list[dict[str, str]], answer: list[int]) -> None:
    """Each token is the likeliest one after those before, or as likely within the precision."""
    begin = engine.encode(messages)
    with torch.inference_mode():
        logits = reference(torch.tensor([begin + answer])).logits[0, len(begin) - 1 : -1].float()
    for token, row in zip(answer, logits, strict=True):
        assert row[token] > row.max() - NEAR
    assert len(answer) == ANSWER or answer[-1] == engine.end


LONG = "You play. " * 30
"""Longer than what is read at once."""


def test_answers_of_a_batch_are_those_of_transformers(engine: Any, reference: Any) -> None:
    batch = [dialogue("Play.", "a wall"), dialogue(LONG, "a door"), dialogue(LONG, "a key, 2 steps left")]
    replies = asked(engine, *batch)
    for messages, reply in zip(batch, replies, strict=True):
        check(reference, engine, messages, reply.ids)
    assert len({tuple(reply.ids) for reply in replies}) > 1
    # The long instruction was read once: the third dialogue copied it from the second.
    assert replies[2].kept > len(LONG) // 2
    assert replies[0].kept < 20


def test_a_dialogue_is_continued_and_slots_are_taken_over(engine: Any, reference: Any) -> None:
    first = dialogue(LONG, "a wall")
    (reply,) = asked(engine, first)
    said = engine.tokenizer.decode(reply.ids, skip_special_tokens=True)
    turns = [*first, {"role": "assistant", "content": said}, {"role": "user", "content": "a ball"}]
    (second,) = asked(engine, turns)
    assert second.kept >= len(engine.encode(first))
    check(reference, engine, turns, second.ids)
    for number in range(2 * SLOTS):  # other games take the slots
        asked(engine, dialogue(f"{number} other game", "a box"))
    (again,) = asked(engine, turns)
    assert again.kept < second.kept
    check(reference, engine, turns, again.ids)


@asynccontextmanager
async def serving(engine: Any) -> AsyncIterator[str]:
    service = server.Service(engine)
    app = web.Application()
    app.router.add_post("/v1/chat/completions", service.complete)
    app.cleanup_ctx.append(service.work)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    await runner.cleanup()


def test_games_are_played_against_the_server(engine: Any, tmp_path: Path) -> None:
    async def play() -> list[Any]:
        async with serving(engine) as url:
            sampling = {"temperature": 0, "max_tokens": ANSWER}
            model = {"base_url": url, "name": "random", "sampling": sampling}
            more = {"agent": "naive_append", "max_steps": 2, "folder": tmp_path}
            games = [balrog_rag.rollout(TASK, seed=seed, model=model, **more) for seed in range(5)]
            results = await asyncio.gather(*games)
            async with aiohttp.ClientSession() as session:
                body = {"messages": dialogue("Play.", "a wall"), "max_tokens": ANSWER, "temperature": 0}
                async with session.post(f"{url}/chat/completions", json=body) as answer:
                    return [*results, await answer.json()]

    *results, said = asyncio.run(play())
    assert [each.error for each in results] == [None] * 5  # more games than slots
    assert said["choices"][0]["finish_reason"] in ("stop", "length")
    assert said["usage"]["prompt_tokens"] > said["usage"]["prompt_tokens_details"]["cached_tokens"]
    assert said["usage"]["completion_tokens"] <= ANSWER
