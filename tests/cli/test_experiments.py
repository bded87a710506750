"""An experiment is played arm by arm into one folder, and reported as one."""

from pathlib import Path

from balrog_rag.cli.grid import combinations
from tests.support import command, evaluate


def test_arms_multiply_with_swept_values() -> None:
    names = [run.name for run in combinations(["experiment=paper_table1", "run.seed=1,2"])]
    assert names == [
        "full,run.seed=1",
        "summarised,run.seed=1",
        "full,run.seed=2",
        "summarised,run.seed=2",
    ]


def test_a_preset_without_arms_is_one_run() -> None:
    assert [run.name for run in combinations(["experiment=quickstart"])] == ["run"]


def test_an_experiment_plays_every_arm_and_is_reported(tmp_path: Path) -> None:
    words = ("+experiment=paper_table1", "env.episodes=1", "limits.steps=3", "run.name=t")
    done = evaluate(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for arm in ("full", "summarised"):
        assert (tmp_path / "results/t" / arm / "summary.json").exists()
    reported = command("balrog_rag.report", "results/t", cwd=tmp_path)
    assert reported.returncode == 0, reported.stderr
    assert "not distinguishable" in reported.stdout or list(tmp_path.rglob("*.html"))
    again = command("balrog_rag.eval", "resume=results/t", cwd=tmp_path)
    assert again.returncode == 0, again.stderr
