"""Our engines agree with recordings of BALROG's own games."""

import gzip
import json
from pathlib import Path

import pytest

from balrog_rag.cli.envs import main
from balrog_rag.envs.conform import read

RECORDINGS = Path(__file__).parents[1] / "data" / "recordings"


def changed(tmp_path, **fields):
    """The first recorded episode of BabyAI, with a different fourth state."""
    with gzip.open(RECORDINGS / "babyai.jsonl.gz") as file:
        episode = json.loads(next(file))
    episode["steps"][2].update(fields)
    return written(tmp_path, json.dumps(episode))


def written(tmp_path, *lines):
    path = tmp_path / "recorded.jsonl.gz"
    path.write_bytes(gzip.compress("\n".join(lines).encode()))
    return str(path)


@pytest.mark.parametrize("game", ["babyai", "babaisai", "crafter"])
def test_every_recorded_state_is_ours(game, capsys):
    path = RECORDINGS / f"{game}.jsonl.gz"
    states = sum(1 + len(recording.steps) for recording in read(path))
    assert main(["conform", str(path)]) == 0
    assert f"{states:,} states compared, 0 differing" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("what", "value"),
    [
        ("long", "a wall 9 steps forward"),
        ("short", "x"),
        ("reward", 0.5),
        ("done", True),
        ("progression", 1.0),
        ("image", "0" * 16),
    ],
)
def test_a_state_that_differs_is_named(what, value, tmp_path, capsys):
    assert main(["conform", changed(tmp_path, **{what: value})]) == 1
    out = capsys.readouterr().out
    assert "1 differing" in out
    assert f"step 3, {what}" in out


@pytest.mark.parametrize(("step", "another"), [(4, False), (5, True)])
def test_pictures_of_our_own_must_differ_where_the_recorded_ones_do(step, another, tmp_path, capsys):
    """Of BALROG's pictures of Baba only hashes are known; here the fourth moment looks like the fifth."""
    with gzip.open(RECORDINGS / "babaisai.jsonl.gz") as file:
        episode = json.loads(list(file)[2])
    third, fourth, fifth = (episode["steps"][number]["image"] for number in (2, 3, 4))
    assert third != fourth == fifth
    episode["steps"][step - 1]["image"] = "0" * 16 if another else third
    assert main(["conform", written(tmp_path, json.dumps(episode))]) == 1
    assert f"step {step}, image" in capsys.readouterr().out


def test_pictures_can_be_left_out(tmp_path):
    assert main(["conform", "--no-pictures", changed(tmp_path, image="0" * 16)]) == 0


def test_a_file_that_holds_no_recordings_is_one_line(tmp_path, capsys):
    assert main(["conform", written(tmp_path, '{"env": "chess"}')]) == 1
    assert "line 1 is not a recorded episode" in capsys.readouterr().err
    (tmp_path / "plain").write_text("words")
    assert main(["conform", str(tmp_path / "plain")]) == 1
    assert "cannot be read" in capsys.readouterr().err
    assert main(["conform", str(tmp_path / "absent")]) == 1
    assert "cannot be read" in capsys.readouterr().err


def test_a_game_that_is_not_known_is_one_line(tmp_path, capsys):
    with gzip.open(RECORDINGS / "babyai.jsonl.gz") as file:
        episode = {**json.loads(next(file)), "env": "chess"}
    assert main(["conform", written(tmp_path, json.dumps(episode))]) == 2
    assert "no recordings of 'chess'" in capsys.readouterr().err
