"""Runs that pack their journals, played for real: resumed, split and merged, killed, shown and verified."""

import asyncio
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest

import balrog_rag
from balrog_rag.cli.episode import main
from balrog_rag.contracts.events import AlreadyEnded
from balrog_rag.episode import packs
from balrog_rag.episode.journal import End
from balrog_rag.models.budget import RunBudget
from balrog_rag.models.prices import Prices
from balrog_rag.results import stored_sequence
from balrog_rag.results.episodes import Calls
from balrog_rag.results.run_folder import journal_files, journal_path, journals
from balrog_rag.results.runs import load
from balrog_rag.results.stored_episodes import StoredEpisode
from balrog_rag.results.stored_run import read_run
from balrog_rag.run.episode_runner import JournaledPlayer
from balrog_rag.run.journal_packer import unpack
from balrog_rag.run.merging import merge
from balrog_rag.run.resume import resumed_config, specs_of
from balrog_rag.run.watchers import NullWatcher
from balrog_rag.viewer.listing import listed
from tests.support import CLEAN, timeless, until

RUN = ["model=scripted", "agent=naive", "env=corridor", "limits.steps=4", "runner.log=none"]
EPISODES = 5


def play(place: Path, *words: str) -> balrog_rag.Run:
    """Play a run in this process."""
    return balrog_rag.evaluate(*RUN, f"env.episodes={EPISODES}", *words, f"run.folder={place}")


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run in files and the same run packed."""
    place = tmp_path_factory.mktemp("packed")
    play(place, "run.name=files")
    play(place, "run.name=packed", "run.pack=2")
    return place


def contents(run: Path) -> dict[str, list]:
    return {str(path.relative_to(run)): timeless(path) for path in journals(run)}


def test_a_packed_run_equals_the_same_run_in_files(played: Path) -> None:
    packed, files = played / "packed", played / "files"
    assert not journal_files(packed)
    assert [len(packs.journals_in(pack)) for pack in packs.packs_in(packed)] == [2, 2, 1]
    assert not list(packed.rglob("*_run_*"))
    assert contents(packed) == contents(files)
    for name in ("episodes.csv", "summary.json"):
        assert (packed / name).read_bytes() == (files / name).read_bytes()
    run = balrog_rag.Run(packed)
    assert run.complete
    assert run.verify() == []
    assert len(run.episodes) == EPISODES
    assert len(run.steps(1)) == 4
    assert len(listed([packed])) == EPISODES
    assert main(["show", str(run.journal(2)), "--step", "1"]) == 0


def test_a_resume_reads_no_finished_journal_and_changes_nothing(played: Path, monkeypatch) -> None:
    before = {path: path.read_bytes() for path in (played / "packed/packed").iterdir()}
    balrog_rag.Run(played / "packed").summary  # noqa: B018 - writes the index

    def refuse(place: packs.PackedJournal) -> bytes:
        raise AssertionError(f"{place.episode} was read")

    monkeypatch.setattr(packs.PackedJournal, "read", refuse)
    assert balrog_rag.evaluate(f"resume={played / 'packed'}").complete
    assert {path: path.read_bytes() for path in (played / "packed/packed").iterdir()} == before


@pytest.mark.parametrize("rows", ["columns", "objects"])
@pytest.mark.parametrize("form", ["packed", "files"])
def test_what_ended_before_is_counted_without_its_journals(played: Path, monkeypatch, rows, form) -> None:
    monkeypatch.setattr(stored_sequence, "MANY", 0 if rows == "columns" else 5_000)
    stored = read_run(played / form)
    specs = specs_of(stored)
    others = [*specs[:3], msgspec.structs.replace(specs[3], steps=9)]
    ended: dict[str, End] = {}
    seen: list[AlreadyEnded] = []
    budget = RunBudget(resumed_config(stored, []).limits)
    player = JournaledPlayer(played / form, "", {}, budget, SimpleNamespace(see=seen.append), lambda: False)
    asyncio.run(player.report_ended(others, ended))
    assert sorted(ended) == [spec.episode for spec in specs[:3]]  # the fourth has another spec
    assert {name: (end.outcome, end.steps) for name, end in ended.items()} == dict.fromkeys(
        ended, ("steps", 4)
    )
    assert sorted(each.episode for each in seen) == sorted(ended)
    assert all(map(budget.knows, ended))
    mine = [each.total for each in load(played / form).episodes if each.name in ended]
    assert (budget.total.calls, budget.total.input) == (12, sum(each.input for each in mine))
    assert budget.by_purpose["act"] == budget.total
    monkeypatch.setattr(StoredEpisode, "total", property(lambda _: Calls(1, unpriced=1)))
    priced = RunBudget(resumed_config(stored, []).limits, prices=Prices(1.0, 1.0))
    player = JournaledPlayer(played / form, "", {}, priced, NullWatcher(), lambda: False)
    asyncio.run(player.report_ended(specs, again := {}))
    assert not again  # what their answers cost has to be read


@pytest.mark.slow
def test_packed_shards_merge_to_either_form(played: Path, tmp_path: Path) -> None:
    for number in (1, 2):
        play(tmp_path, "run.name=run", "run.pack=2", f"runner.shard={number}/2")
    for pack, packed in ((None, True), (0, False), (3, True)):
        out = tmp_path / f"merged-{pack}"
        assert merge([tmp_path / "run.shards"], out, pack).missing == []
        assert bool(packs.packs_in(out)) == packed == (not journal_files(out))
        assert contents(out) == contents(played / "files")
        assert (out / "summary.json").read_bytes() == (played / "files/summary.json").read_bytes()


def test_a_half_played_episode_of_a_packed_run_continues(played: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(played / "packed", run)
    name = next(iter(packs.journals_in(packs.packs_in(run)[0]))).episode
    unpack(run, [name])
    half = journal_path(run, name)
    half.write_bytes(b"".join(half.read_bytes().splitlines(keepends=True)[:-4]))
    assert not balrog_rag.Run(run).complete
    assert balrog_rag.evaluate(f"resume={run}").complete
    assert not journal_files(run)
    assert contents(run) == contents(played / "files")
    assert balrog_rag.Run(run).verify() == []


@pytest.mark.slow
def test_kills_at_any_moment_lose_nothing(tmp_path: Path) -> None:
    """Killed again and again while episodes end and are packed; no answer is asked for twice."""
    words = [*RUN, "env.episodes=30", "run.pack=4", "runner.concurrency=3", "runner.workers=1"]
    first = [*words, f"run.folder={tmp_path}", "run.name=run"]
    command = [sys.executable, "-m", "balrog_rag.eval"]
    run, killed = tmp_path / "run", 0
    while not (run / "summary.json").exists():
        resume = [f"resume={run}", "runner.log=none"] if (run / "config.json").exists() else first
        before = len(journals(run)) if run.exists() else 0
        process = subprocess.Popen([*command, *resume], env=CLEAN, cwd=tmp_path)
        until(lambda: process.poll() is not None or len(journals(run)) >= before + 4)  # noqa: B023
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
            killed += 1
        process.wait()
    assert killed >= 2
    again = balrog_rag.Run(run)
    assert again.complete
    assert again.verify() == []
