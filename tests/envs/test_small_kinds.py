"""BabyAI, Baba Is AI, Crafter and TextWorld as kinds of game: BALROG's numbers, and whole runs."""

import json
import os
from collections import Counter
from pathlib import Path

import pytest

from balrog_rag.config.compose import compose
from balrog_rag.contracts.behaviour import Pressed
from balrog_rag.contracts.data import GameSpec, Seeds
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.contracts.kinds import check_game, kind_of
from balrog_rag.envs.conform import read
from balrog_rag.envs.textworld.games import games
from balrog_rag.envs.textworld.kind import game_of
from balrog_rag.run.plan import game_spec, tasks_in
from balrog_rag.workers.host import HostedGame
from tests.support import command, evaluate

RECORDINGS = Path(__file__).parents[1] / "data" / "recordings"


def spec(env, task, seed, **options):
    return GameSpec(env, task, Seeds(seed, seed), kind_of(env).max_steps(task), options)


@pytest.mark.parametrize(
    ("env", "tasks", "episodes", "limits"),
    [
        ("babyai", 5, 10, {64: 2, 128: 3}),
        ("babaisai", 40, 3, {100: 40}),
        ("crafter", 1, 10, {2000: 1}),
        ("textworld", 3, 10, {80: 3}),
    ],
)
def test_a_kind_has_balrogs_tasks_episodes_and_limits(env, tasks, episodes, limits):
    kind = kind_of(env)
    assert (len(kind.tasks()), kind.sampling.episodes) == (tasks, episodes)
    assert Counter(map(kind.max_steps, kind.tasks())) == limits
    assert "instruction" in kind.hints.prompts()


def test_all_six_are_balrogs_255_episodes():
    count = Counter()
    for task in tasks_in(compose(["env=balrog"])):
        count[task.kind.name] += task.episodes
    assert count == {"babyai": 50, "babaisai": 120, "textworld": 30, "crafter": 10, "minihack": 40, "nle": 5}


def test_balrogs_seeding_counts_textworlds_games_and_spreads_the_others():
    counted, spread = (compose(["env=balrog", f"env.seeding={way}"]) for way in ("balrog", "spread"))
    task = "textworld/coin_collector"
    names = [game_of(game_spec(counted, task, number)) for number in range(3)]
    assert names == games("coin_collector")[1:4]
    assert game_of(game_spec(spread, task, 0)) != names[0]
    for task in ("crafter/default", "nle/NetHackChallenge-v0"):
        assert game_spec(counted, task, 0) == game_spec(spread, task, 0)


@pytest.mark.parametrize("env", ["babyai", "babaisai", "crafter"])
def test_progression_is_declared_and_is_the_recorded_one(env):
    """Through the whole harness's eyes: the text, the reward, and what the kind makes of them."""
    for recording in list(read(RECORDINGS / f"{env}.jsonl.gz"))[:4]:
        game = HostedGame(spec(env, recording.task, recording.seed))
        progress = kind_of(env).progress(spec(env, recording.task, recording.seed))
        progress.see(game.start.observation.numbers, 0.0, "")
        assert game.start.observation.long_term == recording.start.long
        if recording.mission:
            assert game.view.goal == recording.mission
        for state in recording.steps:
            if "defaultdict(" in state.long:
                break
            after = game.step(state.taken)
            progress.see(after.observation.numbers, after.reward, after.ended)
            assert after.observation.long_term == state.long
            assert after.observation.short_term == state.short
            assert progress.value == state.progression
        game.close()


@pytest.mark.parametrize(
    ("ended", "numbers", "value"),
    [
        ("", {"score": 9, "most": 17, "won": 0, "over": 0}, 0.0),
        ("steps", {"score": 9, "most": 17, "won": 0, "over": 0}, 0.0),
        ("steps", {"score": 9, "most": 17, "won": 0, "over": 1}, 9 / 17),
        ("solved", {"score": 1, "most": 1, "won": 1, "over": 1}, 1.0),
    ],
)
def test_textworld_counts_only_games_that_came_to_their_own_end(ended, numbers, value):
    progress = kind_of("textworld").progress(spec("textworld", "coin_collector", 0))
    progress.see(numbers, 9.0, ended)
    assert progress.value == value


def test_a_picture_is_there_where_it_is_wanted():
    game = HostedGame(spec("babyai", kind_of("babyai").tasks()[0], 1, layout="image"))
    assert game.start.observation.pictures[0].startswith(b"\x89PNG")
    assert HostedGame(spec("babyai", kind_of("babyai").tasks()[0], 1)).start.observation.pictures == ()


def test_a_game_of_textworld_that_is_not_here_is_one_line(monkeypatch, tmp_path):
    pytest.importorskip("textworld", reason="the extra [textworld] is not installed")
    monkeypatch.setenv("BALROG_RAG_CACHE", str(tmp_path))
    with pytest.raises(ConfigError, match=r"run: balrog-rag envs build textworld"):
        check_game(spec("textworld", "coin_collector", 0))


def test_games_of_textworld_whose_seeds_mean_one_game_are_one():
    identity = kind_of("textworld").sampling.identity
    same = [spec("textworld", "coin_collector", seed) for seed in (3, 28)]
    assert identity(same[0]) == identity(same[1]) != identity(spec("textworld", "coin_collector", 4))


def test_a_press_is_worth_what_a_step_is():
    game = HostedGame(spec("babaisai", "env/goto_win", 7))
    assert game._game.press("up") == Pressed(0.0, 1, "")
    game.close()


@pytest.mark.parametrize(
    "agent",
    ["random", *(pytest.param(name, marks=pytest.mark.slow) for name in ("naive", "scripted"))],
)
def test_a_run_of_babyai_and_baba_is_played_resumed_and_verified(agent, tmp_path):
    words = ["env.tasks=[babyai/BabyAI-MixedTrainLocal-v0/open,babaisai/env/two_room-goto_win]"]
    run = evaluate(f"agent={agent}", "env=babyai", *words, "env.episodes=2", "run.name=r", cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    folder = tmp_path / "results" / "r"
    summary = json.loads((folder / "summary.json").read_text())
    assert set(summary["environments"]) == {"babyai", "babaisai"}
    if agent == "scripted":
        assert summary["average_progress"] == 100.0
    journal = next(folder.rglob("open_run_00.journal.jsonl"))
    os.truncate(journal, journal.stat().st_size // 2)
    again = evaluate(f"resume={folder}", cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert journal.parent.parent == folder / "babyai/BabyAI-MixedTrainLocal-v0/open"
    checked = command("balrog_rag.episode", "verify", str(folder), cwd=tmp_path)
    assert (checked.returncode, checked.stdout.count("equal")) == (0, 4), checked.stdout
    handed_in = command("balrog_rag.leaderboard", "submit", str(folder), "--out", "sub", cwd=tmp_path)
    assert "babyai: 2 episodes; BALROG plays 50" in handed_in.stdout + handed_in.stderr
    assert "not a task of BALROG" not in handed_in.stdout + handed_in.stderr
    assert [line.split()[0] for line in run.stdout.splitlines() if " ± " in line][1:3] == [
        "babaisai",
        "babyai",
    ]
