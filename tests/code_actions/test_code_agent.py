"""agent=code on real games: what it is told, what is journaled, and that a replay runs no code."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from balrog_rag.cli.verbs import main
from balrog_rag.code_actions import code_program
from balrog_rag.code_actions.code_interpreter import Interpreter
from balrog_rag.code_actions.code_program import NAME
from balrog_rag.contracts.data import Call
from balrog_rag.contracts.kinds import kind_of
from balrog_rag.episode import journal
from balrog_rag.models.serving.testserver import TestServer
from balrog_rag.util.loop_thread import LoopThread
from balrog_rag.workers.host import HostedGame
from tests.envs.support import nethack

PROGRAMS = [
    """I look first.
```python
def look_around(n):
    for i in range(n):
        report = explore_level()
        print(report)
        if not report.startswith("arrived"):
            break
    return n
seen = observe()
print(seen["numbers"]["depth"], "memory" in seen)
look_around(2)
```""",
    '```python\nprint(look_around(1))\nrest(count=3)\npress("nothing")\n```',
    "```python\nx = 1\nprint(undefined)\n```",
    "```python\nmelee_attack(1)\n```",
    "```python\nimport os\n```",
    "no code at all, not even close (",
]


@pytest.fixture
def server() -> Iterator[TestServer]:
    """A server that answers with these programs, by the number of answers in the prompt."""

    def answer(texts: tuple[str, ...]) -> str:
        said = sum(text.startswith("```python") or "not even" in text for text in texts[1:-1])
        return PROGRAMS[min(said, len(PROGRAMS) - 1)]

    made, loop = TestServer(answer=answer), LoopThread("server")
    loop.run(made.open())
    yield made
    loop.run(made.close())
    loop.close()


def words(server: TestServer, folder: Path, *more: str) -> list[str]:
    return [
        *("run", "agent=code", "env.tasks=[nle/NetHackChallenge-v0]", "env.actions=plan", "env.episodes=1"),
        *("limits.steps=6", "runner.log=none", "runner.workers=1", f"run.folder={folder}", "run.name=run"),
        *("model=vllm", "model.name=m", f"model.base_url={server.url}", "agent.max_text_history=16", *more),
    ]


def steps(folder: Path) -> list[journal.Step]:
    (path,) = (folder / "run").rglob("*.jsonl")
    return journal.read(path).steps


def test_code_plays_and_a_replay_repeats_what_it_did(
    server: TestServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words(server, tmp_path)) == 0
    first, second, unknown, wrong, refused, _ = played = steps(tmp_path)
    assert first.commands is not None
    assert first.commands[0] == "?observe"
    assert first.commands[1] == "explore_level"
    assert first.keys > 1
    assert first.stopped.startswith("done; it printed:\n1 True\n")
    # The function of the first step is kept, and skills take named arguments.
    assert second.commands is not None
    assert "explore_level" in second.commands
    assert second.commands[-2:] == ("rest 3", "nothing")
    assert unknown.stopped.startswith("failed: line 2: the name 'undefined' is not defined")
    assert wrong.stopped.startswith("failed: line 1: melee_attack: takes <x> <y>")
    assert refused.stopped == "failed: line 1: import is not available here"
    assert unknown.commands == refused.commands == ()
    assert all(step.count == 1 for step in played)

    def never(*_: Any) -> Any:
        raise AssertionError("a replay ran code")

    monkeypatch.setattr(Interpreter, "run", never)
    monkeypatch.setattr(code_program, "checked", never)
    capsys.readouterr()
    assert main(["verify", str(tmp_path / "run")]) == 0
    assert "equal" in capsys.readouterr().out


def test_the_prompt_documents_what_code_can_call(server: TestServer, tmp_path: Path) -> None:
    assert main(words(server, tmp_path, "limits.steps=2")) == 0
    instruction, *_ = [message["content"] for message in server.calls[0].json["messages"]]
    for name in ("press(action)", "observe()", "go_to(place, level=None)", "dive(level)", "enumerate"):
        assert name in instruction
    assert "run_code" not in instruction
    assert "def look_around(n):" in server.calls[1].json["messages"][-1]["content"]


def test_a_journal_whose_code_was_exchanged_is_refused_before_it_runs(
    server: TestServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(words(server, tmp_path, "limits.steps=2")) == 0
    (path,) = (tmp_path / "run").rglob("*.jsonl")
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    for line in lines:
        line.pop("chain", None)
        if line["t"] == "llm":
            line["reply"]["text"] = "```python\npress('nothing')\n```"
    ran: list[object] = []
    monkeypatch.setattr(Interpreter, "run", lambda *_: ran.append(1))
    unchained = [{**line, "v": 1} if line["t"] == "header" else line for line in lines]
    path.write_bytes(b"".join(json.dumps(line).encode() + b"\n" for line in unchained))
    assert main(["verify", str(tmp_path / "run")]) != 0
    assert ran == []


def test_code_comes_as_a_native_tool_call(tmp_path: Path) -> None:
    bounds = ["env.episodes=1", "limits.steps=2", "runner.log=none", "runner.workers=1", "run.name=run"]
    game = ["agent=code", "env.tasks=[babyai/BabyAI-MixedTrainLocal-v0/goto]", "model=scripted"]
    assert main(["run", *game, *bounds, "agent.answers=tools", f"run.folder={tmp_path}"]) == 0
    assert all(step.action.startswith("run_code ") for step in steps(tmp_path))
    assert main(["verify", str(tmp_path / "run")]) == 0


APART = """words = observe()["inventory"].split()
print(words, "{invented}" in words)
type_text(text="{invented}")
"""


def test_code_meets_the_world_as_it_is_renamed() -> None:
    """Names that code takes apart are found no more, so it must never have had them."""
    kind = kind_of("nle")
    spec = replace(nethack(3, "arc-dwa-law-fem", actions="plan", renamed=7), programs=(NAME,))
    names = kind.hints.renaming(spec)
    assert names is not None
    game = HostedGame(spec)
    inventory = game.start.observation.text("inventory").lower()
    assert "leather jacket" in inventory
    code = APART.format(invented=names.words["jacket"])
    done = game.step(Call(NAME, (code,)))
    printed = done.stopped.lower()
    assert "true" in printed.splitlines()[1]
    assert not {"leather", "jacket"} & set(re.findall("[a-z]+", printed))
    # The game is told in its own words, and so is the journal.
    assert done.commands is not None
    assert "type_text jacket" in done.commands
    game.close()
