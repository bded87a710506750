"""Episodes that consist of BALROG's CSV and record only, and recordings of a range of steps."""

import csv
import json
import re
import shutil
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from balrog_rag.results.run_folder import journals as journals_of
from balrog_rag.util.files import FileNotWritten
from balrog_rag.viewer import bundle
from balrog_rag.viewer.listing import listed
from balrog_rag.viewer.published_episodes import UNSEEN, how_of, published_outcome
from balrog_rag.viewer.rebuilding import RebuiltEpisode
from balrog_rag.viewer.screen_recording import moments, write
from tests.support import command, largest_file
from tests.viewer.support import documents


@pytest.fixture
def submission(runs: Path, tmp_path: Path) -> Path:
    """The run as on BALROG's leaderboard: no journal, no configuration."""
    left_out = shutil.ignore_patterns("*.journal.jsonl", "config.json", "run.json", ".*")
    return Path(shutil.copytree(runs / "told", tmp_path / "20260101_told", ignore=left_out))


def test_a_submission_opens_with_what_it_holds(submission: Path, tmp_path: Path) -> None:
    bundle.write(listed([submission]), tmp_path / "page.html")
    found = documents(tmp_path / "page.html")
    file = submission / "nle/NetHackChallenge-v0/NetHackChallenge-v0_run_00.csv"
    record = json.loads(file.with_suffix(".json").read_text())
    with file.open(newline="") as text:
        rows = list(csv.DictReader(text, escapechar="˘"))
    row, head = found["run"]["episodes"][0], found["0/head"]
    assert (row["steps"], row["progression"]) == (record["num_steps"], 100 * record["progression"])
    assert row["tokens"] == record["input_tokens"] + record["output_tokens"]
    names = head["actions"]["names"]
    assert [names[place] for place in head["actions"]["of"]] == [each["Action"] for each in rows]
    assert "does not contain prompts" in head["without"]
    curves = {curve["name"]: curve["values"] for curve in head["curves"]}
    assert "progression" not in curves  # how far it had come at a step is not known
    turns = [int(turn[1]) for each in rows if (turn := re.search(r" T:(\d+)", each["Observation"]))]
    assert len(turns) == len(rows)
    assert head["clock"] == [turns[0], *turns]
    assert max(turns) == turns[-1] == curves["turns"][-1]
    screens = found["0/0"]["screens"]
    assert screens[0][0]["rows"] == [UNSEEN]
    assert "\n".join(screens[1][0][0][3]) == rows[0]["Observation"]


def test_a_record_that_is_none_is_one_line(submission: Path, tmp_path: Path) -> None:
    next(submission.glob("nle/*/*_run_00.json")).write_text("[]")
    done = command("balrog_rag", "view", str(submission), "--out", "x.html", cwd=tmp_path)
    assert done.returncode != 0
    assert done.stderr.startswith("error: ")
    assert "not an episode record" in done.stderr


class Terminal:
    """The part of a terminal that a recording needs."""

    def __init__(self, width: int, height: int) -> None:
        self.cells = [[" "] * width for _ in range(height)]
        self.at = (0, 0)

    def write(self, text: str) -> None:
        parts = text.split("\x1b[")
        assert parts[0] == ""
        for part in parts[1:]:
            end = next(place for place, sign in enumerate(part) if sign.isalpha())
            self._act(part[end], part[:end])
            for sign in part[end + 1 :]:
                row, column = self.at
                self.cells[row][column] = sign
                self.at = (row, column + 1)

    def _act(self, what: str, numbers: str) -> None:
        if what == "H":
            row, column = map(int, numbers.split(";"))
            self.at = (row - 1, column - 1)
        elif what == "J":
            self.cells = [[" "] * len(row) for row in self.cells]
        elif what == "K":
            self.cells[self.at[0]] = [" "] * len(self.cells[0])
        else:
            assert what == "m"


def test_an_asciicast_shows_every_screen(runs: Path, tmp_path: Path) -> None:
    journal = journals_of(runs / "told")[0]
    done = command("balrog_rag", "view", str(journal), "--out", "x.cast", "--steps", "5:69", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    header, *events = map(json.loads, (tmp_path / "x.cast").read_text().splitlines())
    assert (header["version"], header["width"], header["height"]) == (2, 80, 24)
    rebuilt = RebuiltEpisode(journal)
    rebuilt.run()
    wanted = list(moments(rebuilt.collector, 5, 69))
    assert len(wanted) == len(events) == 65
    assert all(before[0] < after[0] for before, after in pairwise(events))
    terminal = Terminal(80, 24)
    for (_, kind, text), moment in zip(events, wanted, strict=True):
        assert kind == "o"
        terminal.write(text)
        assert ["".join(row).rstrip() for row in terminal.cells] == [
            row.rstrip() for row in moment.screen.rows
        ]
        assert terminal.at == moment.screen.cursor


def test_a_gif_has_a_picture_for_every_screen_that_differs(runs: Path, tmp_path: Path) -> None:
    journal = journals_of(runs / "told")[0]
    done = command("balrog_rag", "view", str(journal), "--out", "x.gif", "--steps", "0:30", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    rebuilt = RebuiltEpisode(journal)
    rebuilt.run()
    shown: list[Any] = [
        (moment.screen.rows, moment.screen.colours) for moment in moments(rebuilt.collector, 0, 30)
    ]
    with Image.open(tmp_path / "x.gif") as picture:
        assert picture.n_frames == 1 + sum(before != after for before, after in pairwise(shown)) > 1


@pytest.mark.parametrize(("name", "steps"), [("x.cast", "0:69"), ("x.gif", "0:5")])
def test_screens_for_which_there_is_no_room_leave_no_file(
    runs: Path, tmp_path: Path, name: str, steps: str
) -> None:
    rebuilt = RebuiltEpisode(journals_of(runs / "told")[0])
    rebuilt.run()
    line = rf"{name}: cannot be written \(File too large\)"
    with largest_file(2000), pytest.raises(FileNotWritten, match=line):
        write(rebuilt.collector, tmp_path / name, "title", steps)
    assert list(tmp_path.iterdir()) == []


def test_an_open_episode_is_listed_under_the_names_of_its_arm(runs: Path, tmp_path: Path) -> None:
    """With `_rag` where retrieval is on, and with a model only where one was asked."""
    for run in ("told", "plain"):
        whole = journals_of(runs / run)[0]
        cut = tmp_path / f"{run}.journal.jsonl"
        cut.write_bytes(b"".join(whole.read_bytes().splitlines(keepends=True)[:-1]))
        (ended,), (open_one,) = (listed([path]) for path in (whole, cut))
        assert (ended.row["state"], open_one.row["state"]) == ("ended", "open")
        for name in ("agent", "model", "kind", "task"):
            assert open_one.row[name] == ended.row[name], (run, name)
    assert listed([tmp_path / "told.journal.jsonl"])[0].row["agent"] == "naive_rag"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--out", "x.gif", "--steps", "5-9"], "write it as 100:150"),
        (["--out", "x.gif", "--steps", "900:"], "use positions 0 to 70"),
        (["--out", "x.html", "--steps", "1:2"], "only valid with --out"),
        (["--out", "x.mp4"], "unknown file type"),
        (["--port", "99999"], "--port 99999: must be"),
    ],
)
def test_mistakes_are_one_line(
    runs: Path, tmp_path: Path, words: list[str], says: str,
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    from balrog_rag.cli.view import main

    monkeypatch.chdir(tmp_path)
    assert main([str(journals_of(runs / "told")[0]), *words]) != 0
    told = capsys.readouterr().err
    assert told.startswith("error: ")
    assert says in told
    assert told.count("\n") == 1


@pytest.mark.parametrize(
    ("record", "env", "outcome", "how"),
    [
        (
            {"done": True, "end_reason": "DEATH: died. Killed by a gnome."},
            "nle",
            "died",
            "died. Killed by a gnome.",
        ),
        ({"done": True, "end_reason": -1, "progression": 0.0}, "minihack", "not solved", ""),
        ({"done": True, "end_reason": None, "progression": 1.0}, "babyai", "solved", ""),
        ({"done": True, "progression": 0.5}, "textworld", "ended", ""),
        ({"done": True, "progression": 0.0}, "chess", "ended", ""),
        ({"done": False, "progression": 0.2}, "nle", "not ended", ""),
    ],
)
def test_a_published_episode_ends_in_words(
    record: dict[str, object], env: str, outcome: str, how: str
) -> None:
    assert (published_outcome(record, env), how_of(record)) == (outcome, how)
