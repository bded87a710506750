"""Failures during a run: workers killed and hung, a model that is unavailable for a while."""

import json
import os
import re
import signal
import time
from pathlib import Path

import pytest

from balrog_rag.results.run_folder import journals
from tests.run.support import Server, asked_once, completions, game_workers, model_of, quiet_port, running
from tests.support import until


def ended(run: Path) -> int:
    return len(list(run.glob("nle/*/*.csv"))) and sum(
        " ended after " in line for line in (run / "eval.log").read_text().splitlines()
    )


def wait_for_words(log: Path, words: str) -> None:
    until(lambda: log.exists() and words in log.read_text(), words)


def settled(run: Path) -> int:
    """The number of journaled answers, once it no longer changes."""
    before = -1
    while before < (now := len(completions(run))):
        before = now
        time.sleep(3)
    return before


def break_workers(tmp_path: Path, server: Server, episodes: int, steps: int, signals: list[int]) -> None:
    words = ["agent=naive", *model_of(server), f"env.episodes={episodes}", f"limits.steps={steps}"]
    run = tmp_path / "results/r"
    words += ["run.name=r", "runner.concurrency=16", "runner.workers=2", "runner.step_deadline=2"]
    with running(tmp_path, *words) as process:
        for at, number in enumerate(signals, 1):
            target = episodes * steps * at // (len(signals) + 2)
            while process.poll() is None and (not run.exists() or len(completions(run)) < target):
                time.sleep(0.05)
            os.kill(game_workers(process.pid)[0].pid, number)  # the other one may only just be starting
        _, err = process.communicate()
    assert process.returncode == 0, err
    assert len(journals(run)) == ended(run) == episodes
    replays = (run / "eval.log").read_text().count("is replayed")
    assert replays >= len(signals)
    asked_once(run, server)


@pytest.mark.slow
def test_workers_killed_and_hung(tmp_path: Path, server: Server) -> None:
    break_workers(tmp_path, server, 20, 40, [signal.SIGKILL, signal.SIGSTOP, signal.SIGKILL])


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_hundred_episodes_four_kills_two_hangs(tmp_path: Path, server: Server) -> None:
    kill, hang = signal.SIGKILL, signal.SIGSTOP
    break_workers(tmp_path, server, 100, 100, [kill, kill, hang, kill, hang, kill])


@pytest.mark.slow
def test_a_model_that_comes_late_and_goes_away(tmp_path: Path) -> None:
    """No server at first, then one, killed in the middle, then another at the same address."""
    first = Server("--port", str(quiet_port()))
    first.close()
    words = ["agent=naive", *model_of(first), "env.episodes=4", "limits.steps=100", "run.name=r"]
    words += ["model.retry.first_wait=0.1", "model.retry.longest_wait=0.3", "model.retry.attempts=1000"]
    words += ["--log", "json"]
    run = tmp_path / "results/r"
    with running(tmp_path, *words) as process:
        wait_for_words(run / "eval.log", "the connection failed")
        assert process.poll() is None
        second = Server("--latency", "0.01", "--port", str(first.port))
        while len(completions(run)) < 100:
            time.sleep(0.05)
        second.kill()
        before = settled(run)
        third = Server("--latency", "0.01", "--port", str(first.port))
        out, err = process.communicate()
    third_asked = int(third.counts()["requests"])
    third.close()
    assert process.returncode == 0, err
    assert len(completions(run)) == 400
    assert third_asked == 400 - before
    log = (run / "eval.log").read_text()
    assert "answered at attempt" in log
    assert "WARNING model hosted_vllm/test at http://127.0.0.1" in log
    assert "the connection failed" in log
    *_, progress = [line for line in map(json.loads, out.splitlines()) if line["event"] == "progress"]
    assert progress["retries"] > 4


def test_attempts_count_while_no_call_is_answered(tmp_path: Path) -> None:
    gone = Server("--port", str(quiet_port()))
    gone.close()
    words = ["agent=naive", "env=corridor", *model_of(gone), "env.episodes=2", "run.name=r", "--log", "json"]
    words += ["model.retry.first_wait=0.2", "model.retry.longest_wait=0.2", "model.retry.attempts=15"]
    with running(tmp_path, *words) as process:
        out, _ = process.communicate()
    assert process.returncode == 1
    *_, progress = [line for line in map(json.loads, out.splitlines()) if line["event"] == "progress"]
    assert progress["retries"] == 28
    assert "the connection failed" in (tmp_path / "results/r/eval.log").read_text().partition("stays as")[0]


@pytest.mark.slow
def test_a_run_goes_on_although_its_server_has_moved(tmp_path: Path) -> None:
    """Where a service is and how patiently it is asked is no part of what an episode is."""
    first, run = Server("--latency", "0.01"), tmp_path / "results/r"
    words = ["agent=naive", *model_of(first), "env.episodes=4", "limits.steps=40", "run.name=r"]
    with running(tmp_path, *words, "model.retry.attempts=1") as process:
        while not run.exists() or len(completions(run)) < 40:
            time.sleep(0.05)
        first.kill()
        _, err = process.communicate()
    assert process.returncode == 1, err
    before = len(completions(run))
    second = Server("--latency", "0.01")
    moved = [f"model.base_url={second.root}/v1", "model.concurrency=2", "model.timeout=90"]
    with running(tmp_path, f"resume={run}", *moved) as process:
        _, err = process.communicate()
    asked = int(second.counts()["requests"])
    second.close()
    assert process.returncode == 0, err
    assert len(completions(run)) == 160
    assert asked == 160 - before
    with running(tmp_path, f"resume={run}", "model.temperature=1") as process:
        _, err = process.communicate()
    assert "resume cannot change model.temperature" in err


@pytest.mark.slow
def test_a_key_that_is_refused_stops_the_run(tmp_path: Path) -> None:
    server = Server("--fault", "401")
    words = ["agent=naive", *model_of(server), "env.episodes=8", "run.name=r", "runner.concurrency=2"]
    with running(tmp_path, *words) as process:
        _, err = process.communicate()
    asked = int(server.counts()["requests"])
    server.close()
    assert process.returncode == 1
    assert asked <= 2
    assert err.count("error: the run was stopped:") == 1
    assert "8 episodes are not finished" in err


def test_a_game_that_crashes_its_worker_takes_nobody_with_it(tmp_path: Path) -> None:
    """Eight games in one worker, one of which kills it at its fifth step, however often it is replayed."""
    (tmp_path / "sitecustomize.py").write_text(CRASHES)
    words = ["agent=naive", "model=scripted", "env.episodes=8", "limits.steps=40", "run.name=r"]
    words += ["runner.workers=1", "runner.concurrency=8"]
    with running(tmp_path, *words, PYTHONPATH=str(tmp_path)) as process:
        _, err = process.communicate()
    assert process.returncode == 1
    assert re.findall(r"^error: (\S+):", err, re.MULTILINE) == ["nle/NetHackChallenge-v0/03"]
    assert "died of SIGSEGV" in err
    assert ended(tmp_path / "results/r") == 7


CRASHES = """
import os, signal, sys
if "-m" in sys.orig_argv and "balrog_rag.workers.worker" in sys.orig_argv:
    from balrog_rag.workers import host

    class Crashing(host.HostedGame):
        def __init__(self, spec, *rest):
            super().__init__(spec, *rest)
            self.steps = 0 if spec.seeds == episode_seeds(0, "nle/NetHackChallenge-v0/03") else -10**9

        def step(self, action, *rest):
            self.steps += 1
            if self.steps == 5:
                os.kill(os.getpid(), signal.SIGSEGV)
            return super().step(action, *rest)

    from balrog_rag.episode.spec import episode_seeds
    host.HostedGame = Crashing
"""


@pytest.mark.slow
def test_a_program_that_presses_nothing_is_ended_and_takes_nobody_with_it(tmp_path: Path) -> None:
    """A long program gives a sign of life with every press; one that thinks for ever gives none."""
    (tmp_path / "stuck.py").write_text(STUCK)
    (tmp_path / "sitecustomize.py").write_text(
        "from balrog_rag.contracts import registry\n"
        "registry.programs._builtin['stuck'] = 'stuck:STUCK'\n"  # known everywhere, as if installed
    )
    words = ["agent=random", "agent.name=stuck", "env.episodes=2", "limits.steps=40", "run.name=r"]
    words += ["runner.workers=2", "runner.step_deadline=5"]
    with running(tmp_path, *words, PYTHONPATH=str(tmp_path)) as process:
        _, err = process.communicate()
    assert process.returncode == 1
    assert re.findall(r"^error: (\S+):", err, re.MULTILINE) == ["nle/NetHackChallenge-v0/01"]
    assert "did not answer" in err
    assert ended(tmp_path / "results/r") == 1


STUCK = """
from balrog_rag.contracts.programs import ProgramKind
from balrog_rag.episode.spec import episode_seeds

LOST = episode_seeds(0, "nle/NetHackChallenge-v0/01").core

def play(begin):
    for _ in range(10):
        yield "search"
    while begin.seed == LOST:
        pass
    while True:
        yield "search"

STUCK = ProgramKind(name="stuck", make=play, plays=True)
"""
