"""Rollouts through verifiers' interception: scores, training samples, many at once, failures."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
import verifiers.v1 as vf

from balrog_rag.episode import journal
from balrog_rag.models.serving.testserver import TestServer
from balrog_rag.run.replay import verify

from .support import GOTO, NLE, QUICK, environment, traces


def played(
    folder: Path, server: TestServer, tasks: int = 1, group: int = 1, **settings: Any
) -> list[vf.Trace]:
    async def run() -> list[vf.Trace]:
        async with server:
            return await traces(environment(folder, **settings), server.url, tasks, group)

    return asyncio.run(run())


@pytest.mark.parametrize("env", ["babyai", "crafter", "babaisai", "nle", "textworld"])
def test_a_game_of_each_environment_is_scored(tmp_path: Path, env: str) -> None:
    if env == "textworld":
        needs_textworld()
    (trace,) = played(tmp_path, TestServer(), taskset={"environments": [env], "max_steps": 4})
    result = trace.info["balrog_rag"]
    assert (trace.ok, trace.errors, result["error"]) == (True, [], None)
    assert trace.rewards["progression"].score == trace.reward == result["progression"]
    assert trace.metrics["steps"] == trace.metrics["act_calls"] == trace.num_turns == result["steps"]
    assert ("progression_held" in trace.metrics) == (env == "nle")
    assert asyncio.run(verify(Path(result["journal"]))).complete


def needs_textworld() -> None:
    pytest.importorskip("textworld")
    from balrog_rag.envs.textworld.games import find, games, games_folder

    task = "treasure_hunter"
    if any(find(games_folder(), task, name) is None for name in games(task)):
        pytest.skip("TextWorld's games are not built: balrog-rag envs build textworld")


def test_a_task_of_minihack_is_scored(tmp_path: Path) -> None:
    corridor = {"tasks": ["minihack/MiniHack-Corridor-R3-v0"], "max_steps": 4}
    (trace,) = played(tmp_path, TestServer(), taskset=corridor)
    assert trace.ok
    assert trace.metrics["steps"] == 4


def test_64_rollouts_at_once_have_no_errors(tmp_path: Path) -> None:
    server = TestServer(latency=0.02)
    environments = ["babyai", "crafter", "babaisai", "nle"]
    found = played(tmp_path, server, 16, 4, taskset={"environments": environments, "max_steps": 10})
    assert len(found) == 64
    assert [trace.errors for trace in found if trace.errors] == []
    assert all(trace.ok and trace.num_branches == 1 for trace in found)
    assert server.most_in_flight > 8
    assert sum(trace.num_turns for trace in found) == len(server.calls)
    games = {(trace.info["balrog_rag"]["task"], trace.info["balrog_rag"]["seed"]) for trace in found}
    assert len(games) == 16, "a group plays one game"


def test_an_append_only_episode_of_60_steps_is_one_training_sample(tmp_path: Path) -> None:
    taskset = {"tasks": [NLE], "max_steps": 60}
    (trace,) = played(tmp_path, TestServer(), taskset=taskset)
    assert (trace.num_turns, trace.metrics["segments"], trace.num_branches) == (60, 1, 1)
    assert len(trace.nodes) == 1 + 2 * 60, "the system message, and two messages a step"


def test_each_segment_is_one_training_sample(tmp_path: Path) -> None:
    harness = {"overrides": [*QUICK, "agent.max_prompt_tokens=4000"]}
    (trace,) = played(tmp_path, TestServer(), taskset={"tasks": [NLE], "max_steps": 60}, harness=harness)
    assert trace.num_turns == 60
    assert trace.num_branches == trace.metrics["segments"] > 1


def test_an_agent_that_rewrites_its_prompts_is_a_sample_per_step(tmp_path: Path) -> None:
    """The contrast that makes append-only agents the default."""
    (trace,) = played(
        tmp_path, TestServer(), taskset={"tasks": [NLE], "max_steps": 8}, harness={"agent": "naive"}
    )
    assert trace.num_branches == trace.num_turns == 8


def test_a_repeated_call_adds_no_branch(tmp_path: Path) -> None:
    server = TestServer(script=["500", "", "500"])
    (trace,) = played(tmp_path, server, taskset={"tasks": [GOTO], "max_steps": 3})
    assert trace.ok
    assert (trace.num_turns, trace.num_branches) == (3, 1)
    assert len(server.calls) == 5


def test_sampling_and_model_of_the_run_reach_the_server(tmp_path: Path) -> None:
    server = TestServer()
    played(tmp_path, server, taskset={"tasks": [GOTO], "max_steps": 1})
    (call,) = server.calls
    assert (call.json["model"], call.json["temperature"]) == ("org/Model-X", 0.5)


def test_verifiers_turn_limit_ends_the_game_in_order(tmp_path: Path) -> None:
    (trace,) = played(tmp_path, TestServer(), taskset={"tasks": [GOTO]}, agent={"max_turns": 3})
    assert trace.ok
    assert (trace.info["balrog_rag"]["outcome"], trace.num_turns) == ("steps", 3)


def unscorable(trace: vf.Trace) -> str:
    """The error of a rollout that has no reward, not even 0."""
    assert not trace.ok
    assert [reward for reward in trace.rewards.values() if reward is not None] == []
    assert trace.last_error is not None
    return trace.last_error.message


def test_a_server_that_is_gone_is_an_error_without_a_reward(tmp_path: Path) -> None:
    env = environment(tmp_path, taskset={"tasks": [GOTO]})
    (trace,) = asyncio.run(traces(env, "http://127.0.0.1:9/v1"))
    assert unscorable(trace)
    assert trace.last_error is not None
    assert trace.last_error.type == "ProviderError"


def test_a_server_that_goes_away_during_a_game_is_an_error_and_keeps_the_journal(tmp_path: Path) -> None:
    server = TestServer(script=["", ""], faults=("500",), fault_times=-1)
    (trace,) = played(tmp_path, server, taskset={"tasks": [GOTO]})
    assert "500" in unscorable(trace)
    (path,) = tmp_path.rglob("*.journal.jsonl")
    answers = [entry for entry in journal.read(path).entries if isinstance(entry, journal.Completion)]
    assert len(answers) == 2


def test_a_deadline_is_an_error_without_a_reward(tmp_path: Path) -> None:
    server = TestServer(latency=0.5)
    (trace,) = played(tmp_path, server, taskset={"tasks": [GOTO]}, harness={"deadline": 0.8})
    assert "deadline: 0.8 s passed after" in unscorable(trace)


@pytest.mark.parametrize(
    ("harness", "said"),
    [
        ({"agent": "naiv"}, "naive"),
        ({"overrides": ["agent.lenint=true"]}, "agent.lenient"),
        ({"overrides": ["limits.steps=3"]}, "limits.steps"),
    ],
)
def test_wrong_settings_are_one_clear_error(tmp_path: Path, harness: Any, said: str) -> None:
    (trace,) = played(tmp_path, TestServer(), taskset={"tasks": [GOTO]}, harness=harness)
    assert said in unscorable(trace)


def test_another_harness_has_no_reward(tmp_path: Path) -> None:
    """Its dialogue is not a game, so it must not count as one that was lost."""
    task = next(iter(environment(tmp_path, taskset={"tasks": [GOTO]}).taskset))
    with pytest.raises(vf.TaskError, match="use the harness balrog-verifiers"):
        asyncio.run(task.score(vf.Trace.model_construct(info={}, metrics={}, rewards={})))
