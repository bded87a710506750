"""Untrusted text printed by `balrog-rag show` cannot control a terminal."""

from pathlib import Path

import pytest

from balrog_rag.cli.episode import main
from balrog_rag.cli.main import main as evaluate
from balrog_rag.contracts.data import Passage
from balrog_rag.contracts.events import Searched
from balrog_rag.display.show import Printer
from balrog_rag.results.run_folder import journals

EVIL = "\x1b[2J\x1b[1;1Howned\u202e"


def harmless(text: str) -> bool:
    return all(character.isprintable() or character in "\n\t" for character in text)


def test_a_passages_id_and_title_stay_on_their_line(capsys: pytest.CaptureFixture[str]) -> None:
    passages = (Passage(f"1\n{EVIL}", f"Newt\n{EVIL}", "text"),)
    Printer(only=None, brief=False).see(Searched("e", 0, EVIL, passages))
    shown = capsys.readouterr().out
    assert "owned" in shown
    assert harmless(shown)
    assert shown.count("\n") == 2


@pytest.mark.parametrize("command", ["verify", "show"])
def test_names_of_foreign_journals_are_shown_harmless(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    journal = tmp_path / f"{EVIL}.journal.jsonl"
    journal.write_text("no journal\n")
    assert main([command, str(journal)]) == 1
    said = "".join(capsys.readouterr())
    assert "owned" in said
    assert harmless(said)


def test_a_brief_look_says_how_it_ended(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A game in which a random player soon dies; its cause of death is printed."""
    words = ["agent=random", "env.episodes=1", "env.seeding=fixed", "env.seeds=[190]", "env.no_progress=0"]
    assert evaluate([*words, f"run.folder={tmp_path}", "run.name=r", "runner.log=plain"]) == 0
    told, log = capsys.readouterr().err, (tmp_path / "r/eval.log").read_text()
    (path,) = journals(tmp_path / "r")
    assert main(["show", str(path), "--brief"]) == 0
    *_, fatal, last = capsys.readouterr().out.splitlines()
    assert last == "75 steps, died: killed by a fox, while disrobing; replay matches"
    assert "You die" in fatal
    assert "/00: died after 75 steps (killed by a fox, while disrobing), " in told
    assert "ended after 75 steps: died: killed by a fox, while disrobing" in log
