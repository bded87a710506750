"""Ctrl-C and SIGTERM on real runs: exit codes, and no answer lost or asked again."""

import asyncio
import os
import re
import signal
import subprocess
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

from balrog_rag.run.services import in_thread
from tests.run.support import Server, asked_once, completions, game_workers, model_of, running, scripted
from tests.support import PATIENCE, command, own_cache, plug_in, until


def wait_for_steps(run: Path, steps: int) -> None:
    until(lambda: run.exists() and len(completions(run)) >= steps, f"{steps} steps")


def stop_twice(process: "subprocess.Popen[str]") -> str:
    """Press Ctrl-C, which waits for calls in flight, and again, which does not; return the output between."""
    os.kill(process.pid, signal.SIGINT)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(1)
    for _ in range(15):  # signals of one number that a stalled process has not heard yet are one
        os.kill(process.pid, signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            process.wait(PATIENCE / 15)
            break
    return process.communicate()[1]


def test_once_winds_up_and_can_be_resumed(tmp_path: Path, server: Server) -> None:
    words = ["agent=naive", *model_of(server), "env.episodes=4", "limits.steps=100", "run.name=r"]
    run = tmp_path / "results/r"
    with running(tmp_path, *words) as process:
        wait_for_steps(run, 40)
        os.kill(process.pid, signal.SIGINT)
        _, err = process.communicate()
    assert process.returncode == 130
    assert "resume with: balrog-rag resume results/r" in err
    assert "stopped by Ctrl-C (SIGINT); every answer received is saved" in err
    assert "4 episodes are not finished" in err
    assert re.search(rf"^spent: \$\S+ for {len(completions(run))} calls, .* tokens in, ", err, re.MULTILINE)
    asked_once(run, server)  # the calls in flight were waited for
    done = command("balrog_rag.eval", "resume=results/r", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    asked_once(run, server)
    assert (run / "eval.log").read_text().count("ended after 100 steps") == 4


def test_sigterm_is_ctrl_c_by_another_name(tmp_path: Path) -> None:
    with running(tmp_path, "agent=naive", *scripted(0.02), "env.episodes=2", "run.name=r") as process:
        wait_for_steps(tmp_path / "results/r", 10)
        os.kill(process.pid, signal.SIGTERM)
        _, err = process.communicate()
    assert process.returncode == 143
    assert "stopped by SIGTERM" in err


def test_twice_stops_at_once(tmp_path: Path) -> None:
    log = tmp_path / "results/r/eval.log"
    with running(tmp_path, "agent=naive", *scripted(100), "env.episodes=2", "run.name=r") as process:
        while not log.exists() or log.read_text().count("started") < 2:
            time.sleep(0.05)
        err = stop_twice(process)
    assert process.returncode == 130
    assert "spent: $0.00 for 0 calls, 0 tokens in, 0 out; the provider may also bill up to 2 calls" in err
    assert "resume with: " in err


def test_ctrl_c_again_and_again_still_says_what_was_spent(tmp_path: Path) -> None:
    with running(tmp_path, "agent=naive", *scripted(0.2), "env.episodes=2", "run.name=r") as process:
        wait_for_steps(tmp_path / "results/r", 6)
        while process.poll() is None:
            os.kill(process.pid, signal.SIGINT)
            time.sleep(0.02)
        _, err = process.communicate()
    assert process.returncode == 130
    lines = [line.partition(":")[0] for line in err.splitlines()]
    assert lines.count("spent") == lines.count("resume with") == 1
    assert "Traceback" not in err


@pytest.mark.slow
def test_calls_that_wait_for_a_place_are_not_sent_after_a_stop(tmp_path: Path) -> None:
    slow = Server("--latency", "0.5")
    run = tmp_path / "results/r"
    words = ["agent=naive", *model_of(slow), "model.concurrency=1", "env.episodes=12", "run.name=r"]
    with running(tmp_path, *words) as process:
        wait_for_steps(run, 2)
        sent = int(slow.counts()["requests"])
        os.kill(process.pid, signal.SIGTERM)
        process.communicate()
    assert process.returncode == 143
    asked_once(run, slow)
    assert int(slow.counts()["requests"]) < sent + 5  # not all eleven; some may go out before it is heard
    slow.close()


def test_a_call_that_waits_to_be_sent_again_is_not_after_a_stop(tmp_path: Path, server: Server) -> None:
    words = ["agent=naive", *model_of(server), "env.episodes=2", "run.name=r"]
    waits = ["model.retry.first_wait=200", "model.retry.longest_wait=300"]
    with running(tmp_path, *words, *waits) as process:
        wait_for_steps(tmp_path / "results/r", 4)
        server.kill()
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(2)
        os.kill(process.pid, signal.SIGINT)
        _, err = process.communicate()
    assert process.returncode == 130
    assert "2 episodes are not finished" in err


def test_the_whole_group_gets_ctrl_c(tmp_path: Path) -> None:
    """A terminal sends it to the game workers, too; they leave it to the run."""
    words = ["agent=naive", *scripted(0.02), "env.episodes=4", "limits.steps=150", "run.name=r"]
    with running(tmp_path, *words) as process:
        wait_for_steps(tmp_path / "results/r", 40)
        os.killpg(process.pid, signal.SIGINT)
        process.communicate()
    assert process.returncode == 130
    assert "is replayed" not in (tmp_path / "results/r/eval.log").read_text()


def test_twice_stops_at_once_although_the_workers_hang(tmp_path: Path) -> None:
    run = tmp_path / "results/r"
    words = ["agent=naive", *scripted(0.02), "env.episodes=2", "run.name=r", "runner.step_deadline=600"]
    with running(tmp_path, *words) as process:
        wait_for_steps(run, 10)
        for worker in game_workers(process.pid):
            worker.send_signal(signal.SIGSTOP)
        err = stop_twice(process)
    assert process.returncode == 130
    assert "resume with: " in err


ENDLESS = """
import pathlib, time

class Plugged:
    def __init__(self, options, threads):
        pass

    def scores(self, query, texts):
        pathlib.Path("searching").touch()
        time.sleep(600)
"""


def test_twice_stops_at_once_although_a_search_hangs(tmp_path: Path) -> None:
    site = plug_in(tmp_path / "site", "rerankers", "endless", ENDLESS)
    pages, cache = tmp_path / "pages", own_cache(tmp_path / "cache")
    pages.mkdir()
    (pages / "newt.md").write_text("# Newt\n\nA newt on a doorway bites.")
    words = [
        *(
            "agent=robust_star_rag",
            "model=scripted",
            "run.name=r",
            "env.episodes=1",
            f"knowledge.corpus={pages}",
        ),
        *("knowledge.index=bm25", "knowledge.reranker=endless"),
    ]
    with running(tmp_path, *words, BALROG_RAG_CACHE=str(cache), PYTHONPATH=site) as process:
        while process.poll() is None and not (tmp_path / "searching").exists():
            time.sleep(0.05)
        err = stop_twice(process)
    assert process.returncode == 130
    assert "resume with: " in err


def test_a_cancel_before_the_thread_has_begun_is_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    go, raised = threading.Event(), list[object]()
    monkeypatch.setattr(threading, "excepthook", raised.append)
    threading.setprofile(lambda *_: go.wait(PATIENCE))  # holds a new thread before its first line

    async def cancelled() -> threading.Thread:
        making = asyncio.create_task(in_thread(lambda: raised.append("made")))
        await asyncio.sleep(0)
        (thread,) = [thread for thread in threading.enumerate() if thread.name == "in_thread"]
        making.cancel()
        await asyncio.wait([making])
        return thread

    try:
        thread = asyncio.run(cancelled())
    finally:
        threading.setprofile(None)  # type: ignore[arg-type]
        go.set()
    thread.join(PATIENCE)
    assert raised == []


def test_ctrl_c_is_heard_while_an_index_is_built(tmp_path: Path) -> None:
    pages, cache = tmp_path / "pages", own_cache(tmp_path / "cache")
    pages.mkdir()
    for number in range(1000):
        (pages / f"{number}.md").write_text(f"# Page {number}\n\n" + f"A newt of kind {number} bites. " * 40)
    words = ["agent=robust_star_rag", "model=scripted", f"knowledge.corpus={pages}", "run.name=r"]
    with running(tmp_path, *words, BALROG_RAG_CACHE=str(cache)) as process:
        while process.poll() is None and not list(cache.glob("indexes/.*.lock")):
            time.sleep(0.05)
        os.kill(process.pid, signal.SIGINT)
        _, err = process.communicate()
    assert process.returncode == 130
    assert "Traceback" not in err
    assert "resume with: " in err
