"""An agent behind OpenEnv's harness session and capture proxy."""

from itertools import pairwise
from pathlib import Path

import pytest
from balrog_openenv import AgentSession, AgentSessionFactory
from openenv.core.harness import LoopOwningSession, TrainableSession

from balrog_rag.contracts.errors import ConfigError

from .support import GOTO, NLE, TokenServer, capturing

QUICK = ["model.retry.attempts=2", "model.retry.first_wait=0.01"]


def test_an_episode_is_one_trainable_sequence(tmp_path: Path) -> None:
    with TokenServer("wait") as url, capturing(url) as capture:
        with AgentSessionFactory(capture, tmp_path, workers=0) as sessions:
            session = sessions.create({"task": NLE, "max_steps": 12}, seed=3)
            assert isinstance(session, LoopOwningSession)
            assert isinstance(session, TrainableSession)
            assert session.wait_for_completion(240) == 0
            found = session.verify([])
            assert found.done
            assert found.env_reward == session.result.reward
            assert found.metrics["steps"] == 12
            turns = session.fetch_training_trace().turns
            entries = session.fetch_proxy_trace()
            sequences = session.document()["sequences"]
    assert len(turns) == len(entries) == 12
    for turn in turns:
        assert sum(turn.loss_mask) == len(turn.completion_token_ids) == len("wait\n")
    for before, after in pairwise(turns):
        grown = before.prompt_token_ids + before.completion_token_ids
        assert after.prompt_token_ids[: len(grown)] == grown
    assert len(sequences) == found.metrics["segments"] == 1


def test_many_sessions_at_once_keep_their_calls_apart(tmp_path: Path) -> None:
    with TokenServer() as url, capturing(url) as capture:
        with AgentSessionFactory(capture, tmp_path, workers=1, max_steps=3) as sessions:
            started = [sessions.create(GOTO, seed=seed // 2) for seed in range(8)]
            assert [each.wait_for_completion(240) for each in started] == [0] * 8
            lengths = [len(each.fetch_training_trace().turns) for each in started]
            assert lengths == [each.result.steps for each in started]
            assert {each.result.seed for each in started} == {0, 1, 2, 3}
            started[0].close()
            assert len(capture.registry.list_ids()) == 7


def test_a_server_without_tokens_gives_a_score_and_no_training_trace(tmp_path: Path) -> None:
    with TokenServer(tokens=False) as url, capturing(url, "text") as capture:
        with AgentSessionFactory(capture, tmp_path, workers=0) as sessions:
            session = sessions.create({"task": GOTO, "max_steps": 3}, seed=1)
            assert session.wait_for_completion(240) == 0
            assert session.verify([]).env_reward is not None
            assert len(session.document()["turns"]) == 3
            with pytest.raises(ValueError, match="EVAL rollout"):
                session.fetch_training_trace()


def unscorable(session: AgentSession) -> str:
    assert session.wait_for_completion(240) == 1
    found = session.verify([])
    assert (found.env_reward, found.done) == (None, False)
    return str(found.artifacts["error"])


def test_a_server_that_goes_away_is_an_error_without_a_reward(tmp_path: Path) -> None:
    with TokenServer(fails_from=3) as url, capturing(url) as capture:
        with AgentSessionFactory(capture, tmp_path, workers=0, overrides=QUICK) as sessions:
            assert unscorable(sessions.create({"task": GOTO, "max_steps": 9}, seed=1))


def test_a_deadline_is_an_error_without_a_reward(tmp_path: Path) -> None:
    with TokenServer() as url, capturing(url) as capture:
        with AgentSessionFactory(capture, tmp_path, workers=0) as sessions:
            session = sessions.create({"task": NLE, "deadline": 0.05}, seed=1)
            assert "deadline: 0.05 s passed" in unscorable(session)


def test_a_wrong_request_is_one_clear_error_and_leaves_no_session(tmp_path: Path) -> None:
    with TokenServer() as url, capturing(url) as capture:
        with AgentSessionFactory(capture, tmp_path, workers=0) as sessions:
            for wrong in ({"task": GOTO, "max_steps": 0}, {"tsk": GOTO}):
                with pytest.raises(ConfigError, match=r"max_steps|tsk"):
                    sessions.create(wrong)
            assert capture.registry.list_ids() == []
            late = sessions.create("nle/NetHackChalenge-v0")
            with pytest.raises(ConfigError, match="did you mean NetHackChallenge-v0"):
                late.wait_for_completion(240)
