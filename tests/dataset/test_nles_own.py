"""nle's own tests of its dataset code, on games that were recorded here instead of by NLE."""

import shutil
import subprocess
import sys
from pathlib import Path

import nle
import pytest

from tests.support import CLEAN

TESTS = Path(nle.__file__).parent / "tests"
OURS = """
import os
import test_db
from pathlib import Path
from balrog_rag.contracts.data import GameSpec, Seeds
from tests.dataset.support import press

MONK = {"character": "mon-hum-neu-mal"}

def gen_ttyrecs(savedir):
    for folder in range(2):
        for number in range(3):
            spec = GameSpec("nle", "NetHackChallenge-v0", Seeds(number, folder), 1000, MONK)
            name = f"nle.{number}.{2 * number}.ttyrec3.bz2"
            press(spec, ["up", "y"], Path("nle_data") / str(folder) / name)

test_db.gen_ttyrecs = gen_ttyrecs
"""


@pytest.mark.slow
def test_nles_tests_of_its_datasets_pass_on_our_recordings(tmp_path):
    folder = Path(shutil.copytree(TESTS, tmp_path / "tests"))
    (folder / "conftest.py").write_text(OURS)
    # of their own development packages only this one is imported by all; what it measures is left out
    (folder / "memory_profiler.py").write_text("memory_usage = None")
    names = [str(folder / f"test_{name}.py") for name in ("dataset", "db", "populate_db", "converter")]
    here = str(Path(__file__).parents[2])
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-k",
            "not memory",
            "-p",
            "no:cacheprovider",
            "--rootdir",
            str(folder),
            *names,
        ],
        cwd=folder,
        env={**CLEAN, "PYTHONPATH": here},
        capture_output=True,
        text=True,
    )
    last = done.stdout.splitlines()[-1] if done.stdout else done.stderr
    assert done.returncode == 0, done.stdout[-3000:]
    assert int(last.split(" passed")[0].split()[-1]) >= 40, last
