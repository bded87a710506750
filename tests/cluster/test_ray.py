"""runner=ray on clusters of one machine: the same journals as without it, and a node that dies mid-run."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import msgspec
import pytest

from balrog_rag.envs.textworld.building import missing
from balrog_rag.results.run_folder import journals
from balrog_rag.results.runs import load
from tests.run.support import CLEAN, Server, asked_once, completions, model_of, running, same_journals
from tests.support import PATIENCE, command, evaluate

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(600),
    pytest.mark.skipif(find_spec("ray") is None, reason="the extra `ray` is not installed"),
]


@pytest.mark.parametrize("players", [["agent=robust_cot"], ["agent=netplay", "env.actions=skills"]])
def test_same_journals_as_here(players: list[str], tmp_path: Path) -> None:
    words = [*players, "env.episodes=4", "limits.steps=40"]
    assert evaluate(*words, "run.name=here", cwd=tmp_path).returncode == 0
    done = evaluate(*words, "run.name=there", "runner=ray", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    same_journals(tmp_path / "results/here", tmp_path / "results/there")


def test_the_small_games_make_the_same_journals_as_here(tmp_path: Path) -> None:
    tasks = ["babyai/BabyAI-MixedTrainLocal-v0/open", "babaisai/env/two_room-make_you", "crafter/default"]
    if not missing(tasks=["coin_collector"]):
        tasks.append("textworld/coin_collector")
    words = [f"env.tasks=[{','.join(tasks)}]", "agent=naive", "env.episodes=2", "limits.steps=30"]
    assert evaluate(*words, "run.name=here", cwd=tmp_path).returncode == 0
    done = evaluate(*words, "run.name=there", "runner=ray", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    same_journals(tmp_path / "results/here", tmp_path / "results/there")


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Two nodes of two cores on this machine."""
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 2, "include_dashboard": False})
    cluster.add_node(num_cpus=2)
    yield cluster
    cluster.shutdown()


def test_a_node_is_killed(tmp_path: Path, cluster: Any, server: Server) -> None:
    words = [
        *("agent=naive", "env.episodes=60", "limits.steps=40", "runner=ray", "run.name=r"),
        *(f"runner.address={cluster.address}", "runner.concurrency=20", *model_of(server)),
    ]
    process = subprocess.Popen(
        [sys.executable, "-m", "balrog_rag.eval", *words, "--log", "json"],
        cwd=tmp_path,
        env={**CLEAN, "RAY_AUTH_MODE": "disabled"},
        stdout=(tmp_path / "said").open("wb"),
    )
    run = tmp_path / "results/r"
    while len(list(run.glob("nle/*/*.csv"))) < 25 and process.poll() is None:
        time.sleep(0.1)
    cluster.remove_node(next(iter(cluster.worker_nodes)), allow_graceful=False)
    assert process.wait(PATIENCE) == 0
    events = [msgspec.json.decode(line)["event"] for line in (tmp_path / "said").read_bytes().splitlines()]
    assert events.count("ended") == 60  # and nothing of Ray's own among them
    assert len(journals(run)) == 60
    assert len(list(run.glob("nle/*/*_run_[0-9][0-9].json"))) == 60
    assert "is replayed: node" in (run / "eval.log").read_text()
    asked_once(run, server, in_flight=20)


def test_ctrl_c_and_on_without_the_cluster(tmp_path: Path, server: Server) -> None:
    words = ["agent=naive", "env.episodes=6", "limits.steps=150", "run.name=r", *model_of(server)]
    run = tmp_path / "results/r"
    with running(tmp_path, *words, "runner=ray") as process:
        while process.poll() is None and (not run.exists() or len(completions(run)) < 60):
            time.sleep(0.1)
        os.killpg(process.pid, signal.SIGINT)
        _, err = process.communicate()
    assert process.returncode == 130, err
    assert "6 episodes are not finished" in err
    asked_once(run, server)  # the calls in flight came home
    done = command("balrog_rag.eval", "resume=results/r", "runner.backend=local", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    asked_once(run, server)


def test_calls_that_wait_for_a_place_are_not_sent_after_a_stop(tmp_path: Path) -> None:
    slow = Server("--latency", "0.5")
    words = ["agent=naive", "env.episodes=8", "runner=ray", "run.name=r", *model_of(slow)]
    run = tmp_path / "results/r"
    with running(tmp_path, *words, "model.concurrency=1") as process:
        while process.poll() is None and (not run.exists() or len(completions(run)) < 2):
            time.sleep(0.1)
        sent = int(slow.counts()["requests"])
        os.killpg(process.pid, signal.SIGINT)
        _, err = process.communicate()
    assert process.returncode == 130, err
    asked_once(run, slow)
    assert int(slow.counts()["requests"]) <= sent + 2  # the order to stop takes a moment to reach the nodes
    slow.close()


def test_a_dollar_cap_without_a_price_is_refused_before_the_first_call(
    tmp_path: Path, server: Server
) -> None:
    words = ["agent=naive", "runner=ray", "run.name=r", "limits.run.dollars=1", *model_of(server)]
    words += ["model.price.input=null"]
    done = command("balrog_rag.eval", *words, cwd=tmp_path)
    assert done.returncode == 2
    assert "no known price" in done.stderr
    assert not server.counts()["requests"]


def test_attempts_count_while_no_call_is_answered(tmp_path: Path) -> None:
    gone = Server()
    gone.close()
    words = ["agent=naive", "env=corridor", *model_of(gone), "env.episodes=2", "run.name=r", "--log", "json"]
    words += ["model.retry.first_wait=0.2", "model.retry.longest_wait=0.2", "model.retry.attempts=15"]
    with running(tmp_path, *words, "runner=ray") as process:
        out, _ = process.communicate()
    assert process.returncode == 1
    *_, progress = [line for line in map(json.loads, out.splitlines()) if line["event"] == "progress"]
    assert 20 <= progress["retries"] <= 28  # nodes tell of them twice a second
    assert "the connection failed" in (tmp_path / "results/r/eval.log").read_text().partition("stays as")[0]


def test_pace_and_caps_hold_for_all_nodes_together(tmp_path: Path, cluster: Any) -> None:
    server = Server("--latency", "0.1", "--tokens", "100", "0", "0")
    words = ["agent=naive", "env.episodes=8", "limits.steps=10", "runner=ray", "model.concurrency=2"]
    words += [f"runner.address={cluster.address}", *model_of(server), "limits.run.tokens=6000"]
    with running(tmp_path, *words, "run.name=r", RAY_AUTH_MODE="disabled") as process:
        _, err = process.communicate()
    calls = int(server.counts()["requests"])
    state = server.counts()
    server.close()
    assert process.returncode == 0, err
    assert "ended after" in (tmp_path / "results/r/eval.log").read_text()
    assert 60 <= calls <= 68  # 6,000 tokens, and what was in flight
    assert load(tmp_path / "results/r").partial  # which says nothing of how far they could have come
    assert state["most_in_flight"] <= 2
