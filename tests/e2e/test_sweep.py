"""Sweeps as a user runs them."""

import csv
import os
import shutil
import signal
import time
from pathlib import Path

import msgspec
import pytest

from balrog_rag.results.run_folder import journals
from tests.run.support import running, same_journals
from tests.support import command, evaluate, until

GRID = ["-m", "agent=naive,robust_cot", "run.seed=1,2", "env.episodes=3", "limits.steps=20", "run.name=s"]


def test_a_grid_in_one_process(tmp_path: Path) -> None:
    done = evaluate(*GRID, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    top = tmp_path / "results/s"
    runs = sorted(path.name for path in top.iterdir() if path.is_dir())
    assert runs == [
        "agent=naive,run.seed=1", "agent=naive,run.seed=2",
        "agent=robust_cot,run.seed=1", "agent=robust_cot,run.seed=2",
    ]  # fmt: skip
    assert all(len(journals(top / name)) == 3 for name in runs)
    rows = list(csv.DictReader((top / "sweep.csv").open()))
    assert [(row["ended"], row["planned"], row["steps"]) for row in rows] == [("3", "3", "60")] * 4
    assert all(name in done.stdout and name in (top / "sweep.md").read_text() for name in runs)

    single = evaluate("agent=naive", "run.seed=2", *GRID[3:5], "run.name=alone", cwd=tmp_path)
    assert single.returncode == 0
    same_journals(top / "agent=naive,run.seed=2", tmp_path / "results/alone")


@pytest.mark.slow
def test_stopped_and_resumed_as_a_whole(tmp_path: Path) -> None:
    top, slow = tmp_path / "results/s", ["model=scripted", "model.options.latency=0.1"]
    with running(tmp_path, *GRID, *slow, "limits.steps=40", "runner.concurrency=6") as process:
        until(lambda: list(top.glob("*/eval.log")), "the first run begins")
        time.sleep(1)
        os.kill(process.pid, signal.SIGINT)
        _, err = process.communicate()
    assert process.returncode == 130
    assert err.splitlines().count("resume with: balrog-rag resume results/s") == 1
    assert len([line for line in err.splitlines() if line.startswith("stopped by Ctrl-C (SIGINT);")]) == 1
    done = command("balrog_rag.eval", "resume=results/s", "--log", "json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    events = [msgspec.json.decode(line) for line in done.stdout.splitlines()]
    assert events[-1]["event"] == "finished"
    assert [run["ended"] for run in events[-1]["runs"]] == [3, 3, 3, 3]


def test_a_sweep_cut_while_its_folders_were_made_is_gone_on_with(tmp_path: Path) -> None:
    assert evaluate(*GRID, "env.episodes=1", cwd=tmp_path).returncode == 0
    top = tmp_path / "results/s"
    cut, torn = top / "agent=robust_cot,run.seed=1", top / "agent=robust_cot,run.seed=2"
    whole = {name: (name / "config.json").read_bytes() for name in (cut, torn)}
    for name in (cut, torn):
        shutil.rmtree(name)
    torn.mkdir()
    (torn / ".config.json.1.tmp").write_text("{")
    done = command("balrog_rag.eval", "resume=results/s", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert {name: (name / "config.json").read_bytes() for name in (cut, torn)} == whole
    assert [len(journals(name)) for name in (cut, torn)] == [1, 1]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["agent=naive,cott"], "agent=cott: no such agent; did you mean"),
        (["run.seed=1,-1"], "run.seed=-1: must be at least 0"),
        (["run.name=a,b"], "run.name: cannot be swept over"),
        (["resume=nowhere"], "nowhere: not a sweep"),
        (["run.seed=range(1"], "run.seed"),
        (
            ["hydra.sweep.dir=x", "run.seed=1,2"],
            "hydra.sweep.dir=x: needs hydra/launcher=",
        ),
        (["env.tasks=[nle/NetHackChallenge-v0],[nle/Nope]"], "Nope"),
    ],
)
def test_a_mistake_leaves_nothing_behind(tmp_path: Path, words: list[str], said: str) -> None:
    done = evaluate("-m", *words, cwd=tmp_path)
    assert done.returncode in (1, 2)
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_record_of_a_sweep_is_one_line(tmp_path: Path) -> None:
    for record in (b"{", b'{"words": [], "runs": [{"name": "\xff", "words": []}]}'):
        (tmp_path / "sweep.json").write_bytes(record)
        done = evaluate("-m", f"resume={tmp_path}", cwd=tmp_path)
        assert done.returncode == 1
        (line,) = done.stderr.splitlines()
        assert line.startswith(f"error: {tmp_path}/sweep.json: cannot be read")


def test_runs_that_differ_in_how_they_are_run(tmp_path: Path) -> None:
    words = ["runner.concurrency=1,4", "agent=naive", "env.episodes=2", "limits.steps=20", "run.name=s"]
    assert evaluate("-m", *words, cwd=tmp_path).returncode == 0
    top = tmp_path / "results/s"
    same_journals(top / "runner.concurrency=1", top / "runner.concurrency=4")


@pytest.mark.slow
def test_handed_over_to_a_launcher(tmp_path: Path) -> None:
    """SLURM's launcher in its local mode: each run is a job in a process of its own."""
    pytest.importorskip("hydra_plugins.hydra_submitit_launcher", reason="the extra `slurm` is not installed")
    done = evaluate(*GRID, "hydra/launcher=submitit_local", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    top = tmp_path / "results/s"
    assert len(list(top.glob("*/summary.json"))) == 4
    assert all(len(journals(run.parent)) == 3 for run in top.glob("*/summary.json"))
    assert "agent=robust_cot,run.seed=2" in (top / "sweep.md").read_text()
