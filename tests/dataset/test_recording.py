"""Recordings of games as nle.dataset reads them: one set of files per episode, one line for every episode."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from random import Random

import pytest

from balrog_rag.cli.main import main
from balrog_rag.cli.verbs import main as balrog_rag
from balrog_rag.contracts.data import GameSpec, Seeds
from balrog_rag.envs.nethack import ttyrec
from balrog_rag.results.run_folder import RECORDINGS, journals
from tests.dataset.support import Live, dataset, differing, press, recorded, same_frames
from tests.support import CLEAN, command

MENUS = (["i"], ["far east", "i"], ["d"], ["pray"], ["esc", "#"], ["E"], ["count 5", "2", "0"], ["travel"])
"""Menus that may be open when a limit ends an episode."""


def nethack(seed: int, steps: int = 100_000) -> GameSpec:
    return GameSpec("nle", "NetHackChallenge-v0", Seeds(seed, seed), steps, {"no_progress": 0})


def at_random(seed: int, count: int) -> list[str]:
    words = (
        "north",
        "south",
        "east",
        "west",
        "search",
        "i",
        "d",
        "pray",
        "y",
        "n",
        "esc",
        "kick",
        "apply",
        "E",
    )
    dice = Random(seed)
    return [dice.choice(words) for _ in range(count)]


def test_frames_colours_cursor_keys_and_scores_are_the_live_ones(tmp_path, monkeypatch):
    live = Live(monkeypatch)
    for seed in range(4):
        press(nethack(seed), at_random(seed, 120), tmp_path / f"nld/game{seed}/nle.0.0.ttyrec3.bz2")
    task = GameSpec("minihack", "MiniHack-Corridor-R3-v0", Seeds(1, 1), 100, {})
    press(task, ["east", "east", "west"] * 20, tmp_path / "nld/game5/nle.0.0.ttyrec3.bz2")
    games = recorded(tmp_path / "nld")
    assert [differing(shown, read) for shown, read in zip(live.games, games, strict=True)] == [[]] * 5


@pytest.mark.parametrize("keys", MENUS)
def test_an_episode_that_ends_inside_a_prompt_has_its_line(tmp_path, keys):
    spec = nethack(3, len(keys))
    press(spec, [key for key in keys if key in "iE#d20"] or keys[:1], tmp_path / "g/nle.0.0.ttyrec3.bz2")
    line = (tmp_path / "g/nle.0.xlogfile").read_text()
    assert line.startswith("version=3.6")
    assert line.endswith("ttyrecname=nle.0.0.ttyrec3.bz2\n")
    assert sorted(path.name for path in (tmp_path / "g").iterdir()) == [
        "nle.0.0.ttyrec3.bz2",
        "nle.0.xlogfile",
    ]


def test_an_episode_that_does_not_let_itself_be_quit_has_a_line_of_what_is_known(tmp_path, monkeypatch):
    monkeypatch.setattr(ttyrec, "quit_game", lambda game, arrays: False)
    press(nethack(3), ["search"] * 20, tmp_path / "nld/g/nle.0.0.ttyrec3.bz2")
    (game,) = recorded(tmp_path / "nld")
    assert (game["meta"]["death"], game["meta"]["maxhp"] > 0) == ("aborted", True)


def test_a_name_with_strange_letters_does_not_break_the_import(tmp_path):
    log = tmp_path / "nle.0.xlogfile"
    log.write_bytes(b"death=killed by a newt called \xc1\tturns=1\n")
    ttyrec._keep_ascii(log)
    assert log.read_bytes() == b"death=killed by a newt called ?\tturns=1\n"


MINIHACK = "env.tasks=[minihack/MiniHack-Corridor-R3-v0,minihack/MiniHack-Quest-Easy-v0]"


def run_of(folder: Path, name: str, *words: str) -> Path:
    told = [f"run.folder={folder}", f"run.name={name}", "runner.workers=1", "run.csv=false"]
    assert main(["model=scripted", "limits.steps=25", "run.ttyrec=true", *told, *words]) == 0
    return folder / name


def test_a_recorded_run_is_the_same_run_and_has_a_database(tmp_path, capsys):
    run = run_of(tmp_path, "run", "agent=naive", "env.tasks=[nle/NetHackChallenge-v0]", "env.episodes=2")
    assert balrog_rag(["verify", str(run)]) == 0  # without a recording the same screens are shown
    before = recorded(run / RECORDINGS)
    assert dataset("list", "--db", run / RECORDINGS / "ttyrecs.db") == 0
    assert "run          2  " in capsys.readouterr().out
    assert dataset("record", run) == 0
    (tmp_path / "run/nld.db").unlink()
    after = recorded(run / RECORDINGS)
    assert len(before) == 2
    assert all(same_frames(mine, theirs) for mine, theirs in zip(before, after, strict=True))


def test_a_resumed_episode_is_recorded_as_if_nothing_had_happened(tmp_path):
    words = ("agent=naive", "env.tasks=[nle/NetHackChallenge-v0]", "env.episodes=1")
    (whole,) = recorded(run_of(tmp_path, "whole", *words) / RECORDINGS)
    run = run_of(tmp_path, "cut", *words)
    (journal,) = journals(run)
    journal.write_bytes(b"".join(journal.read_bytes().splitlines(keepends=True)[:20]))
    (log,) = run.glob("nld/*/*.xlogfile")
    log.write_text("a line of the attempt before\n")
    assert main([f"resume={run}"]) == 0
    (resumed,) = recorded(run / RECORDINGS)
    assert same_frames(whole, resumed)
    assert log.read_text().count("\n") == 1


@pytest.mark.slow
@pytest.mark.timeout(1500)
def test_forty_episodes_of_four_kinds_are_read_as_they_were_played(tmp_path, monkeypatch):
    """10 of a bot, 10 random, 10 MiniHack, and 10 of a language agent that was killed and resumed."""
    tasks = {"delver": "nle/NetHackChallenge-v0", "random": "nle/NetHackChallenge-v0"}
    runs = [
        run_of(
            tmp_path, agent, f"agent={agent}", f"env.tasks=[{task}]", "env.episodes=10", "limits.steps=6000"
        )
        for agent, task in tasks.items()
    ]
    runs.append(run_of(tmp_path, "mini", "agent=random", MINIHACK, "env.episodes=5", "limits.steps=60"))
    runs.append(killed(tmp_path))
    for run in runs:
        live, recordings = Live(monkeypatch), run / RECORDINGS
        told = recorded(recordings)
        assert dataset("record", run) == 0
        monkeypatch.undo()
        assert len(told) >= 10
        pairs = zip(live.games, told, strict=True)
        assert [differing(shown, read) for shown, read in pairs] == [[]] * len(told)


def killed(folder: Path) -> Path:
    """A run of a language agent that is killed twice and resumed."""
    words = ["model=scripted", "agent=naive", "env.tasks=[nle/NetHackChallenge-v0]", "env.episodes=10"]
    words += [
        "limits.steps=300",
        "run.ttyrec=true",
        f"run.folder={folder}",
        "run.name=killed",
        "run.csv=false",
    ]
    for wait in (4.0, 6.0):
        started = subprocess.Popen(
            [sys.executable, "-m", "balrog_rag.eval", *words], env=CLEAN, start_new_session=True
        )
        time.sleep(wait)
        os.killpg(started.pid, signal.SIGKILL)
        started.wait()
        if (folder / "killed/config.json").exists():
            words = [f"resume={folder / 'killed'}"]
    assert command("balrog_rag.eval", *words, cwd=folder).returncode == 0
    return folder / "killed"
