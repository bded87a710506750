"""Plug-ins that break their contract: one line that names them, and every journal can be read back."""

import asyncio
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import balrog_rag
from balrog_rag.agents.base import BaseAgent
from balrog_rag.contracts.data import Decision, Reply
from balrog_rag.contracts.errors import PluginError
from balrog_rag.episode import journal
from balrog_rag.run.replay import verify
from tests.support import CLEAN, PATIENCE

SHORT = ("env=corridor", "env.episodes=1", "limits.steps=3", "runner.workers=1", "runner.log=none")
SCRIPTED = ("model=scripted", *SHORT)


class TooFew:
    """An agent whose constructor takes too few arguments."""

    def __init__(self, config: Any) -> None:
        self.config = config


class ReadsText(BaseAgent):
    def read(self, reply: Reply) -> Any:
        return reply.text


class Returns(BaseAgent):
    value: Any = Decision(3)  # type: ignore[arg-type]

    async def act(self, observation: Any) -> Any:
        return self.value


class ReturnsNotes(Returns):
    value = Decision("east", notes={"seen": {"door"}})


class AsksOddly(BaseAgent):
    """Its answer could not be read back from a journal, so the model must not be asked."""

    async def act(self, observation: Any) -> Any:
        return self.read(await self.llm.complete((await self.ask(observation)).messages(), "guess"))  # type: ignore[arg-type]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("agent", "words", "blame"),
    [
        (
            TooFew,
            (),
            r"agent 'faulty' cannot be made with \(config, view, llm, knowledge\): "
            r"TypeError: .*__init__\(\) takes 2 positional",
        ),
        (
            ReadsText,
            (),
            r"agent 'faulty': act\(\) is '.*; return a Decision of balrog_rag.contracts.data",
        ),
        (ReadsText, ("agent.loops.enabled=true",), r"agent 'faulty' raised AttributeError: 'str' object"),
        (Returns, (), r"agent 'faulty': act\(\)\.action is 3; use a str"),
        (ReturnsNotes, (), r"agent 'faulty': act\(\)\.notes\['seen'\] is \{'door'\}; use plain data"),
        (AsksOddly, (), r"\S+ in act: TypeError: llm.complete\(\): purpose is 'guess'; use one of"),
    ],
)
def test_a_faulty_agent_is_one_line(tmp_path: Path, agent: type, words: tuple[str, ...], blame: str) -> None:
    balrog_rag.register.agent("faulty")(agent)
    run = balrog_rag.evaluate("agent=faulty", *SCRIPTED, *words, folder=tmp_path / "run")
    assert re.search(rf"^error: {blame}", run.troubles[-1]), run.troubles
    assert all(len(line.splitlines()) == 1 for line in run.troubles)


class Speaks:
    """A model without close() that gives the same answer again and again."""

    name = "speaks"
    value: Any = None

    def __init__(self, config: Any) -> None:
        self.config = config

    async def complete(self, request: Any) -> Any:
        if isinstance(self.value, Exception):
            raise self.value
        return self.value


def test_an_answer_with_half_a_character_is_played_and_journaled(tmp_path: Path) -> None:
    class Surrogates(Speaks):
        value = Reply("east \ud83d", "thought \ud83d\ude00", model="m\udc00")

    balrog_rag.register.model("surrogates")(Surrogates)
    run = balrog_rag.evaluate("agent=naive", "model=surrogates", *SHORT, folder=tmp_path / "run")
    assert run.troubles == []
    (path,) = run.folder.rglob("*.journal.jsonl")
    (reply, *_) = [entry.reply for entry in journal.read(path).entries if hasattr(entry, "reply")]
    assert (reply.text, reply.reasoning, reply.model) == ("east \ufffd", "thought \U0001f600", "m\ufffd")
    assert asyncio.run(verify(path)).complete


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("value", "line"),
    [
        (KeyError("text"), "model speaks raised"),
        (None, "model speaks: complete() is None; return a Reply of balrog_rag.contracts.data"),
        (Reply(None), "complete().text is None; use a str"),  # type: ignore[arg-type]
        (Reply("east", attempts=1.5), "complete().attempts is 1.5; use an integer"),  # type: ignore[arg-type]
        (Reply("east", latency=float("nan")), "complete().latency is nan; use a finite number"),
    ],
)
def test_a_faulty_model_is_blamed_by_its_name(tmp_path: Path, value: Any, line: str) -> None:
    class Faulty(Speaks):
        pass

    Faulty.value = value
    balrog_rag.register.model("faulty")(Faulty)
    run = balrog_rag.evaluate("agent=naive", "model.backend=faulty", *SHORT, folder=tmp_path / "run")
    (told,) = [trouble for trouble in run.troubles if "step 0: model speaks" in trouble]
    assert line in told


def test_a_models_factory_that_fails_is_refused_before_the_run(tmp_path: Path) -> None:
    balrog_rag.register.model("faulty")(lambda: None)
    with pytest.raises(PluginError, match=r"^model.backend=faulty: its factory raised TypeError"):
        balrog_rag.evaluate("agent=naive", "model.backend=faulty", *SHORT, folder=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def command(folder: Path, *words: str, **kept: Any) -> subprocess.CompletedProcess[str]:
    called = [sys.executable, "-m", "balrog_rag.eval", *words]
    return subprocess.run(
        called, cwd=folder, env=CLEAN, stderr=subprocess.PIPE, text=True, timeout=PATIENCE, **kept
    )


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le"])
def test_a_env_file_in_utf_16_is_one_line(tmp_path: Path, encoding: str) -> None:
    (tmp_path / ".env").write_text("OPENAI_API_KEY=x\n", encoding=encoding)
    done = command(tmp_path, "agent=naive", "model=openai", "model.name=gpt-4o", *SHORT)
    assert (done.returncode, done.stderr) == (2, "error: .env: not UTF-8 text; save it as UTF-8\n")


def test_a_run_with_closed_streams_ends_as_any_other(tmp_path: Path) -> None:
    """As in `>&-`: Python then has no stdout at all."""
    words = ("agent=random", *SHORT, "run.name=r")
    done = command(tmp_path, *words, preexec_fn=lambda: os.close(1))
    assert (done.returncode, done.stderr) == (0, "")
    summary = json.loads((tmp_path / "results/r/summary.json").read_text())
    assert summary["environments"]["minihack"]


def test_an_address_is_not_a_run_folder(tmp_path: Path) -> None:
    done = command(tmp_path, "agent=random", *SHORT, "run.folder=s3://bucket/runs")
    assert done.returncode == 2
    assert done.stderr.startswith("error: run.folder=s3://bucket/runs: an address, not a folder; ")
    assert list(tmp_path.iterdir()) == []
