"""The slow tests in parts: none is left out, and CI reaches every part."""

import os
import re
import subprocess
import sys
from argparse import ArgumentTypeError
from collections import Counter
from pathlib import Path

import pytest

from tests.parts import Part
from tests.support import CLEAN, PATIENCE

ROOT = Path(__file__).parents[1]


def test_every_test_is_in_exactly_one_part() -> None:
    names = [f"tests/x/test_y.py::test_{number}" for number in range(600)]
    counts = Counter(number for name in names for number in range(1, 7) if name in Part(number, 6))
    assert counts.total() == len(names)
    assert min(counts.values()) > 70


@pytest.mark.parametrize("text", ["", "3", "0/6", "7/6", "1/0", "-1/6", "1/6/2", "a/b", "1/6\n"])
def test_a_part_that_is_not_k_of_n_is_refused(text: str) -> None:
    with pytest.raises(ArgumentTypeError, match=r"expected K/N with 1 <= K <= N, got "):
        Part.read(text)


def test_pytest_runs_the_tests_of_the_part(request: pytest.FixtureRequest) -> None:
    """Collected again in two processes: together they find this file's tests, each of them once."""
    here = {item.nodeid for item in request.session.items if item.path == request.path}
    first, second = (collected(f"--part={number}/2") for number in (1, 2))
    assert first
    assert second
    assert not first & second
    assert here <= first | second


def collected(part: str) -> set[str]:
    command = [sys.executable, "-m", "pytest", "--collect-only", part, __file__]
    done = subprocess.run(command, cwd=ROOT, env=CLEAN, capture_output=True, text=True, check=True)
    return set(re.findall(r"^tests/.*::.*$", done.stdout, re.MULTILINE))


def test_ci_runs_another_sixth_each_day(tmp_path: Path) -> None:
    """`make` and `date` are replaced by programs that note what they are asked for, and give the day."""
    for name, does in {"make": f'echo "$@" >> {tmp_path}/asked', "date": 'echo "$DAY"'}.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{does}\n")
        (tmp_path / name).chmod(0o755)
    for day in ("001", "008", "009", "010", "011", "012", "366"):
        path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
        subprocess.run(
            [ROOT / ".ci" / "run"], env={**CLEAN, "PATH": path, "DAY": day}, check=True, timeout=PATIENCE
        )
    asked = (tmp_path / "asked").read_text().splitlines()
    assert asked[:2] == ["check", "test"]
    assert [line for line in asked if "slow" in line] == [
        f"test-slow PART={part}/6" for part in (2, 3, 4, 5, 6, 1, 1)
    ]


def test_make_passes_the_part_on() -> None:
    with_part, without = (
        subprocess.run(
            ["make", "-n", "-o", "setup", "test-slow", *words],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for words in (["PART=2/6"], [])
    )
    assert "-m slow --part 2/6" in with_part
    assert "--part" not in without
