"""Trajectories, traces, tables and logs, read by the packages of their formats."""

import json
from pathlib import Path

import huggingface_hub
import pytest
from conftest import export
from datasets import Dataset, load_dataset
from harbor.models.trajectories import Trajectory
from harbor.utils.trajectory_validator import TrajectoryValidator

import balrog_rag


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / "cache")


def rows(kind: str, files: list[Path], place: Path) -> Dataset:
    """Load files as a data set of the Hugging Face Hub would be loaded."""
    names = [str(path) for path in files]
    return load_dataset(kind, data_files=names, split="train", cache_dir=str(place / "cache"))


@pytest.mark.parametrize("name", ["searching", "skilled", "unasked"])
def test_harbor_accepts_trajectories(name: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    for path in export(request.getfixturevalue(name), "atif", tmp_path):
        validator = TrajectoryValidator()
        assert validator.validate(path), validator.errors


def test_harbor_finds_the_trajectories_of_skills(skilled: balrog_rag.Run, tmp_path: Path) -> None:
    path, _ = export(skilled, "atif", tmp_path)
    made = Trajectory.model_validate_json(path.read_text())
    embedded = {each.trajectory_id: each for each in made.subagent_trajectories}
    named = [
        reference.trajectory_id
        for step in made.steps
        for result in (step.observation.results if step.observation else ())
        for reference in result.subagent_trajectory_ref or ()
    ]
    assert named == list(embedded)
    assert {each.agent.name for each in embedded.values()} == {"explore_level"}
    broken = json.loads(path.read_text())
    del broken["subagent_trajectories"][0]["trajectory_id"]
    path.write_text(json.dumps(broken))
    assert not TrajectoryValidator().validate(path)


def test_datasets_reads_session_traces(searching: balrog_rag.Run, tmp_path: Path) -> None:
    files = export(searching, "hf-traces", tmp_path / "out")
    read = rows("json", files, tmp_path)
    assert read.num_rows == 2  # a row per session, so they were recognised as traces
    assert read["trace"][0] == files[0].read_text().rstrip("\n") or read["trace"][0] == files[0].read_text()
    assert "MiniHack" in read["prompt"][0]


def test_datasets_reads_the_tables(searching: balrog_rag.Run, tmp_path: Path) -> None:
    calls, episodes, steps = export(searching, "parquet", tmp_path / "out")
    assert rows("parquet", [episodes], tmp_path)["episode"][:] == list(searching.episodes["episode"])
    assert rows("parquet", [calls], tmp_path).num_rows == 24
    numbers = rows("parquet", [steps], tmp_path)[0]["numbers"]
    assert {each["name"] for each in numbers} >= {"turn", "hp"}


def test_datasets_reads_inspect_logs(searching: balrog_rag.Run, tmp_path: Path) -> None:
    read = rows("eval", export(searching, "inspect", tmp_path / "out"), tmp_path)
    names = [json.loads(each)["episode"] for each in read["metadata"]]
    assert names == list(searching.episodes["episode"])
    progression = [json.loads(each)["progression"]["value"] for each in read["scores"]]
    assert sum(progression) / 2 == searching.summary["average_progress"] / 100


def test_the_hub_reads_results_of_a_model(searching: balrog_rag.Run, tmp_path: Path) -> None:
    (path,) = export(searching, "hf-results", tmp_path, "--dataset", "university/balrog")
    (entry,) = huggingface_hub.parse_eval_result_entries(balrog_yaml(path))
    assert (entry.dataset_id, entry.task_id) == ("university/balrog", "minihack")
    assert entry.value == round(searching.summary["average_progress"], 4)


def balrog_yaml(path: Path) -> list[dict[str, object]]:
    """The entries of a file for `.eval_results/`."""
    import yaml

    return yaml.safe_load(path.read_text())
