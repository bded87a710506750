"""The command `balrog-rag`: every verb reaches its command, its usage names it, and mistakes are one line."""

import subprocess
import sys
from pathlib import Path

import pytest

from balrog_rag.cli import command_line, verbs
from tests.support import command

PACKAGE = Path(__file__).parents[2] / "balrog_rag"


@pytest.fixture(autouse=True)
def called_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command_line, "prefix", command_line.prefix)


def test_every_command_has_a_verb() -> None:
    doors = {path.stem for path in PACKAGE.glob("[a-z]*.py")} | {
        path.parent.name for path in PACKAGE.glob("*/__main__.py")
    }
    assert doors - {"builtins", "eval", "episode"} <= set(verbs.VERBS)


@pytest.mark.parametrize(
    "verb", [verb for verb in verbs.VERBS if verb not in ("run", "sweep", "resume", "export")]
)
def test_a_verbs_usage_names_the_verb(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        verbs.main([verb, "--help"])
    assert stopped.value.code == 0
    assert capsys.readouterr().out.startswith(f"usage: balrog-rag {verb} ")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("agent=naive", "write balrog-rag run agent=naive"),
        ("-m agent=naive,cot", "write balrog-rag sweep agent=naive,cot"),
        ("eval agent=naive", "write balrog-rag run agent=naive"),
        ("episode show J", "write balrog-rag show J"),
        ("comapre a b", "comapre: no such verb; did you mean compare"),
        ("completion sh", "completion sh: unknown shell"),
        ("--agent naive", "--agent: a key, not a flag; write balrog-rag run agent=naive"),
        ("--dry-run agent=cot", "--dry-run: verb missing; write balrog-rag run --dry-run agent=cot"),
        ("resume", "resume: run folder missing; write balrog-rag resume RUN"),
        ("sweep", "sweep: nothing to combine; list values"),
        ("help me", "me: no such verb"),
        ("rollout foo", "task: 'foo': expected env/task"),
    ],
)
def test_mistakes_are_one_line(words: str, says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert verbs.main(words.split()) == 2
    assert capsys.readouterr().err.startswith(f"error: {says}")


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ([""], {"run", "compare"}),
        (["run", "ag"], {"agent=", "agent.lenient="}),
        (["run", "agent="], {"agent=naive", "agent=robust_star_rag"}),
        (["report", "x"], set()),
    ],
)
def test_a_shell_can_complete_words(words: list[str], found: set[str]) -> None:
    assert found <= set(verbs.candidates(words))


def test_completion_has_a_help_like_every_other_verb(tmp_path: Path) -> None:
    done = command("balrog_rag", "completion", "--help", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("usage: balrog-rag completion {bash,fish,zsh}\n")


def test_the_commands_of_results_stand_on_lines_of_their_own(tmp_path: Path) -> None:
    shown = command("balrog_rag", "results", "--help", cwd=tmp_path).stdout
    assert "\nbalrog-rag results merge RUN.shards --out RUN\n" in shown


def test_bash_accepts_the_completion() -> None:
    script = subprocess.run(
        [sys.executable, "-m", "balrog_rag", "completion", "bash"], capture_output=True, text=True, check=True
    ).stdout
    assert subprocess.run(["bash", "-n"], input=script, text=True).returncode == 0


def test_a_run_is_played_resumed_and_verified_by_verbs(tmp_path: Path) -> None:
    words = (
        "model=scripted",
        "agent=naive",
        "env=corridor",
        "env.episodes=1",
        "limits.steps=3",
        "run.name=r",
    )
    assert command("balrog_rag", "run", *words, "run.name=r", cwd=tmp_path).returncode == 0
    assert command("balrog_rag", "resume", "results/r", cwd=tmp_path).returncode == 0
    done = command("balrog_rag", "verify", "results/r", cwd=tmp_path)
    assert (done.returncode, "equal" in done.stdout) == (0, True)


def test_help_is_understood_as_a_word_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert [verbs.main([word]) for word in ("--help", "help")] == [0, 0]
    first, second = capsys.readouterr().out.split("usage: ")[1:]
    assert first == second


@pytest.mark.parametrize("words", ["help compare", "compare help", "compare --help"])
def test_help_of_a_verb(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        verbs.main(words.split())
    assert stopped.value.code == 0
    assert capsys.readouterr().out.startswith("usage: balrog-rag compare ")


@pytest.mark.parametrize("verb", ["knowledge", "bank", "dataset", "learn"])
def test_a_verb_without_its_command_says_so(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert verbs.main([verb]) == 2
    out, err = capsys.readouterr()
    assert out.startswith(f"usage: balrog-rag {verb}")
    assert err == f"error: balrog-rag {verb}: COMMAND missing; choose one of those above\n"
