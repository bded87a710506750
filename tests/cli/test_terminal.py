"""Tables of results on narrow terminals: every column is there, and words are not broken."""

import csv
import io
import re
from pathlib import Path

import pytest
from rich.console import Console

from balrog_rag.results.terminal import broken, show_table
from tests.support import evaluate

SMALL = ("env.episodes=1", "limits.steps=5", "run.name=s")


def test_a_sweep_fits_a_narrow_terminal(tmp_path: Path) -> None:
    done = evaluate("-m", "agent=naive,robust_cot", "run.seed=1,2", *SMALL, cwd=tmp_path, COLUMNS="72")
    assert done.returncode == 0, done.stderr
    table = done.stdout.partition("sweep folder")[0]
    assert max(map(len, table.splitlines())) <= 72
    assert all(word in table for word in ("tokens", "dollars", "0.00", "agent=naive,", "run.seed=2"))
    assert "…" not in table


def test_task_names_stay_whole_in_a_pipe_and_are_broken_between_words_at_80(tmp_path: Path) -> None:
    task = "MiniHack-CorridorBattle-Dark"
    words = (f"env.tasks=[minihack/{task}-v0,minihack/MiniHack-Corridor-R3-v0]", "agent=naive", *SMALL)
    wide = evaluate(*words, cwd=tmp_path)
    assert f"  {task} " in wide.stdout, wide.stderr
    narrow = evaluate(*words, "run.folder=narrow", cwd=tmp_path, COLUMNS="80")
    lines = [line.split("  ")[1].strip() for line in narrow.stdout.splitlines() if line.startswith("  ")]
    assert "MiniHack-" in lines or "MiniHack-CorridorBattle-" in lines, narrow.stdout


def test_what_has_not_ended_has_no_score(tmp_path: Path) -> None:
    model = ("model=vllm", "model.name=hosted_vllm/none", "model.base_url=http://127.0.0.1:9/v1")
    done = evaluate(
        "-m", "run.seed=1,2", *model, "model.retry.attempts=1", "agent=naive", *SMALL, cwd=tmp_path
    )
    assert done.returncode == 1, done.stderr
    (row, _) = csv.DictReader((tmp_path / "results/s/sweep.csv").open())
    assert row["ended"] == "0"
    assert {row[name] for name in ("progression", "standard_error", "low", "high")} == {""}
    (shown,) = [line for line in done.stdout.splitlines() if "run.seed=1" in line]
    assert shown.split()[1:7] == ["(partial:", "0", "of", "1)", "0/1", "–"]


NUMBERS = ["5", "12.34 ± 12.34", "12.34 to 56.78", "10,000", "25.6M", "1,234.56"]


@pytest.mark.parametrize("width", [20, 40, 50, 60, 72, 200])
@pytest.mark.parametrize("words", [(0,), (0, 7)])
def test_no_terminal_is_too_narrow_for_names_and_numbers(width: int, words: tuple[int, ...]) -> None:
    screen = Console(width=width, file=io.StringIO())
    name, note = "MiniHack-CorridorBattle-Dark", "a note, and an end"
    row = [f"  {name}", *NUMBERS, note]
    show_table(screen, "run", ["task", "n", "progress", "95 %", "steps", "tokens", "$", "note"], [row], words)
    lines = screen.file.getvalue().splitlines()  # type: ignore[attr-defined]
    (at,) = [n for n, line in enumerate(lines) if NUMBERS[-1] in line]
    assert re.search(r" {2,}".join(map(re.escape, NUMBERS)), lines[at])
    names = lines[at].index(NUMBERS[0])
    assert "".join(line[:names].strip() for line in lines[at:]) == name


@pytest.mark.parametrize(
    ("name", "room", "lines"),
    [
        ("agent=naive,run.seed=1", 30, ["agent=naive,run.seed=1"]),
        ("agent=naive,run.seed=1", 21, ["agent=naive,", "  run.seed=1"]),
        ("agent=naive,run.seed=1", 14, ["agent=naive,", "  run.seed=1"]),
        ("  MiniHack-Corridor-R3", 20, ["  MiniHack-Corridor-", "    R3"]),
        ("abcdefghij", 6, ["abcdef", "  ghij"]),
        ("a note of many words", 10, ["a note of ", "  many ", "  words"]),
    ],
)
def test_names_are_broken_between_words(name: str, room: int, lines: list[str]) -> None:
    assert broken(name, room).split("\n") == lines
