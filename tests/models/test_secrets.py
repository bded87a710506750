"""Canary keys of every kind, placed wherever text comes from, and none found where text goes."""

import asyncio
import base64
import json
import logging
import os
import re
from urllib.parse import quote

import pytest

from balrog_rag.contracts.errors import ConfigError, ModelError
from balrog_rag.models import build
from balrog_rag.models.serving.testserver import TestServer
from balrog_rag.util import secrets
from tests.models.support import model_config, question

CANARIES = {
    "OpenAI": "sk-proj-Canary0123456789abcdefABCDEF_xyz",
    "Anthropic": "sk-ant-api03-Canary_0123456789-abcdefABCDEF",
    "Google": "AIzaSyCanary0123456789abcdefABCDEF01234",
    "AWS id": "AKIACANARY0123456789",
    "AWS session id": "ASIACANARY0123456789",
    "Hugging Face": "hf_CanaryabcdefABCDEF0123456789",
    "xAI": "xai-Canary0123456789abcdefABCDEF",
    "Groq": "gsk_Canary0123456789abcdefABCDEF",
    "GitHub": "ghp_Canary0123456789abcdefABCDEF0123",
    "JWT": "eyJhbGciOiJIUzI1NiJ9.eyJjYW5hcnkiOjF9Q2FuYXJ5.c2lnbmF0dXJl",
}
NAMED = {
    "Authorization: Bearer {}": "canary0123456789",
    "x-api-key: {}": "canary0123456789",
    '{{"aws_secret_access_key": "{}"}}': "wJalrXUtnFEMI/K7MDENG/bPxRfiCANARYKEY00",
    "https://host/v1/models?key={}&alt=json": "canary0123456789",
    "https://somebody:{}@host/v1": "canary-password",
    "{{'api_key': '{}'}}": "canary0123456789",
    "password={}": "canary0123456789",
}
SPELLINGS = {
    "plain": str,
    "URL": lambda key: quote(key, safe=""),
    "URL, small letters": lambda key: re.sub("%..", lambda code: code[0].lower(), quote(key)),
    "JSON": lambda key: json.dumps({"it": key}),
    "base64": lambda key: base64.b64encode(key.encode()).decode(),
    "base64 behind a name": lambda key: base64.b64encode(f"me:{key}".encode()).decode(),
    "base64 in the middle": lambda key: base64.b64encode(f"user:{key}:rest".encode()).decode(),
    "base64 for URLs": lambda key: base64.urlsafe_b64encode(key.encode()).decode(),
}
ODD_KEY = 'q7/Zx+"w~ é9Kd\\T4'
HARMLESS = [
    "The key opens the door. You see here a skeleton key (token of esteem).",
    "max_tokens: 400, total_tokens=12345678, tokens_per_minute=100000",
    "Basic strategies for newcomers; the bearer approaches. A task-oriented-approach-works.",
    "<|ACTION|>far east<|END|>",
    "balrog_rag/llm/secrets.py:12: error; see https://docs.example.org/page?id=12345",
    "digest 3f2a9c0d1e5b7a6f8e9d0c1b2a3f4e5d, seed 123456789",
]


@pytest.fixture(autouse=True)
def fresh():
    secrets.known_secrets.cache_clear()
    yield
    secrets.known_secrets.cache_clear()


@pytest.mark.parametrize("kind", CANARIES)
@pytest.mark.parametrize(
    "around", ["{}", "error: {} is wrong", '{{"k": "{}"}}', "https://h/p?x=1&q={}", "a\n{}\nb"]
)
def test_keys_are_known_by_their_looks(kind, around):
    assert CANARIES[kind] not in secrets.redact(around.format(CANARIES[kind]))


@pytest.mark.parametrize("around", NAMED)
def test_keys_are_known_by_what_stands_before_them(around):
    assert NAMED[around] not in secrets.redact(around.format(NAMED[around]))


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_the_environments_own_secrets_are_known_in_any_spelling(spelling, monkeypatch):
    monkeypatch.setenv("CANARY_API_KEY", ODD_KEY)
    secrets.known_secrets.cache_clear()
    shown = secrets.redact(f"before {SPELLINGS[spelling](ODD_KEY)} after")
    assert shown.startswith("before ")
    assert shown.endswith(" after")
    assert secrets.HIDDEN in shown
    for part in [shown, *decoded(shown)]:
        assert not any(ODD_KEY[place : place + 4] in part for place in range(len(ODD_KEY) - 4))


def decoded(text):
    """Decode the base64 runs of a text, at each of the four possible offsets."""
    for run in re.findall(r"[A-Za-z0-9+/_-]{4,}", text):
        for begin in range(4):
            data = run[begin:].replace("-", "+").replace("_", "/")
            yield base64.b64decode(data[: len(data) // 4 * 4]).decode("latin-1")


@pytest.mark.parametrize("text", HARMLESS)
def test_other_text_stays_as_it_is(text):
    assert secrets.redact(text) == text


def test_a_configuration_is_frozen_without_secrets():
    tree = {
        "model": {
            "base_url": "https://me:canary-pass@host/v1?key=canary0123456789",
            "extra_headers": {
                "X-Api-Key": "canary0123456789",
                "X-Team": "red",
                "Authorization": "env:MY_KEY",
            },
            "extra_body": {"list": [CANARIES["Anthropic"], 3, None]},
            "max_tokens": 400,
        }
    }
    frozen = secrets.redact_tree(tree)
    text = json.dumps(frozen)
    assert "canary" not in text.lower()
    assert frozen["model"]["extra_headers"]["X-Team"] == "red"
    assert frozen["model"]["extra_headers"]["Authorization"] == "env:MY_KEY"
    assert frozen["model"]["max_tokens"] == 400


def test_env_file_fills_in_and_overrides_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("CANARY_A", "from the environment")
    monkeypatch.setenv("CANARY_B", "")
    monkeypatch.delenv("CANARY_B")
    (tmp_path / ".env").write_text("CANARY_A=from the file\nCANARY_B='from the file'\n")
    secrets.load_env(tmp_path)
    assert secrets.resolve("env:CANARY_A") == "from the environment"
    assert secrets.resolve("env:CANARY_B") == "from the file"
    monkeypatch.delenv("CANARY_B")
    with pytest.raises(ConfigError, match="CANARY_B"):
        secrets.resolve("env:CANARY_B")


@pytest.mark.parametrize("name", ["config.json", "sweep.json"])
def test_the_env_file_of_a_run_folder_is_a_strangers(name, tmp_path, monkeypatch):
    monkeypatch.delenv("CANARY_BASE", raising=False)
    (tmp_path / ".env").write_text("CANARY_BASE=http://evil/v1\n")
    (tmp_path / name).write_text("{}")
    secrets.load_env(tmp_path)
    assert "CANARY_BASE" not in os.environ


@pytest.mark.parametrize("fault", ["echo-401", "echo-500"])
def test_a_provider_that_echoes_the_request_tells_no_secret(fault, monkeypatch, capfd, caplog):
    monkeypatch.setenv("CANARY_API_KEY", CANARIES["OpenAI"])
    monkeypatch.setenv("CANARY_HEADER", "canary-header-0123456789")

    async def run():
        async with TestServer(faults=[fault], fault_times=-1) as server:
            model = build(
                model_config(
                    "openai",
                    base_url=server.url.replace("/v1", "/v1?key=canary0123456789"),
                    api_key_env="CANARY_API_KEY",
                    extra_headers={"x-team-key": "env:CANARY_HEADER", "x-api-key": "canary-plain-0123456789"},
                    extra_body={"client_secret": "canary-body-0123456789"},
                    retry={"attempts": 2, "first_wait": 0.01},
                )
            )
            with pytest.raises(ModelError) as caught:
                await model.complete(question())
            await model.close()
            return str(caught.value), len(server.calls)

    with caplog.at_level(logging.DEBUG):
        text, calls = asyncio.run(run())
    assert calls >= 1
    out, err = capfd.readouterr()
    for seen in (text, out, err, caplog.text):
        assert "canary" not in seen.lower()


def test_what_a_configuration_names_as_secret_is_known_whatever_its_variables_name_and_depth(monkeypatch):
    monkeypatch.setenv("LAB_ACCESS", "canary.access.0123456789")
    xargs = {"vllm_xargs": {"tools": [{"token": "canary.nested.0123456789"}], "colour": "green and blue"}}
    build(model_config("vllm", base_url="http://127.0.0.1:9/v1", api_key_env="LAB_ACCESS", extra_body=xargs))
    said = secrets.redact("took canary.access.0123456789 and canary.nested.0123456789, green and blue")
    assert said == "took [redacted] and [redacted], green and blue"


@pytest.mark.parametrize("kind", CANARIES)
def test_an_answer_that_holds_a_key_is_redacted_before_anybody_reads_it(kind):
    async def run():
        answer = f"I found {CANARIES[kind]} here. <|ACTION|>north<|END|>"
        async with TestServer(answer=lambda texts: answer) as server:
            model = build(model_config("vllm", base_url=server.url))
            reply = await model.complete(question())
            await model.close()
            return reply.text

    text = asyncio.run(run())
    assert CANARIES[kind] not in text
    assert text.endswith("<|ACTION|>north<|END|>")
