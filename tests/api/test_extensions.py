"""The six examples of extensions: each runs as a script, and installed from a package."""

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import command

TOP = Path(__file__).parents[2]


def played(name: str, *words: str) -> None:
    """Run an example as a script."""
    before, sys.argv = sys.argv, [name, *words]
    try:
        runpy.run_path(str(TOP / "examples" / f"extend_{name}.py"), run_name="__main__")
    finally:
        sys.argv = before


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("agent", ["2 episodes ended", "Your note: it is dark.", "Write one sentence to remember"]),
        ("game", ["3 episodes ended", "guess/to-100/02"]),
        ("skill", ["stride east 9: 4 keys, blocked after 3 steps", "failed: the way east is blocked"]),
        ("statistic", ["dummy, minihack: share of the most frequent action: 100.0", "median steps: 20.0"]),
        ("watcher", ["Corridor", "of 6 answers were invalid", "invalid answers in all: 6"]),
    ],
)
def test_an_example_runs_as_a_script(
    name: str, said: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    played(name, "runner.log=none", "run.seed=7")
    out = capsys.readouterr().out
    assert [text for text in said if text not in out] == [], out


ENTRY_POINTS = """\
[balrog_rag.agents]
noting = extend_agent:Noting
[balrog_rag.environments]
guess = extend_game:GUESS
[balrog_rag.programs]
stride = extend_skill:STRIDE
[balrog_rag.statistics]
repetition = extend_statistic:REPETITION
median_steps = extend_statistic:MEDIAN_STEPS
[balrog_rag.watchers]
invalid_answers = extend_watcher:InvalidAnswers
[balrog_rag.commands]
longest = extend_command:LONGEST
broken = no_such_module:BROKEN
crashes = extend_command:CRASHES
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as pip makes it: the examples as modules, and their package's entry points."""
    folder = tmp_path_factory.mktemp("site")
    for file in (TOP / "examples").glob("extend_*.py"):
        text = "".join(
            line for line in file.read_text().splitlines(True)
            if not line.startswith(("@balrog_rag.register", "balrog_rag.register"))
        )  # fmt: skip
        (folder / file.name).write_text(text)
    with (folder / "extend_command.py").open("a") as file:
        file.write("CRASHES = Command(name='crashes', help='one line', run=lambda words: words['x'])\n")
    about = folder / "extensions-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: extensions\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(ENTRY_POINTS)
    return folder


def commanded(installed: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run `balrog-rag` where that package is installed."""
    return command("balrog_rag", *words, cwd=installed, PYTHONPATH=str(installed))


def test_installed_commands_are_listed_and_run(installed: Path) -> None:
    said = commanded(installed, "--help")
    assert "longest" in said.stdout
    assert "the longest episode of each run" in said.stdout
    assert "broken: command plug-in 'broken'" in said.stdout  # and all others are listed
    assert "knowledge judge" in said.stdout
    assert (said.returncode, said.stderr) == (0, "")
    for words, code, error in (
        (["longest", "no_run"], 1, "error: no_run: "),
        (["longset"], 2, "did you mean longest"),
        (["broken"], 2, "No module named 'no_such_module'"),
        (["crashes"], 2, "error: command crashes failed: extend_command.py"),
    ):
        done = commanded(installed, *words)
        assert (done.returncode, error in done.stderr, done.stderr.count("\n")) == (code, True, 1), done


def test_an_installed_package_extends_a_run(installed: Path) -> None:
    words = ["agent=noting", "env.tasks=[guess/to-100]", "env.episodes=2", "model=scripted"]
    done = commanded(
        installed, "run", *words, "run.watch=[invalid_answers]", "run.name=guessed", "runner.log=none"
    )
    assert done.returncode == 0, done.stderr
    assert "invalid answers in all: " in done.stdout
    assert "share of the most frequent action: " in done.stdout
    longest = commanded(installed, "longest", "results/guessed")
    assert "results/guessed: guess/to-100/0" in longest.stdout
    strides = commanded(
        installed, "run", "agent=naive", "env=corridor", "env.programs=[stride]", "env.episodes=1",
        "limits.steps=2", "model=scripted", 'model.options.answers=["stride east 9"]', "runner.log=none",
    )  # fmt: skip
    assert strides.returncode == 0, strides.stderr
