"""The yes/no questions of finished games, put to a model with and without a passage."""

import json
from pathlib import Path

import pytest

from balrog_rag.cli.knowledge import main
from balrog_rag.envs.nethack.decisions import right_answer
from balrog_rag.envs.nethack.logged import read_logged
from balrog_rag.studies.yes_no_questions import letter_of, sign_test
from tests.studies.test_endings import screen

PRAY, CLIMB = (
    "Are you sure you want to pray? [yn] (n)",
    "Beware, there will be no return!  Still climb? [yn] (n)",
)


@pytest.mark.parametrize(
    ("message", "shown", "done", "right"),
    [
        (CLIMB, {}, {}, "n"),
        ("Really attack the gnome? [yn] (n)", {}, {}, "n"),
        ("Continue eating? [yn] (n)", {"signs": "Satiated"}, {}, "n"),
        ("Continue eating? [yn] (n)", {}, {}, ""),
        (
            "There is a newt corpse here; eat it? [ynq] (n)",
            {"signs": "Hungry"},
            {},
            "",
        ),  # its age is not shown
        (PRAY, {"hp": 2, "turn": 400}, {}, "y"),
        (PRAY, {"hp": 2, "turn": 90}, {}, "n"),
        (PRAY, {"hp": 9, "turn": 400}, {}, "n"),
        (PRAY, {"hp": 9, "turn": 400, "signs": "Weak"}, {}, "y"),
        (PRAY, {"hp": 2, "turn": 900}, {"prayer": 400}, "n"),
        (PRAY, {"hp": 2, "turn": 1500}, {"prayer": 400}, "y"),
        ("Still climb?", {}, {}, ""),  # no longer open
        ("", {}, {}, ""),
    ],
)
def test_the_rules_decide_or_leave_it_open(
    message: str, shown: dict[str, object], done: dict[str, int], right: str
) -> None:
    assert right_answer(read_logged(screen(message, **shown)), done) == right


@pytest.mark.parametrize(
    ("text", "letter"), [("y", "y"), ("No.", "n"), ("I would not: yes is bad, so n", "n"), ("maybe", "")]
)
def test_the_answers_letter(text: str, letter: str) -> None:
    assert letter_of(text) == letter


def test_the_sign_test_by_example() -> None:
    assert sign_test(0, 0) == 1
    assert sign_test(5, 5) == 1
    assert sign_test(0, 6) == sign_test(6, 0) == pytest.approx(2 / 64)


def test_every_question_is_asked_in_every_arm(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "stairs.md").write_text("# Stairs up on dungeon level 1\nNever climb them.\n")
    (notes / "prayer.md").write_text("# Is it safe to pray now\nPray once when low.\n")
    moments = [screen(CLIMB), screen("You stay."), screen(PRAY, hp=2, turn=400), *[screen(CLIMB)] * 5, "end"]
    last = [{"step": n, "action": "n", "observation": text} for n, text in enumerate(moments)]
    path = tmp_path / "games.jsonl"
    path.write_text(json.dumps({"file": "a", "end": "escaped", "cause": "left the dungeon", "last": last}))
    words = [f"knowledge.corpus={notes}", "knowledge.index=bm25", "model.options.answers=[n]"]
    assert main(["questions", str(path), "--model", "scripted", "--json", *words]) == 0
    made = json.loads(capsys.readouterr().out)
    assert [(arm["arm"], arm["right"], arm["questions"], arm["yes"]) for arm in made["arms"]] == [
        ("none", 3, 4, 0), ("shuffled", 3, 4, 0), ("passage", 3, 4, 0)
    ]  # fmt: skip
    assert [each["passage"] for each in made["list"]] == [
        "notes/stairs",
        "notes/prayer",
        *["notes/stairs"] * 2,
    ]
    assert [each["other"] for each in made["list"]] == ["notes/prayer", "notes/stairs", *["notes/prayer"] * 2]
    assert (made["better"], made["worse"], made["p"]) == (0, 0, 1.0)


def test_a_file_without_such_a_question_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "games.jsonl"
    last = [{"step": n, "action": "n", "observation": screen()} for n in range(3)]
    path.write_text(json.dumps({"file": "a", "end": "died", "cause": "other", "last": last}))
    assert main(["questions", str(path), "--model", "scripted"]) == 2
    assert "no game asks a yes/no question" in capsys.readouterr().err
