"""Every command of the README is understood, and none uploads anything."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

README = Path(__file__).parents[1] / "README.md"
COMMANDS = re.findall(r"^ {4}(vf-eval .*)$", README.read_text(), re.MULTILINE)


def test_the_readme_shows_commands() -> None:
    assert len(COMMANDS) >= 2


@pytest.mark.parametrize("command", COMMANDS, ids=range(len(COMMANDS)))
def test_a_command_is_understood_and_uploads_nothing(command: str, tmp_path: Path) -> None:
    words = shlex.split(command)
    assert "--no-push" in words
    vf_eval = Path(sys.executable).with_name(words[0])
    done = subprocess.run([vf_eval, *words[1:], "--dry-run"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert list(tmp_path.rglob("eval.json"))
