"""With imported prompts the agents send what those of a user's BALROG checkout send, to the letter.

Set BALROG_CHECKOUT to a clone of BALROG's repository; its code is run, in a process of its own.
BALROG_RECORDINGS may name a folder of recordings, ENV/public.jsonl.gz, whose observations are shown as well.
"""

import asyncio
import gzip
import itertools
import json
import os
import subprocess
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from balrog_rag.agents import resolve
from balrog_rag.agents.demonstration_choice import for_game
from balrog_rag.cli.prompts import main
from balrog_rag.config.compose import compose
from balrog_rag.contracts.data import Observation, Part, TaskView
from balrog_rag.contracts.kinds import kind_of
from balrog_rag.episode.play import invalid_notice
from balrog_rag.models import wire
from balrog_rag.run.plan import game_spec
from balrog_rag.workers.host import HostedGame
from tests.agents.support import Script, agent_config, made

CHECKOUT = os.environ.get("BALROG_CHECKOUT", "")
RECORDINGS = os.environ.get("BALROG_RECORDINGS", "")
pytestmark = pytest.mark.skipif(not CHECKOUT, reason="BALROG_CHECKOUT names no clone of BALROG's repository")

GAMES = [
    *(("textworld", task) for task in ("treasure_hunter", "the_cooking_game", "coin_collector")),
    *(("babyai", f"BabyAI-MixedTrainLocal-v0/{task}") for task in ("goto", "pick_up_seq_go_to")),
    ("babaisai", "env/two_room-make_wall_win"),
    ("crafter", "default"),
    *(("minihack", f"MiniHack-{task}-v0") for task in ("Corridor-R3", "Quest-Easy", "MazeWalk-9x9")),
    ("nle", "NetHackChallenge-v0"),
]
AGENTS = ["naive", "cot", "robust_naive", "robust_cot", "few_shot"]
TEXTWORLDS = TaskView(
    "textworld", "", "", {}, frozenset(("go north", "go south", "take coin", "take 1 coin")), "help"
)
OBSERVATIONS = [
    ("A room.", "You carry nothing."),
    ("", ""),
    ("  Two\n\nlines.\n", ""),
    ("A hall.\n", "a key"),
    ("", "a key"),
    *((f"Room {number}.", "") for number in range(20)),
]
SHOWN = [("A door.", "go north"), ("", "take coin"), ("The end.", "")]
AROUND = {
    "cot": "I think.\nACTION: {}",
    "robust_naive": "<|ACTION|>{}<|END|>",
    "robust_cot": "So: <|ACTION|>{}<|END|>",
}
Shown = list[tuple[str, str]]


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The overrides that use the checkout's prompts."""
    out = tmp_path_factory.mktemp("words")
    assert main(["import", CHECKOUT, "--out", str(out)]) == 0
    return dict(compose([f"agent.prompts=@{out}", "model=scripted"]).agent.prompts)


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A demonstration of every task, as BALROG keeps them; the same in all, since both draw at random."""
    folder = tmp_path_factory.mktemp("records")
    texts = np.empty(len(SHOWN), object)
    texts[:] = [{"long_term_context": seen, "short_term_context": ""} for seen, _ in SHOWN]
    never = np.zeros(len(SHOWN), bool)
    tasks = {*GAMES, *(("babaisai", task) for task in kind_of("babaisai").tasks())}
    for env, task in tasks:
        (folder / env / task).mkdir(parents=True)
        np.savez_compressed(
            folder / env / task / "20241201T225823-seed13-rew1.00-len2.npz",
            text=texts,
            action=np.array(["", *(action for _, action in SHOWN[:-1])]),
            reward=np.zeros(len(SHOWN)),
            terminated=never,
            truncated=never,
        )
    return folder


@cache
def view_of(env: str, task: str) -> TaskView:
    """An agent's view of a real game; TextWorld's are not built for this."""
    if env == "textworld":
        return TaskView(env, task, "", {}, TEXTWORLDS.accepted, "help")
    config = compose(["+experiment=balrog", "model=scripted", f"env.tasks=[{env}/{task}]"])
    game = HostedGame(game_spec(config, f"{env}/{task}", 0))
    game.close()
    return game.view


@cache
def shown_in(env: str, task: str) -> Shown:
    """Observations as the long and the short part: made up, and the first of each recording of the task."""
    path = Path(RECORDINGS, env, "public.jsonl.gz")
    found = list(OBSERVATIONS)
    if RECORDINGS and path.is_file():
        with gzip.open(path) as lines:
            episodes = [episode for line in lines if (episode := json.loads(line))["task"] == task]
        states = [[episode["start"], *episode["steps"]][:20] for episode in episodes[:10]]
        found += [(state["long"], state["short"]) for state in itertools.chain.from_iterable(states)]
    return found


def answers(agent: str, view: TaskView, count: int) -> list[str]:
    known = sorted(view.accepted)[-3:]
    said = [known[0], "fly", "", f"{known[1]}  now", known[1], known[2].title(), known[2], "take 1 coin"]
    return [AROUND.get(agent, "{}").format(said[place % len(said)]) for place in range(count)]


def theirs(agent: str, view: TaskView, records: Path) -> list[Any]:
    observations = shown_in(view.env, view.task)
    given = {
        "checkout": CHECKOUT,
        "agent": agent,
        "env": view.env,
        "task": view.task,
        "mission": view.goal,
        "listed": list(view.actions),
        "answers": answers(agent, view, len(observations) - 1),
        "observations": observations,
        "accepted": sorted(view.accepted),
        "default": view.default_action,
        "records": str(records),
    }
    driver = Path(__file__).with_name("balrog_requests.py")
    done = subprocess.run([sys.executable, driver], input=json.dumps(given), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def ours(agent: str, view: TaskView, words: dict[str, str], records: Path) -> list[Any]:
    more = [f"agent.demonstrations=[{records}]"] if agent == "few_shot" else []
    config = resolve(replace(agent_config(agent, *more), prompts=words))
    observations = shown_in(view.env, view.task)
    said = iter(answers(agent, view, len(observations) - 1))
    script = Script(act=lambda request: next(said))
    player = made(for_game(config, view.env, view.task, 1), view, script)
    notice = ""
    for long, short in observations[:-1]:
        parts = (Part("now", short, "now", False), Part("text", long, heading=False))
        action = asyncio.run(player.act(Observation(parts, notice=notice))).action
        notice = "" if action in view.accepted else invalid_notice(player, view.default_action)
    return [
        wire.outgoing(request.messages, fuse=False, mark=False, parts=True) for request in script.requests
    ]


@pytest.mark.parametrize(("env", "task"), GAMES)
@pytest.mark.parametrize("agent", AGENTS)
def test_every_request_is_balrogs(
    agent: str, env: str, task: str, words: dict[str, str], records: Path
) -> None:
    view = view_of(env, task)
    mine, balrogs = ours(agent, view, words, records), theirs(agent, view, records)
    assert len(mine) == len(balrogs) == len(shown_in(env, task)) - 1
    differing = [step for step, (one, other) in enumerate(zip(mine, balrogs, strict=True)) if one != other]
    print(f"{agent} {env}/{task}: {len(mine)} requests compared, {len(differing)} differ")
    if differing:
        step = differing[0]
        assert mine[step] == balrogs[step], step
