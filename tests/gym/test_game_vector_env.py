import os
import signal
import subprocess
import sys

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ClosedEnvironmentError, ResetNeeded
from gymnasium.vector import AutoresetMode

import balrog_rag.gym
from balrog_rag.contracts.errors import ConfigError
from tests.gym.support import CORRIDOR, GOTO, same


def vector(name: str, games: int, **settings) -> balrog_rag.gym.GameVectorEnv:
    made = gymnasium.make_vec(name, num_envs=games, workers=2, **settings)
    assert isinstance(made, balrog_rag.gym.GameVectorEnv)
    return made


def sync(name: str, games: int, **settings) -> gymnasium.vector.SyncVectorEnv:
    return gymnasium.make_vec(name, games, vectorization_mode="sync", **settings)


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        (CORRIDOR, {"observation": "both", "max_presses": 10}),
        pytest.param(GOTO, {"observation": "arrays"}, marks=pytest.mark.slow),
        pytest.param(
            "balrog_rag/NetHackChallenge-v0",
            {"observation": "text", "max_presses": 15},
            marks=pytest.mark.slow,
        ),
    ],
)
def test_it_plays_what_gymnasiums_own_does(name: str, settings: dict) -> None:
    """Observations, rewards, ends and infos, over several episodes that start by themselves."""
    ours, theirs = vector(name, 2, **settings), sync(name, 2, **settings)
    assert ours.metadata["autoreset_mode"] == theirs.metadata["autoreset_mode"] == AutoresetMode.NEXT_STEP
    assert ours.observation_space == theirs.observation_space
    assert ours.action_space == theirs.action_space
    assert same(ours.reset(seed=3), theirs.reset(seed=3))
    ours.action_space.seed(1)
    ends = 0
    for _ in range(25):
        actions = ours.action_space.sample()
        one, other = ours.step(actions), theirs.step(actions)
        assert same(one, other)
        assert one[0] in ours.observation_space
        ends += int(one[2].sum() + one[3].sum())
    assert ends > 0 or "goto" in name
    assert same(ours.reset(seed=[5, None]), theirs.reset(seed=[5, None]))
    assert same(ours.reset(), theirs.reset())
    ours.close()
    theirs.close()


def test_max_episode_steps_truncates() -> None:
    envs = vector(CORRIDOR, 2, max_episode_steps=2)
    envs.reset(seed=1)
    assert [envs.step(np.array([0, 0]))[3].tolist() for _ in range(4)] == [
        *([False] * 2, [True] * 2),
        *([False] * 2, [False] * 2),
    ]
    envs.close()


@pytest.mark.slow
def test_a_worker_that_dies_costs_a_replay() -> None:
    envs, whole = vector(CORRIDOR, 4, observation="both"), sync(CORRIDOR, 4, observation="both")
    assert same(envs.reset(seed=2), whole.reset(seed=2))
    envs.action_space.seed(1)
    for n in range(12):
        if n in (4, 8):
            os.kill(envs._pool.workers[0].pid, signal.SIGKILL)
        actions = envs.action_space.sample()
        assert same(envs.step(actions), whole.step(actions))
    os.kill(envs._pool.workers[1].pid, signal.SIGKILL)
    assert same(envs.reset(seed=8), whole.reset(seed=8))
    envs.close()
    whole.close()


def test_a_wrong_action_leaves_all_games_as_they_are() -> None:
    envs = vector(CORRIDOR, 2)
    with pytest.raises(ResetNeeded, match="no games are running; call reset"):
        envs.step([0, 0])
    envs.reset(seed=1)
    for wrong, says in (([0, 99], "expected an action from 0 to 10, got 99"), ([0], "expected 2, one for")):
        with pytest.raises(ConfigError, match=says):
            envs.step(wrong)
    first = envs.step([0, "east"])
    envs.reset(seed=1)
    assert same(first, envs.step([0, "east"]))
    for wrong, says in (({"seed": [1]}, "seed: expected 2"), ({"options": {"reset_mask": 0}}, "reset_mask")):
        with pytest.raises(ConfigError, match=says):
            envs.reset(**wrong)
    envs.close()
    envs.close()
    with pytest.raises(ClosedEnvironmentError, match="is closed; make another"):
        envs.reset()


def test_screens_can_be_rendered() -> None:
    envs = vector(CORRIDOR, 2, render_mode="ansi")
    envs.reset(seed=1)
    shown = envs.render()
    assert shown is not None
    assert ["@" in screen for screen in shown] == [True, True]
    envs.close()


FORGOTTEN = f"""
import gymnasium, balrog_rag.gym
envs = gymnasium.make_vec({CORRIDOR!r}, num_envs=2)
envs.reset(seed=1)
print(*(worker.pid for worker in envs._pool.workers))
"""


def test_an_environment_that_is_not_closed_ends_with_its_process() -> None:
    done = subprocess.run([sys.executable, "-c", FORGOTTEN], capture_output=True, text=True, timeout=250)
    assert (done.returncode, done.stderr) == (0, "")
    assert [pid for pid in done.stdout.split() if os.path.exists(f"/proc/{pid}")] == []
