"""The container file and the Kubernetes manifest, checked by the linters that their users have."""

import subprocess
import sys
from pathlib import Path

import kubernetes_validate
import pytest
import yaml

TOP = Path(__file__).parents[3]


def hadolint(path: Path) -> subprocess.CompletedProcess[str]:
    command = [Path(sys.executable).with_name("hadolint"), "--failure-threshold", "info", path]
    return subprocess.run(command, capture_output=True, text=True)


def test_hadolint_accepts_the_container_file(tmp_path: Path) -> None:
    done = hadolint(TOP / "Dockerfile")
    assert done.returncode == 0, done.stdout
    broken = tmp_path / "Dockerfile"
    broken.write_text((TOP / "Dockerfile").read_text() + "RUN cd /tmp\n")
    assert hadolint(broken).returncode != 0  # it is looking


def test_the_indexed_job_matches_the_schema_of_kubernetes() -> None:
    (job,) = yaml.safe_load_all((TOP / "examples/cluster/kubernetes_indexed_job.yaml").read_text())
    kubernetes_validate.validate(job, "1.31", strict=True)
    job["spec"]["completionMod"] = "Indexed"
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(job, "1.31", strict=True)
