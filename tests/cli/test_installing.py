"""`make setup` installs with uv if there is one, otherwise with pip, and shows progress in plain logs."""

import os
import shutil
import subprocess
import venv
import zipfile
from pathlib import Path

import pytest

from tests.support import CLEAN

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = 12


@pytest.fixture
def wheels(tmp_path: Path) -> Path:
    """Small packages as files, so that nothing is downloaded."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    for number in range(PACKAGES):
        name, info = f"small{number}", f"small{number}-1.dist-info"
        with zipfile.ZipFile(folder / f"{name}-1-py3-none-any.whl", "w") as wheel:
            wheel.writestr(f"{name}.py", "")
            wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
            wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            wheel.writestr(f"{info}/RECORD", "")
    return folder


def installed(folder: Path, wheels: Path, *names: str, path: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in CLEAN.items() if not name.startswith("PIP_")}
    command = [
        "bash",
        ROOT / ".ci/install",
        folder / "bin/python",
        "--no-index",
        "--find-links",
        wheels,
        *names,
    ]
    return subprocess.run(
        [*map(str, command)], env={**environment, "PATH": path}, capture_output=True, text=True
    )


def without_uv() -> str:
    folders = os.environ["PATH"].split(os.pathsep)
    return os.pathsep.join(each for each in folders if not (Path(each) / "uv").exists())


@pytest.mark.slow
def test_pip_shows_counts(tmp_path: Path, wheels: Path) -> None:
    venv.create(tmp_path / "env", with_pip=True)
    names = [f"small{number}" for number in range(PACKAGES)]
    done = installed(tmp_path / "env", wheels, *names, path=without_uv())
    assert done.returncode == 0, done.stderr
    lines = [line.strip() for line in done.stdout.splitlines()]
    assert [line for line in lines if not line.endswith("installed")] == [
        "10 packages found",
        f"installing {PACKAGES} packages",
    ]


@pytest.mark.slow
def test_what_cannot_be_installed_is_an_error(tmp_path: Path, wheels: Path) -> None:
    venv.create(tmp_path / "env", with_pip=True)
    done = installed(tmp_path / "env", wheels, "missing", path=without_uv())
    assert done.returncode != 0
    assert "No matching distribution found for missing" in done.stderr


@pytest.mark.skipif(shutil.which("uv") is None, reason="uv is not installed; pip install uv")
def test_uv_is_preferred(tmp_path: Path, wheels: Path) -> None:
    venv.create(tmp_path / "env", with_pip=False)  # so that pip cannot have installed it
    done = installed(tmp_path / "env", wheels, "small0", path=os.environ["PATH"])
    assert done.returncode == 0, done.stderr
    found = subprocess.run([tmp_path / "env/bin/python", "-c", "import small0"], capture_output=True)
    assert found.returncode == 0


@pytest.mark.slow
def test_where_uv_fails_pip_installs(tmp_path: Path, wheels: Path) -> None:
    """As on a machine whose mirror is known to pip alone."""
    venv.create(tmp_path / "env", with_pip=True)
    uv = tmp_path / "bin/uv"
    uv.parent.mkdir()
    uv.write_text("#!/bin/sh\nexit 2\n")
    uv.chmod(0o755)
    done = installed(tmp_path / "env", wheels, "small0", path=f"{uv.parent}{os.pathsep}{os.environ['PATH']}")
    assert done.returncode == 0, done.stderr
    assert "uv failed; installing with pip" in done.stderr
