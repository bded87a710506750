"""BALROG's six environments, all 255 episodes in a few steps each: killed, resumed, verified, submitted."""

import json
import os
import signal
import time
from importlib.util import find_spec
from math import sqrt
from pathlib import Path
from statistics import fmean, pstdev

import pytest

from balrog_rag.envs.textworld.building import missing
from balrog_rag.envs.textworld.games import games_folder
from balrog_rag.results.run_folder import journals
from tests.envs.test_boxoban import archive
from tests.run.support import running, same_journals
from tests.support import command, own_cache

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(1800),
    pytest.mark.skipif(find_spec("textworld") is None, reason="the extra `textworld` is not installed"),
]
EPISODES = {"babyai": 50, "babaisai": 120, "crafter": 10, "textworld": 30, "minihack": 40, "nle": 5}
FORKED = {
    "babyai": "babyai/BabyAI-MixedTrainLocal-v0/goto/BabyAI-MixedTrainLocal-v0/goto_run_03",
    "babaisai": "babaisai/env/goto_win/env/goto_win_run_01",
    "crafter": "crafter/default/default_run_02",
    "textworld": "textworld/coin_collector/coin_collector_run_04",
}


@pytest.fixture
def cache(tmp_path: Path) -> str:
    """A small set of Boxoban's levels, and the user's games of TextWorld."""
    if missing():
        pytest.skip("the games of TextWorld are not built: balrog-rag envs build textworld")
    cache = own_cache(tmp_path / "cache")
    (cache / "textworld").symlink_to(games_folder())
    (tmp_path / "levels.zip").write_bytes(archive())
    words = ("fetch", "boxoban", "--from", str(tmp_path / "levels.zip"))
    assert command("balrog_rag.envs", *words, cwd=tmp_path, BALROG_RAG_CACHE=str(cache)).returncode == 0
    return str(cache)


@pytest.mark.parametrize("agent", ["random", "naive"])
def test_everything_is_played_killed_resumed_verified_and_handed_in(
    agent: str, cache: str, tmp_path: Path
) -> None:
    words = ["env=balrog", f"agent={agent}", "model=scripted", "limits.steps=3"]
    run = tmp_path / "results/r"
    with running(tmp_path, *words, "run.name=r", BALROG_RAG_CACHE=cache) as process:
        while process.poll() is None and (not run.exists() or len(journals(run)) < 120):
            time.sleep(0.02)
        os.killpg(process.pid, signal.SIGKILL)
    assert len(list(run.rglob("*_run_*.json"))) < 255
    done = command("balrog_rag.eval", "resume=results/r", cwd=tmp_path, BALROG_RAG_CACHE=cache)
    assert done.returncode == 0, done.stderr
    rows = [line.split()[:2] for line in done.stdout.splitlines() if " ± " in line]
    assert {name: int(count) for name, count in rows[1:]} == {**EPISODES, "average": 255}

    verified = command("balrog_rag.episode", "verify", "results/r", cwd=tmp_path, BALROG_RAG_CACHE=cache)
    assert (verified.returncode, verified.stdout.count("equal")) == (0, 255), verified.stdout[-2000:]
    handed_in = command("balrog_rag.leaderboard", "submit", "results/r", cwd=tmp_path)
    assert handed_in.returncode == 0, handed_in.stderr
    assert "note:" not in handed_in.stdout
    (submission,) = (tmp_path / "reports/submissions").iterdir()
    recounted(submission)

    if agent == "random":
        forked(tmp_path, cache)


def recounted(submission: Path) -> None:
    """The figures that the board's maintainers compute from the episodes' records equal the submission's.

    Theirs are summed in the order in which a folder lists its files, so the last digit may differ.
    """
    said = json.loads((submission / "summary.json").read_text())
    errors = []
    for env, count in EPISODES.items():
        paths = [path for path in (submission / env).rglob("*.json") if not path.match("*_summary.json")]
        values = [json.loads(path.read_text())["progression"] for path in paths]
        mean, error = 100 * fmean(values), 100 * pstdev(values) / sqrt(count)
        told = said["environments"][env]
        assert (len(values), told["episodes_played"]) == (count, count)
        assert told["progression_percentage"] == pytest.approx(mean, rel=1e-14)
        assert told["standard_error"] == pytest.approx(error, rel=1e-12)
        errors.append(error)
    means = [said["environments"][env]["progression_percentage"] for env in EPISODES]
    assert said["average_progress"] == pytest.approx(fmean(means), rel=1e-14)
    assert said["standard_error"] == pytest.approx(sqrt(sum(error**2 for error in errors)) / 6, rel=1e-12)
    assert sorted(path.name for path in submission.iterdir() if path.is_dir()) == sorted(EPISODES)


def forked(folder: Path, cache: str) -> None:
    """Another player continues an episode of each small game."""
    for env, stem in FORKED.items():
        out = folder / "results" / f"fork_{env}"
        path = folder / "results/r" / f"{stem}.journal.jsonl"
        words = ("fork", str(path), "--at", "2", "--out", str(out), "agent=naive", "limits.steps=5")
        done = command("balrog_rag.episode", *words, cwd=folder, BALROG_RAG_CACHE=cache)
        assert done.returncode == 0, done.stderr
        checked = command("balrog_rag.episode", "verify", str(out), cwd=folder, BALROG_RAG_CACHE=cache)
        assert (checked.returncode, checked.stdout.count("equal")) == (0, 1), checked.stdout
        assert journals(out) == [out / f"{stem}.journal.jsonl"]


def test_two_runs_of_one_configuration_are_the_same(cache: str, tmp_path: Path) -> None:
    """Crafter's creatures, TextWorld's games, Baba's levels: nothing of them is left to chance."""
    tasks = "crafter/default,textworld/the_cooking_game,babaisai/env/two_room-make_you"
    for name, workers in (("one", 1), ("other", 2)):
        words = (f"env.tasks=[{tasks}]", "env.episodes=2", "limits.steps=200", f"run.name={name}")
        more = ("env=crafter", "agent=naive", "model=scripted", f"runner.workers={workers}")
        done = command("balrog_rag.eval", *words, *more, cwd=tmp_path, BALROG_RAG_CACHE=cache)
        assert done.returncode == 0, done.stderr
    same_journals(tmp_path / "results/one", tmp_path / "results/other")
