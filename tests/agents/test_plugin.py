"""An agent from another package, installed with pip, plays without a change to this repository."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import command

PACKAGE = Path(__file__).parents[1] / "plugin_package"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder into which pip has installed the plug-in."""
    source = tmp_path_factory.mktemp("source") / "plugin"
    target = tmp_path_factory.mktemp("site")
    subprocess.run(["cp", "-r", str(PACKAGE), str(source)], check=True)
    pip = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--no-index",
        "--no-build-isolation",
    ]
    subprocess.run([*pip, "--target", str(target), str(source)], check=True)
    return target


def run(installed: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return command(arguments[0], *arguments[1:], cwd=Path.cwd(), PYTHONPATH=str(installed))


def test_a_plugged_in_agent_shows_its_own_words(installed: Path) -> None:
    done = run(installed, "balrog_rag.prompts", "show", "agent.name=planner", "agent=cot", "model=scripted")
    assert done.stderr == ""
    assert "Your plan: none yet\n\nIf your plan should change" in done.stdout


def test_a_plugged_in_agent_plays_inside_wrappers(installed: Path, tmp_path: Path) -> None:
    words = ["agent=planner", "agent.batch.size=2", "agent.notebook.enabled=true"]
    settings = ["model=scripted", "env=nethack", "env.episodes=1", "limits.steps=5", f"run.folder={tmp_path}"]
    answer = "model.options.answers=['PLAN: go down\\nACTION: search']"
    done = run(installed, "balrog_rag.eval", *words, *settings, answer, "run.name=x")
    assert done.returncode == 0, done.stderr
    journals = list((tmp_path / "x").rglob("*.jsonl"))
    steps = [line for line in journals[0].read_text().splitlines() if '"t":"step"' in line]
    assert [('"action":"search"' in line) for line in steps] == [True] * 5


def test_without_the_package_the_name_is_unknown() -> None:
    done = run(Path("/nowhere"), "balrog_rag.prompts", "show", "agent.name=planner", "model=scripted")
    assert done.returncode == 2
    assert "planner" in done.stderr
    assert done.stderr.count("\n") == 1
