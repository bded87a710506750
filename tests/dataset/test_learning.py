"""Behavioural cloning on games that were just recorded; skipped without PyTorch."""

import json
from pathlib import Path

import numpy as np
import pytest

from balrog_rag.cli import learn as verb
from balrog_rag.cli.main import main
from balrog_rag.cli.verbs import main as balrog_rag
from balrog_rag.dataset.learn import checkpoint_player
from balrog_rag.dataset.learn.features import HEIGHT, WIDTH, Eye
from balrog_rag.dataset.learn.plain import PlainNetwork

try:
    import safetensors.torch
    import torch

    from balrog_rag.dataset.learn.network import Network, Shape, tensors
except ImportError:
    torch = None

needs_torch = pytest.mark.skipif(
    torch is None, reason="the extra [learn] (torch, safetensors) is not installed"
)


def learn(*words: object) -> int:
    return verb.main(["bc", *map(str, words)])


def bc(db: Path, out: Path, frames: int, *words: object) -> int:
    sizes = ("--batch", 4, "--length", 16, "--threads", 1)
    return learn("bot", "--db", db, "--out", out, "--frames", frames, *sizes, *words)


def weights(folder: Path) -> dict[str, np.ndarray]:
    return {
        name: value.numpy()
        for name, value in safetensors.torch.load_file(folder / "weights.safetensors").items()
    }


def equal(mine: Path, theirs: Path) -> bool:
    ours, others = weights(mine), weights(theirs)
    return all(np.array_equal(ours[name], others[name]) for name in others)


def screen(text: str, row: int, column: int) -> tuple[np.ndarray, ...]:
    chars = np.full((1, 1, 24, 80), 32, np.uint8)
    chars[0, 0, 0, : len(text)] = list(text.encode())
    chars[0, 0, row, column] = ord("@")
    bottom = b"Dlvl:5 $:0 HP:7(14) Pw:2(2) AC:6 Xp:3/20 T:200 Hungry"
    chars[0, 0, 23, : len(bottom)] = list(bottom)
    return chars, np.zeros((1, 1, 24, 80), np.int8), np.array([[[row, column]]], np.int16)


def test_the_crop_is_round_the_hero_also_while_a_prompt_holds_the_cursor():
    eye = Eye(1)
    chars, colors, cursor = screen("", 12, 3)
    before = eye.see(chars, colors, cursor)
    assert before["crop"][0, 0, HEIGHT // 2, WIDTH // 2] == ord("@") * 16
    asked = eye.see(chars, colors, np.array([[[0, 20]]], np.int16))
    assert np.array_equal(before["crop"], asked["crop"])
    assert (before["numbers"][0, 0, -1], asked["numbers"][0, 0, -1]) == (0, 1)


def test_numbers_and_words_are_read():
    seen = Eye(1).see(*screen("The newt bites! The newt", 5, 5))
    depth, hp = seen["numbers"][0, 0, :2]
    assert (depth, hp, seen["numbers"][0, 0, 7]) == (5 / 20, 0.5, 1)
    words = seen["words"][0, 0]
    assert words[0] == words[4] != words[1] == words[5]


@needs_torch
def test_what_was_interrupted_comes_out_as_if_it_was_not(db, tmp_path, capsys):
    assert bc(db, tmp_path / "whole", 400) == 0
    assert bc(db, tmp_path / "cut", 150) == 0
    assert not equal(tmp_path / "whole", tmp_path / "cut")
    assert bc(db, tmp_path / "cut", 400) == 0
    assert equal(tmp_path / "whole", tmp_path / "cut")
    assert (tmp_path / "whole/curve.csv").read_text() == (tmp_path / "cut/curve.csv").read_text()
    assert bc(db, tmp_path / "other", 400, "--seed", 1) == 0
    assert not equal(tmp_path / "whole", tmp_path / "other")
    assert bc(db, tmp_path / "whole", 400, "--seed", 1) == 1
    assert "use the same, or another --out" in capsys.readouterr().err


@needs_torch
def test_what_plays_is_what_has_learnt():
    """NumPy plays what PyTorch has learnt: the same logits, frame after frame."""
    torch.manual_seed(3)
    network = Network(Shape((27, 104, 106)))
    state = {name: value.numpy() for name, value in network.state_dict().items()}
    plain, memory, eye, dice = (
        PlainNetwork(state, (27, 104, 106)),
        network.blank(1),
        Eye(1),
        np.random.default_rng(1),
    )
    for before in (3, 0, 2, 1):
        chars, colors, cursor = screen("What do you want to apply? [ab or ?*]", 4, 70)
        chars[0, 0, 1:22] = dice.integers(33, 127, (21, 80))
        seen = eye.see(chars, colors, cursor)
        given = {**tensors(seen), "before": torch.tensor([[before]]), "fresh": torch.zeros(1, 1)}
        with torch.no_grad():
            logits, memory = network(given, memory)
        assert np.allclose(logits[0, 0].numpy(), plain(seen, before), atol=1e-5)


@needs_torch
def test_it_learns_what_is_pressed_and_never_to_quit(db, tmp_path):
    assert bc(db, tmp_path / "clone", 4000) == 0
    rows = [line.split(",") for line in (tmp_path / "clone/curve.csv").read_text().splitlines()[1:]]
    first, last = (np.mean([float(row[2]) for row in part]) for part in (rows[:5], rows[-5:]))
    assert last < first / 2
    assert (tmp_path / "clone/curve.png").exists()
    keys = json.loads((tmp_path / "clone/about.json").read_text())["keys"]
    assert ord("L") in keys
    assert ord("q") | 0x80 not in keys


@needs_torch
def test_a_checkpoint_plays_through_run_journal_and_verify(db, tmp_path, capsys):
    clone = tmp_path / "clone"
    assert bc(db, clone, 200) == 0
    words = [f"agent.options.path={clone}", "env.tasks=[nle/NetHackChallenge-v0]", "env.episodes=1"]
    where = [f"run.folder={tmp_path}", "run.csv=false", "limits.steps=20", "runner.workers=1"]
    assert main(["agent=checkpoint", *words, *where, "run.name=run"]) == 0
    assert balrog_rag(["verify", str(tmp_path / "run")]) == 0
    assert bc(db, clone, 400) == 0  # another checkpoint in the same place
    checkpoint_player._network.cache_clear()
    capsys.readouterr()
    assert balrog_rag(["verify", str(tmp_path / "run")]) == 1
    assert "not the checkpoint that this episode began with" in capsys.readouterr().out


@needs_torch
def test_a_runs_own_journals_are_learnt_from(tmp_path, capsys):
    words = ["agent=naive", "model=scripted", "env.tasks=[nle/NetHackChallenge-v0]", "env.episodes=2"]
    where = [f"run.folder={tmp_path}", "run.name=run", "run.csv=false", "limits.steps=20", "runner.workers=1"]
    assert main([*words, *where]) == 0
    sizes = ("--batch", 2, "--length", 8, "--frames", 60, "--threads", 1)
    assert learn("--from", tmp_path / "run", "--out", tmp_path / "clone", *sizes) == 0
    assert "2 of 2 episodes recorded" in capsys.readouterr().out
    assert (tmp_path / "clone/weights.safetensors").exists()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--frames", 9, "--out", "x"], "pass either a dataset or a run with --from"),
        (["bot", "--out", "x"], "no limit given; pass --minutes or --frames"),
        (["bot", "--frames", 0, "--out", "x"], "--frames 0: must be at least 1"),
    ],
)
def test_mistakes_are_one_line(capsys, words, says):
    assert learn(*words) == 2
    err = capsys.readouterr().err
    assert says in err
    assert err.count("\n") == 1


def test_a_checkpoint_that_is_not_there_is_told_before_anything_starts(tmp_path, capsys):
    assert main(["agent=checkpoint", f"agent.options.path={tmp_path}", f"run.folder={tmp_path}/r"]) == 2
    assert "no checkpoint there; make one with balrog-rag learn bc" in capsys.readouterr().err
    assert not (tmp_path / "r").exists()
