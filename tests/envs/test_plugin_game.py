"""A kind of game and a program from another package, installed with pip."""

import csv
import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support import command, until

PACKAGE = Path(__file__).parents[1] / "plugin_package"
ORCHARD = ("env.tasks=[orchard/small-v0]", "model=scripted")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder into which pip has installed the package."""
    source, target = tmp_path_factory.mktemp("source") / "plugin", tmp_path_factory.mktemp("site")
    subprocess.run(["cp", "-r", str(PACKAGE), str(source)], check=True)
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([*pip, "--no-build-isolation", "--target", str(target), str(source)], check=True)
    return target


def run(site: Path, cwd: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return command(words[0], *words[1:], cwd=cwd, PYTHONPATH=str(site))


def environment(site: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(site)}


def entries(cwd: Path, name: str) -> list[dict[str, Any]]:
    (journal,) = sorted((cwd / "results" / name).rglob("*_00.journal.jsonl"))
    return [json.loads(line) for line in journal.read_text().splitlines()]


def test_it_is_listed_with_its_options(site: Path, tmp_path: Path) -> None:
    assert run(site, tmp_path, "balrog_rag.envs", "tasks", "orchard").stdout == "orchard/small-v0\n"
    listed = run(site, tmp_path, "balrog_rag.envs", "options", "orchard").stdout
    assert listed.splitlines()[0].split(maxsplit=1) == ["env.size=5", "cells along each side"]


def test_two_kinds_are_played_scored_and_reported_side_by_side(site: Path, tmp_path: Path) -> None:
    tasks = "env.tasks=[orchard/small-v0,minihack/MiniHack-Corridor-R3-v0]"
    words = (tasks, "model=scripted", "agent=naive", "env.episodes=2", "limits.steps=12", "run.name=two")
    done = run(site, tmp_path, "balrog_rag.eval", *words)
    assert done.returncode == 0, done.stderr
    rows = list(csv.DictReader((tmp_path / "results/two/episodes.csv").open()))
    by_env = {row["env"]: row for row in rows}
    assert set(by_env) == {"orchard", "minihack"}
    assert by_env["minihack"]["achievements"] == ""
    for row in rows:
        if row["env"] == "orchard":
            assert float(row["progression_percent"]) == 25 * int(row["achievements"])
    header = next(entry for entry in entries_of(tmp_path, "two", "orchard") if entry["t"] == "header")
    assert header["versions"]["balrog-rag-sample-plugin"] == "1.0"
    assert run(site, tmp_path, "balrog_rag.episode", "verify", "results/two").returncode == 0
    assert run(site, tmp_path, "balrog_rag.report", "results/two", "--out", "page").returncode == 0
    page = (tmp_path / "page/report.html").read_text()
    assert "things done" in page
    assert "apples left" in page


def entries_of(cwd: Path, name: str, env: str) -> list[dict[str, Any]]:
    journal = sorted((cwd / "results" / name / env).rglob("*.journal.jsonl"))[0]
    return [json.loads(line) for line in journal.read_text().splitlines()]


def written(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*.jsonl"))


@pytest.mark.slow
def test_random_plays_it_and_a_kill_loses_nothing(site: Path, tmp_path: Path) -> None:
    words = (
        *ORCHARD,
        "agent=naive",
        "model.options.latency=0.05",
        "env.episodes=2",
        "run.name=k",
        "env.size=9",
    )
    process = subprocess.Popen(
        [sys.executable, "-m", "balrog_rag.eval", *words, "runner.log=none"],
        env=environment(site), cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    until(lambda: sum(path.stat().st_size for path in tmp_path.rglob("*.jsonl")) >= 8000)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert run(site, tmp_path, "balrog_rag.eval", "resume=results/k").returncode == 0
    assert run(site, tmp_path, "balrog_rag.episode", "verify", "results/k").returncode == 0
    done = run(site, tmp_path, "balrog_rag.eval", *ORCHARD, "agent=random", "run.name=r", "run.csv=false")
    assert done.returncode == 0, done.stderr
    summary = json.loads((tmp_path / "results/r/summary.json").read_text())
    assert "orchard" in json.dumps(summary)


def test_its_program_is_called_with_arguments_and_interrupted(site: Path, tmp_path: Path) -> None:
    answers = "model.options.answers=['wander east 3','wander south 4','wander west 9','wander up 2']"
    words = (*ORCHARD, "agent=naive", "env.programs=[wander]", answers, "env.episodes=1")
    done = run(site, tmp_path, "balrog_rag.eval", *words, "env.size=3", "run.name=w")
    assert done.returncode == 0, done.stderr
    steps = [entry for entry in entries(tmp_path, "w") if entry["t"] == "step"]
    stopped = {entry.get("stopped", "").split(" after")[0].split(" steps")[0] for entry in steps}
    assert {"failed: a fence is in the way", "interrupted: the goose hisses at you"} <= stopped, stopped
    assert all(entry["taken"] == "pick" for entry in steps if entry["action"] == "wander up 2")
    assert run(site, tmp_path, "balrog_rag.episode", "verify", "results/w").returncode == 0


@pytest.mark.parametrize(
    ("word", "line"),
    [
        ("env.sise=4", "error: env.sise: no such option of orchard; did you mean size"),
        ("env.size=2", "error: env.size=2: takes a whole number of at least 3"),
        ("env.character=@", "error: env.character: no such option of orchard"),
        ("env.tasks=[orchard/large]", "error: env.tasks: unknown task 'large' of orchard"),
        ("env.programs=[wandr]", "error: unknown program 'wandr'; did you mean wander"),
    ],
)
def test_a_wrong_word_is_one_line(site: Path, tmp_path: Path, word: str, line: str) -> None:
    done = run(site, tmp_path, "balrog_rag.eval", *ORCHARD, "agent=naive", word)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert done.stderr.startswith(line)


def test_a_kind_must_declare_its_progression_and_keep_within_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    from balrog_rag.contracts import registry
    from balrog_rag.contracts.errors import EnvironmentFailure, PluginError
    from balrog_rag.contracts.kinds import kind_of, value_of
    from balrog_rag.envs.minihack.kind import Solved

    monkeypatch.setattr(registry.environments, "_added", {"bare": lambda spec, ttyrec: None})
    with pytest.raises(
        PluginError, match="environment 'bare': is not an EnvironmentKind, so its progression is undefined"
    ):
        kind_of("bare")
    with pytest.raises(TypeError, match="progress"):
        type(kind_of("nle"))(name="x", title="X", tasks=tuple, make=print)
    progress = Solved()
    progress.value = 3.0
    kind = replace(kind_of("minihack"), name="orchard")
    with pytest.raises(EnvironmentFailure, match=r"orchard: progression is 3\.0; it must be from 0 to 1"):
        value_of(progress, kind)
