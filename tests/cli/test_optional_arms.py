"""`make eval` succeeds although its embedded model did not finish: that arm is optional, and plays last."""

import csv
from pathlib import Path

import pytest

from balrog_rag.contracts.errors import ConfigError
from balrog_rag.results import experiments
from balrog_rag.run.sweep_plan import checked_sweep
from balrog_rag.run.sweep_play import alike
from tests.support import command


def test_an_optional_arm_plays_last() -> None:
    _, runs = checked_sweep(["+experiment=quickstart", "model=scripted"])
    assert [[run.label for run in group] for group in alike(runs)] == [
        ["random", "handcrafted", "stairs", "delver"],
        ["embedded"],
    ]


def test_an_optional_arm_must_exist(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.yaml").write_text(
        "{title: T, question: Q, baseline: a, arms: {a: [agent=random]}, optional: [b]}"
    )
    monkeypatch.setattr(experiments, "folder", lambda: tmp_path)
    with pytest.raises(ConfigError, match=r"optional 'b' is not an arm; use one of a$"):
        experiments.find("mine")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (["model.name=missing.gguf"], "missing.gguf"),
        (
            [
                "model=openai",
                "model.base_url=http://127.0.0.1:9",
                "model.retry.attempts=1",
                "limits.run.dollars=1",
            ],
            "episode",
        ),
    ],
    ids=["cannot begin", "fails while it plays"],
)
def test_an_unfinished_optional_arm_is_a_note(model: list[str], reason: str, tmp_path: Path) -> None:
    words = ("+experiment=quickstart", "env.episodes=1", "run.name=first", *model)
    done = command("balrog_rag.eval", *words, cwd=tmp_path, OPENAI_API_KEY="none")
    assert done.returncode == 0, done.stderr
    assert "note: embedded: not finished, but optional; all other runs are complete" in done.stderr
    assert reason in done.stderr
    assert "resume with: balrog-rag resume results/first" in done.stderr
    with (tmp_path / "results/first/sweep.csv").open() as file:
        ended = {row["run"]: row["ended"] for row in csv.DictReader(file)}
    assert {ended[arm] for arm in ("random", "handcrafted", "stairs", "delver")} == {"1"}
