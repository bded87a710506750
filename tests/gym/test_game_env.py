import asyncio
import re
import warnings
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env

import balrog_rag
import balrog_rag.gym
from balrog_rag.contracts.errors import ConfigError, EnvironmentFailure
from balrog_rag.contracts.events import Asked, Stepped
from balrog_rag.gym.observation_format import text_of
from tests.gym.support import CORRIDOR, GOTO, make, same

REPRESENTATIVES = [
    "balrog_rag/NetHackChallenge-v0",
    CORRIDOR,
    GOTO,
    "balrog_rag/babaisai-env-goto_win",
    "balrog_rag/nethackers-arc-dwa-law-fem",
]
"""One of each kind that starts quickly."""


def checked(env: gymnasium.Env) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env, skip_render_check=False)
    env.close()


@pytest.mark.parametrize("name", REPRESENTATIVES)
@pytest.mark.parametrize("observation", ["text", "both"])
def test_gymnasiums_own_check_passes(name: str, observation: str) -> None:
    checked(make(name, observation=observation))


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind", ["nle", "minihack", "babyai", "babaisai", "crafter", "nethackers", "netplay"]
)
def test_gymnasiums_own_check_passes_for_every_task(kind: str) -> None:
    """Except tasks that cannot be made here, which say so."""
    refused = []
    for task in balrog_rag.list_tasks(kind):
        try:
            env = make(balrog_rag.gym.task_id(*task.split("/", 1)))
        except ConfigError as error:
            refused.append((task, str(error)))
            continue
        checked(env)
    named = re.compile("Boxoban|Crossing|Custom")
    assert [task for task, _ in refused if not named.search(task)] == []


@pytest.mark.parametrize(
    ("name", "task", "options"),
    [
        ("balrog_rag/NetHackChallenge-v0", "nle/NetHackChallenge-v0", {"character": "val-hum-law-fem"}),
        (CORRIDOR, "minihack/MiniHack-Corridor-R3-v0", {"layout": "language"}),
        (GOTO, "babyai/BabyAI-MixedTrainLocal-v0/goto", {}),
        ("balrog_rag/babaisai-env-goto_win", "babaisai/env/goto_win", {}),
    ],
)
def test_an_episode_is_that_of_make(name: str, task: str, options: dict) -> None:
    env = make(name, **options)
    env.action_space.seed(5)
    with balrog_rag.make(task, seed=9, **options) as game:
        text, info = env.reset(seed=9)
        assert (text, info["progression"]) == (text_of(game.observation), game.progression)
        for _ in range(60):
            action = env.action_space.sample()
            text, reward, terminated, truncated, info = env.step(action)
            done = game.step(env.action_names[action])
            assert (text, reward) == (text_of(done.observation), done.reward)
            assert (info["progression"], info["outcome"]) == (game.progression, game.ended)
            assert info["numbers"] == done.observation.numbers
            assert (terminated or truncated) is bool(game.ended)
            if game.ended:
                break
    env.close()


def test_an_episode_is_that_of_a_run(tmp_path: Path) -> None:
    """Rewards and progression are the run's, and its prompts have the observation's text word for word."""
    run = balrog_rag.evaluate(
        *("env=corridor", "env.episodes=1", "env.seeding=fixed", "env.seeds=[7]", "limits.steps=25"),
        *("agent=naive", "model=scripted", "runner.log=none"),
        folder=tmp_path / "run",
    )
    (journal,) = (tmp_path / "run").rglob("*.journal.jsonl")
    played = [event for event in balrog_rag.events(journal) if isinstance(event, Asked | Stepped)]
    env = make(CORRIDOR)
    text, info = env.reset(seed=7)
    for event in played:
        if isinstance(event, Asked):
            assert text in event.request.messages[-1].text
        else:
            text, reward, *_, info = env.step(event.taken)
            assert reward == event.after.reward
    assert sum(isinstance(event, Stepped) for event in played) == 25
    assert 100 * info["progression"] == run.episodes["progression_percent"].iloc[0]


def test_a_limit_truncates_and_a_solved_task_terminates() -> None:
    env = make(CORRIDOR, max_presses=3)
    env.reset(seed=1)
    ends = [env.step("search")[2:] for _ in range(3)]
    assert [(terminated, truncated) for terminated, truncated, _ in ends] == [(False, False)] * 2 + [
        (False, True)
    ]
    assert ends[-1][2]["outcome"] == "steps"
    with pytest.raises(ResetNeeded, match="the game is over; call reset"):
        env.step("search")
    env = make("balrog_rag/babaisai-env-goto_win")
    rng = np.random.default_rng(0)
    while True:
        env.reset(seed=int(rng.integers(1000)))
        ended = False
        while not ended:
            _, reward, terminated, truncated, info = env.step(int(rng.integers(5)))
            ended = terminated or truncated
        if terminated:
            break
    assert (truncated, info["outcome"], info["progression"]) == (False, "solved", 1.0)
    assert reward > 0


def test_arrays_are_those_of_the_screen_that_a_limit_cut_off() -> None:
    """To learn how it ended, the harness quits a game that a limit ended; its last screen must stay."""
    env = make("balrog_rag/NetHackChallenge-v0", observation="both", max_presses=2)
    start, _ = env.reset(seed=4)
    env.step("search")
    end, *_, truncated, _ = env.step("search")
    assert truncated
    rows = end["tty_chars"].tobytes().decode("latin-1")
    assert "Dlvl:1" in rows
    assert end["blstats"][20] > start["blstats"][20] > 0
    assert same(start["glyphs"], env.reset(seed=4)[0]["glyphs"])


def test_arrays_can_be_chosen() -> None:
    env = make(CORRIDOR, observation="arrays", arrays=["glyphs", "blstats"])
    seen, _ = env.reset(seed=1)
    assert {name: array.shape for name, array in seen.items()} == {"glyphs": (21, 79), "blstats": (27,)}
    kept = seen["glyphs"].copy()
    for action in ("east", "west", "north", "south"):
        env.step(action)
    assert same(seen["glyphs"], kept)
    picture, _ = make(GOTO, observation="arrays").reset(seed=1)
    assert (picture["image"].shape, picture["image"].dtype) == ((112, 112, 3), np.uint8)


def test_actions_have_names() -> None:
    env = make("balrog_rag/NetHackChallenge-v0", all_answers=True)
    assert env.action_space.n == len(set(env.action_names)) > 200
    assert env.action_names[: env.action_names.index("a")].count("far east") == 1
    plain = make("balrog_rag/NetHackChallenge-v0")
    assert plain.action_names == env.action_names[: len(plain.action_names)]
    plain.reset(seed=1)
    assert plain.step("a")[4]["instead"] == ""  # a letter, by its text
    skills = make(CORRIDOR, actions="skills")
    assert not [name for name in skills.action_names if "<" in name]


def test_resets_without_a_seed_draw_other_games_each_time() -> None:
    env = make(GOTO)
    env.reset(seed=3)
    drawn = [env.reset()[1]["seed"] for _ in range(3)]
    env.reset(seed=3)
    assert [env.reset()[1]["seed"] for _ in range(3)] == drawn
    assert len({3, *drawn}) == 4


def test_the_goal_is_in_the_info() -> None:
    goals = {make(GOTO).reset(seed=seed)[1]["goal"] for seed in range(4)}
    assert len(goals) > 1
    assert all(goal.startswith("go to") for goal in goals)


def test_long_text_is_cut_and_stays_in_the_space() -> None:
    env = make(CORRIDOR, max_characters=50)
    text, _ = env.reset(seed=1)
    assert (len(text), text in env.observation_space) == (50, True)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"observation": "txt"}, r"observation: unknown value 'txt'; did you mean text\?"),
        ({"observation": "arrays", "arrays": ["glyhps"]}, r"no array 'glyhps'; did you mean glyphs"),
        ({"layuot": "hybrid"}, r"env\.layuot: no such option of minihack"),
        ({"max_characters": 0}, "max_characters: expected an integer of at least 1, got 0"),
        ({"programs": ["nothing_such"]}, "nothing_such"),
    ],
)
def test_wrong_settings_are_one_line(settings: dict, says: str) -> None:
    with pytest.raises(ConfigError, match=says) as caught:
        make(CORRIDOR, **settings)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("action", [11, -1, 1.5, None, "esat"])
def test_wrong_actions_are_one_line_and_change_nothing(action: object) -> None:
    env = make(CORRIDOR)
    with pytest.raises(ResetNeeded, match="no game is running; call reset"):
        env.step(0)
    env.reset(seed=1)
    with pytest.raises(ConfigError, match=r"expected an action from 0 to 10|did you mean west, east"):
        env.step(action)
    first = env.step(0)
    env.reset(seed=1)
    assert same(first, env.step(0))


def test_games_without_arrays_or_with_others_say_so() -> None:
    env = make("balrog_rag/babaisai-env-goto_win", observation="arrays")
    env.reset(seed=1)
    env._task.format._boxes["image"] = gymnasium.spaces.Box(0, 255, (1, 1, 3), np.uint8)
    with pytest.raises(EnvironmentFailure, match=r"array 'image' is uint8\[.*use observation='text'"):
        env.reset(seed=2)


def test_the_screen_can_be_rendered() -> None:
    env = make(CORRIDOR, render_mode="ansi")
    env.reset(seed=1)
    assert "@" in env.render()
    assert make(CORRIDOR).render() is None
    with pytest.raises(ConfigError, match="render_mode: expected None or 'ansi', got 'human'"):
        balrog_rag.gym.GameEnv("nle/NetHackChallenge-v0", render_mode="human")


def test_a_notebooks_loop_may_be_running() -> None:
    async def play() -> str:
        envs = gymnasium.make_vec(GOTO, num_envs=2)
        (first, _), _ = envs.reset(seed=1)
        envs.close()
        return first

    assert asyncio.run(play()) == make(GOTO).reset(seed=1)[0]
