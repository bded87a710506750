"""The games as an OpenEnv environment, over HTTP and WebSocket."""

import asyncio
import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from balrog_openenv import BalrogAction, BalrogEnvironment
from balrog_openenv.tasks import ENVIRONMENTS, Tasks, all_tasks
from openenv import GenericEnvClient

from .support import GOTO, NLE, game_server

PACKAGE = Path(__file__).parents[1]
OPENENV = Path(sys.executable).with_name("openenv")


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with game_server() as url:
        yield url


@pytest.mark.parametrize(
    "task", [GOTO, NLE, "crafter/default", "babaisai/env/goto_win", "minihack/MiniHack-Corridor-R3-v0"]
)
def test_a_game_of_each_environment_can_be_played(task: str) -> None:
    env = BalrogEnvironment()
    first = env.reset(seed=3, task=task, max_steps=3)
    assert first.text
    assert first.goal
    assert not first.done
    assert len(first.model_dump_json()) < 20_000
    name = next(iter(first.actions))
    total, seen = 0.0, first
    while not seen.done:
        seen = env.step(BalrogAction(action=name))
        assert seen.reward is not None
        total += seen.reward
    assert (env.state.step_count, seen.ended) == (3, "steps")
    assert total == pytest.approx(seen.progression)
    env.close()


def test_a_won_game_has_rewards_that_add_up_to_one() -> None:
    """Seeds are tried in order until random walking reaches a goal, which gives the whole reward at once."""
    import random

    walk = random.Random(0)
    env = BalrogEnvironment()
    for seed in range(40):
        seen = env.reset(seed=seed, task=GOTO, max_steps=64)
        names, rewards = list(seen.actions), []
        while not seen.done:
            seen = env.step(BalrogAction(action=walk.choice(names)))
            rewards.append(seen.reward)
        if seen.progression:
            assert sum(rewards) == seen.progression == 1.0
            assert seen.ended != "steps"
            return
    pytest.fail("no seed was won")


def test_an_unknown_action_becomes_the_default_one_and_says_so() -> None:
    env = BalrogEnvironment()
    env.reset(seed=1, task=GOTO)
    assert env.step(BalrogAction(action="fly to the moon")).invalid
    assert env.state.step_count == 1
    assert not env.step(BalrogAction(action="turn left")).invalid


def test_the_same_seed_is_the_same_game() -> None:
    def played(seed: int) -> list[str]:
        env = BalrogEnvironment()
        texts = [env.reset(seed=seed, task=GOTO).text]
        texts += [env.step(BalrogAction(action="turn right")).text for _ in range(4)]
        return texts

    assert played(5) == played(5) != played(6)


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"task": "nle/NetHackChalenge-v0"}, "did you mean NetHackChallenge-v0"),
    ({"split": "train"}, "split and index go together"),
    ({"split": "trian", "index": 0}, "unknown split"),
    ({"split": "train", "index": -1}, "index"),
    ({"task": GOTO, "max_steps": 0}, "max_steps"),
    ({"task": NLE, "actoins": "skills"}, "actoins"),
]


@pytest.mark.parametrize(("given", "said"), WRONG)
def test_what_cannot_be_played_is_one_clear_error(given: dict[str, Any], said: str) -> None:
    with pytest.raises(Exception, match=said) as error:
        BalrogEnvironment().reset(**given)
    assert "\n" not in str(error.value)


def test_a_game_that_is_over_or_not_begun_takes_no_action() -> None:
    env = BalrogEnvironment()
    with pytest.raises(Exception, match="call reset first"):
        env.step(BalrogAction(action="noop"))
    env.reset(task=GOTO, max_steps=1)
    env.step(BalrogAction(action="turn left"))
    with pytest.raises(Exception, match="the game is over"):
        env.step(BalrogAction(action="turn left"))


def test_several_clients_play_their_own_games_at_once(server: str) -> None:
    async def play(index: int) -> tuple[int, str]:
        async with GenericEnvClient(base_url=server) as client:
            started = await client.reset(split="train", index=index, max_steps=4)
            name = next(iter(started.observation["actions"]))
            for _ in range(4):
                found = await client.step({"action": name})
            assert found.done
            return (await client.state())["step_count"], started.observation["text"]

    async def run() -> list[tuple[int, str]]:
        return await asyncio.gather(*(play(index) for index in (0, 1, 0, 5)))

    one, other, again, last = asyncio.run(run())
    assert {each[0] for each in (one, other, again, last)} == {4}
    assert one == again != other


def test_tasks_can_be_listed_over_http(server: str) -> None:
    def ask(path: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(server + path, data, {"content-type": "application/json"})
        return json.load(urllib.request.urlopen(request, timeout=120))

    assert [each["name"] for each in ask("/balrog/splits")] == ["train", "validation", "test", "eval"]
    assert ask("/balrog/num_tasks", {"split": "eval"})["num_tasks"] == 1000 * len(all_tasks())
    assert ask("/balrog/task", {"split": "train", "index": 60})["task"] == Tasks().get_task("train", 60)
    assert len(ask("/balrog/task_range", {"split": "test", "start": 2, "stop": 5})["tasks"]) == 3


def test_splits_share_no_game_and_cover_every_environment() -> None:
    tasks = Tasks()
    games = [
        (found["task"], found["seed"])
        for split in tasks.list_splits()
        for found in tasks.get_task_range(split, 0, 400)
    ]
    assert len(games) == len(set(games)) == 1600
    assert {task.partition("/")[0] for task, _ in games} == set(ENVIRONMENTS)


def test_openenv_validates_the_package_and_a_running_server(server: str) -> None:
    for words in ([str(PACKAGE), "--level", "static", "--skip-build"], ["--url", server, "--timeout", "120"]):
        done = subprocess.run([OPENENV, "validate", *words], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "Verdict: PASS" in done.stdout
