"""`--dry-run` prints what would be played and its cost, rejects what a run rejects, and writes nothing."""

import re
from pathlib import Path

import pytest

from balrog_rag.cli.main import main
from balrog_rag.config.compose import compose
from balrog_rag.run.begin import planned

FREE = ["random", "handcrafted", "stairs", "delver"]
"""Arms of `quickstart` that play without a model."""


@pytest.fixture(autouse=True)
def nothing_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    yield
    assert list(tmp_path.iterdir()) == []


def said(capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    assert main([*words, "--dry-run"]) == 0
    return capsys.readouterr().out.splitlines()


def test_a_run_is_told_with_its_games_and_seeds(capsys):
    words = ["agent=delver", "env.episodes=4", "limits.steps=25"]
    lines = said(capsys, *words)
    seeds = [spec.game.seeds.core for spec in planned(Path(), compose(words)).specs]
    assert lines[3].split()[1:] == ["delver", "4", "100", "0.00"]
    assert lines[4:] == [
        f"4 episodes of nle/NetHackChallenge-v0, seeds {', '.join(map(str, seeds[:3]))}, ...",
        "limits.steps=25",
        "no paid model is called",
    ]


def test_the_arms_of_an_experiment_are_told_apart(capsys):
    lines = said(capsys, "+experiment=quickstart", "env.episodes=2")
    assert [line.split()[0] for line in lines[3:8]] == [*FREE, "embedded"]
    assert sum(line.startswith(f"{', '.join(FREE)}: 2 episodes of nle/") for line in lines) == 1
    assert "embedded: limits.steps=2" in lines


def test_a_game_that_takes_so_many_actions_is_estimated_by_them(capsys):
    words = ["env=decisions", "env.tasks=[decisions/dwarf]", "env.episodes=3", "agent=naive"]
    assert said(capsys, *words)[3].split()[2:4] == ["3", "60"]
    assert said(capsys, *words, "env.options.calls=7")[3].split()[2:4] == ["3", "21"]
    assert said(capsys, *words, "limits.steps=5")[3].split()[2:4] == ["3", "15"]


def test_a_person_costs_nothing(capsys):
    assert not any("estimate" in line for line in said(capsys, "agent=human", "env.episodes=1"))


def test_the_largest_cost_is_that_of_the_caps(capsys, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    words = ["-m", "agent=naive,cot", "model=openai", "env.episodes=2"]
    capped = said(capsys, *words, "limits.run.dollars=5", "limits.episode.dollars=1.5")
    assert [line.split()[-1] for line in capped[3:5]] == ["3.00", "3.00"]
    assert capped[-1] == "at most $6.00 in total, plus the calls in flight when a cap is reached"
    free = said(capsys, *words)
    assert [line.split()[-2:] for line in free[3:5]] == [["no", "cap"]] * 2
    assert free[-1].startswith("dollars: no cap; set one per run with limits.run.dollars=")


def test_costs_are_estimated_without_a_key_and_nothing_is_fetched(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("BALROG_RAG_CACHE", str(tmp_path / "cache"))  # nothing_written: it stays empty
    lines = said(capsys, "model=openai", "env.episodes=1", "limits.steps=20")
    (estimate,) = (line for line in lines if line.startswith("estimate: "))
    counts = r"20 steps x 3 calls, \d+\.\dk tokens in, 6\.0k out"
    assert re.fullmatch(rf"estimate: \$0\.\d\d \({counts}\)", estimate)
    assert lines[-1].startswith("before it can be played: model.name=openai/")
    assert "API key missing" in lines[-1]


def test_a_price_follows_from_the_tokens(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["model=scripted", "agent=naive", "env.episodes=2", "limits.steps=500"]
    lines = said(capsys, *words, "model.price.input=0", "model.price.output=10")
    assert "estimate: $1.00 (2 episodes x 500 steps x 1 call, " in "\n".join(lines)
    assert "answers of 100 tokens are assumed; $40.96 if every answer is as long" in "\n".join(lines)


def test_a_whole_game_has_a_price_per_hundred_steps(capsys: pytest.CaptureFixture[str]) -> None:
    lines = said(capsys, "model=scripted", "agent=naive", "model.price.input=0", "model.price.output=10")
    assert "most games end earlier: $0.10 per 100 steps of a game" in lines


def test_no_estimate_for_players_without_a_model(capsys: pytest.CaptureFixture[str]) -> None:
    assert "estimate" not in "\n".join(said(capsys, "agent=delver", "env.episodes=4"))


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("agnt=naive", "agnt: no such key"),
        ("env.tasks=[nle/X]", "env.tasks: unknown task 'X' of nle"),
        ("resume=results/X", "--dry-run: only valid for a new run; remove resume="),
    ],
)
def test_what_a_run_refuses_is_refused(words, says, capsys):
    assert main([words, "--dry-run"]) == 2
    assert capsys.readouterr().err.startswith(f"error: {says}")


@pytest.mark.parametrize(
    ("word", "says"),
    [
        ("model = scripted", "model = scripted: spaces around =; write model=scripted"),
        (f"run.folder={__file__}", "is a file; name a folder"),
        ("knowledge.corpus=minihak", "no such corpus, folder or file; did you mean minihack"),
    ],
)
def test_mistakes_are_refused(word: str, says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["model=scripted", word, "--dry-run"]) != 0
    assert says in capsys.readouterr().err
