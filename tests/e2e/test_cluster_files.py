"""The files in examples/cluster do what their comments say, with stand-ins for what this machine lacks."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from balrog_rag.results.arms import load_arms
from balrog_rag.results.run_folder import journals
from tests.support import CLEAN

FILES = Path(__file__).parents[2] / "examples/cluster"
SHORT = "model=scripted agent=naive env=corridor env.episodes=4 limits.steps=2"


def on_the_path(place: Path, **programs: str) -> str:
    """A folder with `balrog-rag` and stand-in programs, first on the PATH."""
    folder = place / "bin"
    folder.mkdir()
    programs["balrog-rag"] = f'exec {sys.executable} -m balrog_rag "$@"'
    for name, script in programs.items():
        (folder / name).write_text(f"#!/bin/bash\n{script}\n")
        (folder / name).chmod(0o755)
    return f"{folder}{os.pathsep}{CLEAN['PATH']}"


def run(words: list[str], place: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    source = str(Path(__file__).parents[2])
    return subprocess.run(
        words,
        cwd=place,
        env={**CLEAN, "PYTHONPATH": source, **environment},
        text=True,
        capture_output=True,
        check=True,
    )


@pytest.mark.slow
def test_elements_of_the_slurm_array_make_one_run(tmp_path: Path) -> None:
    path = on_the_path(tmp_path)
    for task in (1, 2, 5):
        slurm = {"SLURM_ARRAY_TASK_ID": str(task), "SLURM_ARRAY_TASK_MIN": "1", "SLURM_ARRAY_TASK_COUNT": "8"}
        run(["bash", str(FILES / "slurm_array.sbatch")], tmp_path, PATH=path, OVERRIDES=SHORT, **slurm)
    shards = tmp_path / "results/nethack_cot.shards"
    assert sorted(path.name for path in shards.iterdir()) == ["1-of-8", "2-of-8", "5-of-8"]
    assert load_arms([shards])[0].partial.endswith("of 4") or len(journals(shards)) == 4


@pytest.mark.slow
def test_two_machines_make_one_run(tmp_path: Path) -> None:
    there = tmp_path / "there"
    there.mkdir()
    path = on_the_path(
        tmp_path,
        ssh=f'shift; cd {there} && exec bash -c "$*"',
        rsync=f'shift; from={there}/${{1#*:}}; mkdir -p "$2" && cp -r "$from." "$2"',
    )
    words = [*SHORT.split(), "agent.options={}"]
    made = run([str(FILES / "two_machines.sh"), "other-host", *words], tmp_path, PATH=path)
    merged = tmp_path / "results/two_machines"
    assert len(journals(merged)) == 4
    assert load_arms([merged])[0].partial == ""
    assert "merged from 2 parts" in made.stdout
    shutil.rmtree(merged)
    again = run([str(FILES / "two_machines.sh"), "other-host", *words], tmp_path, PATH=path)
    assert "merged from 2 parts" in again.stdout


def test_manifests_play_the_shards_that_they_start() -> None:
    job = msgspec.yaml.decode((FILES / "kubernetes_indexed_job.yaml").read_bytes())
    (container,) = job["spec"]["template"]["spec"]["containers"]
    assert f"runner.shard=/{job['spec']['completions']}" in container["args"]
    assert job["spec"]["completionMode"] == "Indexed"
    sky = msgspec.yaml.decode((FILES / "skypilot_spot.yaml").read_bytes())
    assert "runner.shard=$SHARD" in sky["run"]
    ray = msgspec.yaml.decode((FILES / "kuberay_rayjob.yaml").read_bytes())
    assert "runner=ray runner.address=auto" in ray["spec"]["entrypoint"]
