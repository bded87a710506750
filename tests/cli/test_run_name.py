"""Invalid names of runs are rejected before anything is written."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import CLEAN

WORDS = (b"model=scripted", b"agent=naive", b"env=corridor", b"limits.steps=1", b"env.episodes=1")


def played(folder: Path, *words: bytes) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [os.fsencode(sys.executable), b"-m", b"balrog_rag.eval", *WORDS, *words],
        cwd=folder,
        env=CLEAN,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )


@pytest.mark.parametrize(
    ("word", "says"),
    [
        (b"run.name=\xff\xfe", "not UTF-8; write it in UTF-8"),
        (b"run.folder=\xff", "not UTF-8; write it in UTF-8"),
        (b"run.name='a\x1b[31mb'", "contains control characters; use plain text"),
        ("run.name='a\u202eb'".encode(), "contains control characters; use plain text"),
    ],
)
def test_a_bad_name_is_refused_in_one_line(tmp_path: Path, word: bytes, says: str) -> None:
    done = played(tmp_path, word)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"error: {word.partition(b'=')[0].decode()}=")
    assert line.endswith(says)
    assert line.isprintable()
    assert list(tmp_path.iterdir()) == []


def test_letters_of_any_alphabet_make_a_name(tmp_path: Path) -> None:
    done = played(tmp_path, "run.name='größe-試し'".encode())
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "results/größe-試し/summary.json").exists()
