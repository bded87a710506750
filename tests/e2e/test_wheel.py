"""The wheel without the checkout: it contains the data files, and an episode plays from it."""

import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PLAY = (
    "-m",
    "balrog_rag.eval",
    "agent=naive",
    "model=scripted",
    "env.episodes=1",
    "limits.steps=20",
    "run.name=r",
)


def run(*words: str | Path, cwd: Path, **environment: str) -> str:
    done = subprocess.run(
        [str(word) for word in words],
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("wheel")
    build = "import sys; from hatchling.build import build_wheel; build_wheel(sys.argv[1])"
    run(sys.executable, "-c", build, out, cwd=ROOT)
    return next(out.glob("*.whl"))


def test_data_travels_in_the_wheel_and_nothing_else_does(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    for inside in ("conf/config.yaml", "eval/progression.json", "wiki_index/sources.yaml"):
        assert f"balrog_rag/_data/{inside}" in names
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"balrog_rag"}
    assert not [name for name in names if "/built/" in name or name.endswith((".pyc", ".faiss"))]


def nethack_license() -> bytes:
    """The NetHack General Public License as the game's own package installs it."""
    import nle

    return (Path(nle.__file__).parent / "nethackdir/dat/license").read_bytes()


def test_nethacks_license_travels_unchanged_with_its_texts(wheel: Path, tmp_path: Path) -> None:
    build = "import sys; from hatchling.build import build_sdist; build_sdist(sys.argv[1])"
    run(sys.executable, "-c", build, tmp_path, cwd=ROOT)
    with tarfile.open(next(tmp_path.glob("*.tar.gz"))) as packed:
        top = packed.getnames()[0].split("/")[0]
        found = packed.extractfile(f"{top}/wiki_index/NETHACK-LICENSE")
        assert found is not None
        assert found.read() == nethack_license()
    with zipfile.ZipFile(wheel) as packed_wheel:
        info = next(name for name in packed_wheel.namelist() if name.endswith(".dist-info/METADATA"))
        assert b"License-File: wiki_index/NETHACK-LICENSE" in packed_wheel.read(info)
        for name in (
            info.replace("METADATA", "licenses/wiki_index/NETHACK-LICENSE"),
            "balrog_rag/_data/wiki_index/NETHACK-LICENSE",
        ):
            assert packed_wheel.read(name) == nethack_license()


def test_an_episode_plays_from_the_unpacked_wheel(wheel: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    zipfile.ZipFile(wheel).extractall(site)
    where = "import balrog_rag; print(balrog_rag.__file__)"
    assert run(sys.executable, "-c", where, cwd=tmp_path, PYTHONPATH=str(site)).startswith(str(site))
    out = run(sys.executable, *PLAY, cwd=tmp_path, PYTHONPATH=str(site))
    assert "run folder: results/r" in out
    assert (tmp_path / "results/r/summary.json").exists()


@pytest.mark.slow
def test_an_episode_plays_in_an_empty_environment(wheel: Path, tmp_path: Path) -> None:
    run(sys.executable, "-m", "venv", tmp_path / "venv", cwd=tmp_path)
    python = tmp_path / "venv/bin/python"
    run(python, "-m", "pip", "install", "-q", "-c", ROOT / "constraints.txt", wheel, cwd=tmp_path)
    assert "run folder: results/r" in run(python, *PLAY, cwd=tmp_path)
