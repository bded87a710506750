"""Runs of people and clients that cannot be played are refused before they have a folder."""

from importlib.util import find_spec
from pathlib import Path

import pytest

import balrog_rag
from balrog_rag.cli.verbs import main
from balrog_rag.contracts.errors import ConfigError

GAMES = ("env=corridor", "env.episodes=1", "run.name=r")


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("run agent=human agent.options.sees=pixels", "agent=human: standard input is neither a terminal"),
        (
            "run agent=random agent.answers=tools",
            "agent.answers=tools: random is a program, so no wrapper fits",
        ),
        ("run agent=own_loop", "agent=own_loop: a client plays it; start it with `balrog-rag mcp`"),
        (
            "run -m agent=human,random",
            "agent=human: nobody is here to decide; play it with",
        ),
        ("play", "agent=human: standard input is neither a terminal"),
        ("play agent=naive", "agent=naive: a person does not play it"),
        ("play --port 7", "--port 7: needs --browser"),
        ("play --no-open", "--no-open: needs --browser"),
        ("play --browser --port -1", "--port -1: must be 0 to 65535"),
        ("play --browser agent.options.sees=pixels", "agent.options.sees=pixels: use prompt or screen"),
        ("play --browser agent.options.clien=x", "agent.options.clien: agent=human has no such option"),
        ("play --browser agent.options.client=[a,b]", "agent.options.client: expected a name"),
        ("play --browser agent.notebook.enabled=true", "agent.notebook.enabled: agent=human decides outside"),
        (
            "play --browser agent.retrieval.enabled=true agent.retrieval.context=summary",
            "agent.retrieval.context=summary: agent=human has no model to write it; use whole or cut",
        ),
        ("mcp --port 7", "--port 7: needs --http"),
        ("mcp agent=naive", "agent=naive: the client is the agent"),
        ("mcp model=openai", "model=openai: the client has its own model; leave it out"),
        ("mcp agent.name=", "agent.options.client: expected a name of 1 to 100 characters"),
        ("mcp agent.options.sees=screen", "agent.options.sees: agent=own_loop has no such option"),
    ],
)
def test_the_line_says_what_to_do_and_nothing_is_written(
    words: str,
    line: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if words.startswith("mcp") and find_spec("mcp") is None:
        pytest.skip("needs the extra mcp: pip install 'balrog_rag[mcp]'")
    monkeypatch.chdir(tmp_path)
    with open("/dev/null") as nothing:
        monkeypatch.setattr("sys.stdin", nothing)
        assert main([*words.split(), *GAMES]) == 2
    assert f"error: {line}" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_the_python_interface_has_nobody_to_ask(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="agent=human: nobody is here to decide"):
        balrog_rag.evaluate("agent=human", *GAMES[:2], folder=tmp_path / "r")
    assert list(tmp_path.iterdir()) == []


def test_a_closed_input_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", None)  # as Python sets it where the descriptor is closed
    assert main(["play", *GAMES]) == 2
    assert "standard input is neither a terminal nor a pipe" in capsys.readouterr().err
