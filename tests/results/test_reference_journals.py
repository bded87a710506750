"""`make reference` says of each run that it leaves out which of two reasons it has."""

import json
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from benchmarks.reference import main, never_plays, runs


@pytest.mark.slow
def test_players_are_told_apart_from_what_a_machine_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if find_spec("textworld") is not None:
        pytest.skip("textworld is installed, so this machine lacks nothing")
    out = tmp_path / "reference"
    names = ["dummy-babyai", "delver-babyai", "dummy-textworld", "delver-textworld"]
    monkeypatch.setattr(sys, "argv", ["reference", "--steps", "2", "--out", str(out), "--only", *names])
    assert main() == 0
    said = capsys.readouterr().out.splitlines()
    for name in ("delver-babyai", "delver-textworld"):
        line = f"not a player of this environment: {name}: agent=delver: plays nle, "
        assert any(each.startswith(line) for each in said)
    missing = [each for each in said if each.startswith("missing on this machine: ")]
    assert [each.split(": ")[1] for each in missing] == ["dummy-textworld"]
    assert "textworld is not installed" in missing[0]
    assert said[-3].startswith(f"{out}.tar.xz: 1 run, 5 journals, ")
    assert said[-2:] == [
        "2 runs of players that never play the environment",
        "1 run left out, since this machine lacks what the environment needs",
    ]
    index = json.loads((out / "index.json").read_text())
    assert [*index["never played"]] == ["delver-babyai", "delver-textworld"]
    assert [*index["missing on this machine"]] == ["dummy-textworld"]
    assert [*index["runs"]] == ["dummy-babyai"]


@pytest.mark.slow
def test_forty_runs_are_played_where_nothing_is_missing() -> None:
    found = [never_plays(words) for _, words in runs(1, None)]
    assert (len(found), found.count("")) == (60, 40)
