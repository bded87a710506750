"""Secrets in plain text: rejected before anything is written, and never repeated."""

import json
import logging
from pathlib import Path

import pytest

from balrog_rag.cli import episode, knowledge, prompts, verbs
from balrog_rag.cli.main import main
from balrog_rag.config.compose import compose
from balrog_rag.config.frozen import config_digest
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.util import secrets

SECRET = "c4narySecret"
WORDS = [
    f"+model.extra_headers.authorization={SECRET}",
    f"model.extra_headers.Authorization='Bearer {SECRET}'",
    f"++model.extra_headers.x-api-key={SECRET}",
    f"model.extra_headers.proxy-authorization={SECRET}",
    f"model.extra_headers.x-team-token={SECRET}",
    f"model.extra_headers.cookie={SECRET}",
    f"model.extra_headers={{x-token: {SECRET}}}",
    f'model.extra_headers={{"x-token": "{SECRET}", b: c}}',
    "model.extra_headers.x-key=4815162342",
    f"model.extra_body.api_key={SECRET}",
    f"model.extra_body.tools=[{{name: x, token: {SECRET}}}]",
    f"model.options.password={SECRET}",
    f"agent.options.client_secret={SECRET}",
    f"knowledge.options.litellm.api_key={SECRET}",
    f"model.base_url=http://{SECRET}@127.0.0.1:9/v1",
    f"model.base_url=http://me:{SECRET}@127.0.0.1:9/v1",
    f"model.base_url=http://127.0.0.1:9/v1?key={SECRET}",
    f"knowledge.options.litellm.base_url=https://{SECRET}@host/v1",
    f"model.bse_url=http://{SECRET}@127.0.0.1:9/v1",
    f"model.extra_hedders.token={SECRET}",
    f"+model.extra_headers.authorization=env:{SECRET} x",
    "model.name=sk-proj-c4narySecret0123456789",
    "model.extra_headers.x-team=${oc.env:CANARY_TOKEN}",
    "model.base_url=http://${oc.env:CANARY}@127.0.0.1:9/v1",
    "model.extra_headers.authorization=${oc.env:CANARY}",
]
FINE = [
    "model.extra_headers.authorization=env:CANARY",
    "model.extra_headers.x-team=red",
    "model.extra_body.thinking.budget_tokens=1024",
    "model.extra_body.prompt_cache_key=mine",
    "model.extra_body.pad_token='<pad>'",
    "model.base_url=env:CANARY",
    "model.api_key_env=CANARY",
    "model.max_tokens=12345678",
    "limits.run.tokens=123456789",
    "knowledge.tokens=40",
    "agent.max_prompt_tokens=null",
    "model.base_url=http://127.0.0.1:8000/v1/@here",
]


@pytest.fixture(autouse=True)
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to run in, and variables whose values must never be shown."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv("CANARY", SECRET)
    monkeypatch.setenv("CANARY_TOKEN", SECRET)
    secrets.known_secrets.cache_clear()
    return tmp_path / "here"


@pytest.mark.parametrize("word", WORDS)
def test_a_secret_in_plain_words_is_refused_by_every_command_that_takes_settings(
    nowhere: Path, word: str, capfd, caplog
) -> None:
    commands = [
        lambda: main(["model=openai", word]),
        lambda: main(["-m", "model=openai", "agent=naive,cot", word]),
        lambda: main(["model=openai", word, "--cfg", "job"]),
        lambda: main(["model=openai", "agent=naiv", word]),
        lambda: verbs.main(["run", "model=openai", word]),
        lambda: prompts.main(["show", word]),
        lambda: knowledge.main(["search", "newt", word]),
        lambda: episode.main(["fork", "journal", "--at", "0", "--out", "out", word]),
    ]
    with caplog.at_level(logging.DEBUG):
        for command in commands:
            assert command() != 0
    out, err = capfd.readouterr()
    assert SECRET not in out + err + caplog.text
    assert list(nowhere.iterdir()) == []
    with pytest.raises(ConfigError, match="looks like a secret; put it into an environment variable") as said:
        compose(["model=openai", word])
    assert SECRET not in str(said.value)


@pytest.mark.parametrize("name", ["authorization", "x-api-key", "password"])
def test_the_advice_is_readable_where_it_names_a_header(nowhere: Path, name: str, capfd) -> None:
    assert main(["model=openai", f"model.extra_headers.{name}={SECRET}"]) == 2
    said = capfd.readouterr().err
    assert f"and write model.extra_headers.{name}=env:NAME, so that" in said
    assert secrets.redact(f"{name}=env:{SECRET} x, {name}=env:a-b-c-d") == (
        f"{name}=[redacted] x, {name}=[redacted]"
    )


@pytest.mark.parametrize("word", FINE)
def test_what_names_a_variable_or_only_sounds_like_a_secret_is_taken(word: str) -> None:
    compose(["model=vllm", "model.name=test", word])


def test_variables_may_be_swept_over(capfd) -> None:
    from balrog_rag.run.grid import combinations

    words = ["model=openai", "model.extra_headers.authorization=env:CANARY,env:CANARY_TOKEN"]
    assert len(combinations(words)) == 2
    for run in combinations(words):
        compose(run.words)


def test_a_folder_that_holds_a_secret_is_not_gone_on_with(nowhere: Path, capfd) -> None:
    from balrog_rag.config.frozen import plain

    config = plain(compose(["model=vllm", "model.name=test", "agent=naive"]))
    config["model"]["extra_headers"] = {"authorization": SECRET}
    run = nowhere / "run"
    run.mkdir()
    (run / "config.json").write_text(json.dumps({"digest": config_digest(config), "config": config}))
    assert main([f"resume={run}"]) == 2
    out, err = capfd.readouterr()
    assert "model.extra_headers.authorization: looks like a secret" in err
    assert SECRET not in out + err
