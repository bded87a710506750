"""The test server as another program uses it: in a separate process, over HTTP."""

import itertools
import json
import subprocess
import sys
from contextlib import contextmanager

import httpx
import pytest

from balrog_rag.cli.models import main
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.models.serving.testserver import TestServer
from tests.support import PATIENCE

CLIENT = httpx.Client(timeout=PATIENCE)


@contextmanager
def serving(*words):
    """Its address, while it runs."""
    command = [sys.executable, "-m", "balrog_rag.models", "testserver", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


def ask(url, text, system="north: go,\nsouth: go,\n"):
    messages = [{"role": "system", "content": system}, {"role": "user", "content": text}]
    return CLIENT.post(f"{url}/chat/completions", json={"model": "m", "messages": messages})


def test_it_counts_requests_by_digest_and_answers_the_same_to_the_same():
    with serving("--tokens", "10", "5", "3") as url:
        answers = [ask(url, text).json() for text in ("a <|ACTION|>", "b <|ACTION|>", "a <|ACTION|>")]
        counts = httpx.get(url.replace("/v1", "/counts")).json()
    texts = [answer["choices"][0]["message"]["content"] for answer in answers]
    assert texts[0] == texts[2]
    assert texts[0] in ("<|ACTION|>north<|END|>", "<|ACTION|>south<|END|>")
    assert answers[0]["usage"]["prompt_tokens_details"]["cached_tokens"] == 3
    assert sorted(counts["counts"].values()) == [1, 2]
    assert counts["requests"] == counts["answered"] == 3


def test_faults_strike_by_prompt_and_only_so_often():
    with serving("--fault", "500", "--fault", "503", "--fault-rate", "0.5") as url:
        first = [ask(url, f"{n} <|ACTION|>").status_code for n in range(40)]
        second = [ask(url, f"{n} <|ACTION|>").status_code for n in range(40)]
    assert set(first) == {200, 500, 503}
    assert set(second) == {200}
    with serving("--fault", "500", "--fault", "503", "--fault-rate", "0.5") as url:
        assert [ask(url, f"{n} <|ACTION|>").status_code for n in reversed(range(40))] == first[::-1]


def test_a_rate_limit_says_when_to_come_back():
    with serving("--per-second", "2") as url:
        answers = (ask(url, str(n)) for n in itertools.count())  # until three come within one second
        limited = next(answer for answer in answers if answer.status_code == 429)
    assert float(limited.headers["retry-after"]) > 0


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Write a search query for the wiki. Query:", "Query:"),
        ("Summarise what helps here.", "stairs"),
        ("Output one action.", ""),
    ],
)
def test_answers_suit_the_question(text, kind):
    with serving() as url:
        answer = ask(url, text).json()["choices"][0]["message"]["content"]
    assert kind in answer if kind else answer in ("north", "south")


def test_nonsense_is_refused_and_the_server_goes_on():
    with serving() as url:
        root = url.replace("/v1", "")
        assert httpx.post(f"{url}/chat/completions", content=b"{nonsense").status_code == 400
        assert httpx.get(f"{root}/etc/passwd").status_code == 404
        assert httpx.get(f"{url}/models").json()["data"][0]["id"] == "test"


def test_an_unknown_fault_is_one_line(capsys):
    with pytest.raises(ConfigError, match="did you mean"):
        TestServer(faults=["hangs"])
    assert main(["testserver", "--fault", "hangs"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_help_names_the_commands(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    shown = capsys.readouterr().out
    assert all(word in shown for word in ("serve", "fetch", "testserver"))


def test_counts_are_json_of_plain_numbers():
    assert json.loads(json.dumps(TestServer().state()))["requests"] == 0
