"""`balrog-rag check`: by registered name or by file, one line per finding, and the exit code."""

from pathlib import Path

import pytest

from balrog_rag.cli import verbs
from balrog_rag.contracts import registry
from tests.api import faulty_game

TOP = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that are checked may register what they define."""
    for kinds in vars(registry).values():
        if isinstance(kinds, registry.Registry):
            monkeypatch.setattr(kinds, "_added", dict(kinds._added))


def test_what_is_sound_exits_with_0(capsys: pytest.CaptureFixture[str]) -> None:
    game = str(TOP / "examples" / "extend_game.py")
    assert verbs.main(["check", f"{game}:GUESS"]) == 0
    assert verbs.main(["check", "median_steps"]) == 2
    said = capsys.readouterr()
    assert said.out == f"{game}:GUESS: nothing is wrong\n"
    assert said.err.startswith("error: unknown plug-in 'median_steps'")


def test_each_finding_is_a_line_and_the_exit_code_is_1(capsys: pytest.CaptureFixture[str]) -> None:
    assert verbs.main(["check", f"{faulty_game.__file__}:FAULTY"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert "environment 'faulty': step('east').observation.numbers['at'] is " not in lines[0]
    assert any(line.startswith("environment 'faulty': view.default_action is 'rest'; use") for line in lines)


def test_a_registered_name_is_checked(capsys: pytest.CaptureFixture[str]) -> None:
    registry.environments.add("unmeasured")(faulty_game.UNMEASURED)
    assert verbs.main(["check", "unmeasured"]) == 1
    assert "measure 'far' is taken from number 'nope'" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "name", "said"),
    [
        ("", "GAME", "{file}: has no 'GAME'; "),
        ("GAMES = 1", "GAME", "{file}: has no 'GAME'; did you mean GAMES?"),
        ("import no_such_module", "GAME", "{file}: cannot be imported: "),
        ("GAME = 3", "GAME", "3: cannot be checked; pass a registered name"),
        (None, "GAME", "{file}: no such file; write FILE.py:NAME"),
    ],
)
def test_a_wrong_file_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str | None, name: str, said: str
) -> None:
    file = tmp_path / "odd_plugin.py"
    if text is not None:
        file.write_text(text)
    assert verbs.main(["check", f"{file}:{name}"]) == 2
    assert capsys.readouterr().err.startswith(f"error: {said.format(file=file)}")
