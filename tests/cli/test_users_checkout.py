"""With imported prompts the agents ask what those of a user's BALROG checkout ask, to the letter.

Set BALROG_CHECKOUT to a clone of BALROG's repository; its code is run, in a process of its own.
"""

import ast
import asyncio
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from balrog_rag.agents import resolve
from balrog_rag.agents.demonstrations import Demonstration, DemonstrationTurn, write
from balrog_rag.cli.prompts import main
from balrog_rag.config.compose import compose
from balrog_rag.contracts.data import Observation, Part, TaskView
from balrog_rag.episode.play import invalid_notice
from tests.agents.support import Script, agent_config, made

CHECKOUT = os.environ.get("BALROG_CHECKOUT", "")
pytestmark = pytest.mark.skipif(not CHECKOUT, reason="BALROG_CHECKOUT names no clone of BALROG's repository")

TASKS = ("treasure_hunter", "the_cooking_game", "coin_collector")
ACCEPTED = ("go north", "go south", "take coin")
OBSERVATIONS = [
    ("A room.", "You carry nothing."),
    ("", ""),
    ("  Two\n\nlines.\n", ""),
    ("A hall.\n", "a key"),
    ("", "a key"),
    *((f"Room {number}.", "") for number in range(20)),
]
WORDS = ["go north", "fly", "", "go  north", "take coin", "Go North", "take 1 coin"]
SHOWN = [("A door.", "go north"), ("", "take coin"), ("The end.", "")]
AROUND = {
    "cot": "I think.\nACTION: {}",
    "robust_naive": "<|ACTION|>{}<|END|>",
    "robust_cot": "So: <|ACTION|>{}<|END|>",
}


def answers(agent: str) -> list[str]:
    words = [WORDS[place % len(WORDS)] for place in range(len(OBSERVATIONS) - 1)]
    return [AROUND.get(agent, "{}").format(word) for word in words]


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The checkout's prompts."""
    out = tmp_path_factory.mktemp("words")
    assert main(["import", CHECKOUT, "--out", str(out)]) == 0
    return dict(compose([f"agent.prompts=@{out}", "model=scripted"]).agent.prompts)


def instruction(task: str) -> str:
    """TextWorld's, out of the checkout's dictionary."""
    tree = ast.parse(Path(CHECKOUT, "balrog/environments/textworld/__init__.py").read_text())
    texts = next(node for node in ast.walk(tree) if isinstance(node, ast.Call) and len(node.keywords) == 3)
    return next(ast.literal_eval(text.value) for text in texts.keywords if text.arg == task).strip()


def theirs(agent: str, task: str) -> list[list[list[str]]]:
    given = {
        "checkout": CHECKOUT,
        "agent": agent,
        "task": task,
        "instruction": instruction(task),
        "answers": answers(agent),
        "observations": OBSERVATIONS,
        "accepted": ACCEPTED,
        "default": "help",
        "demonstration": SHOWN,
    }
    driver = Path(__file__).with_name("balrog_requests.py")
    done = subprocess.run([sys.executable, driver], input=json.dumps(given), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def ours(agent: str, task: str, words: dict[str, str], folder: Path) -> list[list[list[str]]]:
    write(
        folder / "shown.json",
        Demonstration(
            "textworld/x", "", tuple(DemonstrationTurn(*turn) for turn in SHOWN[:-1]), SHOWN[-1][0]
        ),
    )
    more = [f"agent.demonstrations=[{folder}/shown.json]"] if agent == "few_shot" else []
    config = resolve(replace(agent_config(agent, *more), prompts=words))
    view = TaskView("textworld", task, "", dict.fromkeys(ACCEPTED, ""), frozenset(ACCEPTED), "help")
    said = iter(answers(agent))
    script = Script(act=lambda request: next(said))
    player = made(config, view, script)
    notice = ""
    for long, short in OBSERVATIONS[:-1]:
        parts = (Part("now", short, "now", False), Part("text", long, heading=False))
        action = asyncio.run(player.act(Observation(parts, notice=notice))).action
        notice = "" if view.takes(action) else invalid_notice(player, view.default_action)
    return [[[message.role, message.text] for message in request.messages] for request in script.requests]


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("agent", ["naive", "cot", "robust_naive", "robust_cot", "few_shot"])
def test_every_request_is_balrogs(agent: str, task: str, words: dict[str, str], tmp_path: Path) -> None:
    mine, balrogs = ours(agent, task, words, tmp_path), theirs(agent, task)
    assert len(mine) == len(balrogs) == len(OBSERVATIONS) - 1
    for step, (one, other) in enumerate(zip(mine, balrogs, strict=True)):
        assert one == other, step
