"""Runs whose journals are packed: read, damaged, killed in the middle of packing, taken apart again."""

import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from balrog_rag.cli.results import main as results
from balrog_rag.contracts.errors import JournalError, RunFolderError
from balrog_rag.episode import journal, packs
from balrog_rag.results import run_folder
from balrog_rag.results.runs import load
from balrog_rag.run.journal_packer import JournalPacker, unpack
from tests.support import unstored

TASK = "nle/NetHackChallenge-v0"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A home with its own key."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def run(builder) -> Path:
    """A run of seven episodes in files, each with another depth."""
    for number in range(7):
        builder.nethack(number, [{"depth": 1 + number}, {"x": 3}])
    return builder.path


def pack(run: Path, most: int = 3) -> None:
    packer = JournalPacker(run, most)
    for path in run_folder.journal_files(run):
        packer.add(path)


def pack_of(run: Path, number: int = 1) -> Path:
    return run / "packed" / f"{number:06d}.jsonl"


def depths(run: Path) -> list[int]:
    return [episode.most["depth"] for episode in load(run).episodes]


def test_a_packed_run_has_the_same_episodes_in_fewer_files(run):
    before = {path: path.read_bytes() for path in run_folder.journal_files(run)}
    episodes = [unstored(each) for each in load(run).episodes]
    pack(run)
    assert not run_folder.journal_files(run)
    assert len(packs.packs_in(run)) == 3
    assert run_folder.journals(run) == sorted(before)
    assert {path: journal.read_bytes(path) for path in before} == before
    for _ in range(2):  # from the packs, then from the index
        assert [unstored(each) for each in load(run).episodes] == episodes
    assert load(run, use_index=False).problems == []


def test_size_of_a_journal_is_the_same_in_a_pack(run):
    paths = run_folder.journal_files(run)
    files = [journal.stamp(path) for path in paths]
    pack(run)
    assert [journal.stamp(path) for path in paths] == [(size, 0) for size, _ in files]
    assert journal.stamp(run_folder.journal_path(run, f"{TASK}/77")) is None


def test_every_flipped_bit_is_found_and_named(run):
    pack(run, 10)
    whole, places = pack_of(run).read_bytes(), packs.journals_in(pack_of(run))
    rng = random.Random(1)
    for _ in range(25):
        at = rng.randrange(len(whole))
        hit = next(place for place in places if place.at <= at < place.at + place.size)
        pack_of(run).write_bytes(whole[:at] + bytes([whole[at] ^ 1 << rng.randrange(8)]) + whole[at + 1 :])
        loaded = load(run)
        assert [problem.path for problem in loaded.problems] == [packs.journal_name(hit.episode)], at
        assert {each.name for each in loaded.episodes} == {p.episode for p in places} - {hit.episode}
        with pytest.raises(JournalError, match=f"results unpack .* {hit.episode}"):
            journal.read(run_folder.journal_path(run, hit.episode))


def test_a_flipped_bit_in_the_index_of_a_pack_loses_nothing(run):
    pack(run, 10)
    index = pack_of(run).with_suffix(".index")
    whole, expected = index.read_bytes(), packs.journals_in(pack_of(run))
    rng = random.Random(2)
    for _ in range(60):
        at = rng.randrange(len(whole))
        index.write_bytes(whole[:at] + bytes([whole[at] ^ 1 << rng.randrange(8)]) + whole[at + 1 :])
        assert packs.journals_in(pack_of(run)) == expected
    index.unlink()
    assert packs.journals_in(pack_of(run)) == expected


@pytest.mark.parametrize("indexed", [True, False])
def test_a_kill_at_any_byte_of_packing_loses_nothing(run, tmp_path, indexed):
    """What a killed process leaves: part of a journal in the pack, and its own file."""
    expected = depths(run)
    *others, last = run_folder.journal_files(run)
    data = last.read_bytes()
    packer = JournalPacker(run, 10)
    for path in others:
        packer.add(path)
    begun = pack_of(run).read_bytes()
    for cut in [0, 5, len(data) // 3, len(data) // 2, len(data) - 1, len(data)]:
        killed = tmp_path / "killed" / str(cut)
        shutil.copytree(run, killed)
        pack_of(killed).write_bytes(begun + data[:cut])
        if not indexed:
            pack_of(killed).with_suffix(".index").unlink()
        assert depths(killed) == expected
        pack(killed, 10)
        assert depths(killed) == expected
        assert len(packs.journals_in(pack_of(killed))) == 7
        assert not load(killed, use_index=False).problems


def test_a_pack_whose_end_was_lost_is_not_cut_back(run):
    """Where the journal has no file, the torn end is all that is left of it."""
    pack(run, 10)
    pack_of(run).write_bytes(pack_of(run).read_bytes()[:-30])
    with pytest.raises(RunFolderError, match=f"last journal .{TASK}/06. was changed or cut off"):
        JournalPacker(run, 10)._open()
    assert len(packs.every_journal(pack_of(run))) == 7


def test_an_unpacked_journal_takes_precedence_and_can_be_played_on(run, capsys):
    pack(run)
    assert results(["unpack", str(run), f"{TASK}/02"]) == 0
    path = run_folder.journal_path(run, f"{TASK}/02")
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))
    loaded = load(run)
    assert loaded.unfinished == [run_folder.stem_of(f"{TASK}/02")]
    assert len(loaded.episodes) == 6
    with path.open("ab") as file:  # as if it had been played to another end
        file.write(packs.find_in(run, packs.journal_name(f"{TASK}/02")).read().splitlines(keepends=True)[-1])
    pack(run)
    assert len(load(run).episodes) == 7
    assert packs.find(path).pack == pack_of(run, 3)


def test_unknown_episodes_cannot_be_unpacked(run, capsys):
    pack(run)
    assert results(["unpack", str(run), f"{TASK}/77"]) != 0
    assert "no packed journal of episode" in capsys.readouterr().err


def test_names_in_a_pack_cannot_lead_out_of_the_run(run):
    pack(run, 10)
    data = (
        pack_of(run).read_bytes().replace(f'"episode":"{TASK}/03"'.encode(), b'"episode":"../../../../x/03"')
    )
    pack_of(run).write_bytes(data)
    pack_of(run).with_suffix(".index").unlink()
    assert len(load(run).episodes) == 6
    with pytest.raises(RunFolderError, match="not an episode name"):
        unpack(run, [])


@pytest.mark.slow
@pytest.mark.parametrize("packed", [True, False])
def test_much_is_read_by_other_processes_with_the_same_result(run, monkeypatch, packed):
    if packed:
        pack(run)
        whole = pack_of(run, 2).read_bytes()
        pack_of(run, 2).write_bytes(whole.replace(b'"x":3', b'"x":4', 1))
    expected = load(run, use_index=False)
    assert len(expected.episodes) == (6 if packed else 7)
    monkeypatch.setattr("balrog_rag.results.journal_reading.IN_PARALLEL_FROM", 1)
    monkeypatch.setattr("balrog_rag.results.journal_reading.read_episode", None)  # here, not in the others
    found = load(run, use_index=False)
    assert [unstored(each) for each in found.episodes] == [unstored(each) for each in expected.episodes]
    assert found.problems == expected.problems
    assert [unstored(each) for each in load(run).episodes] == [unstored(each) for each in found.episodes]


@pytest.mark.slow
def test_a_plain_script_reads_much_and_runs_once(run, tmp_path):
    pack(run)
    script = tmp_path / "script.py"
    script.write_text(
        "import balrog_rag\nfrom balrog_rag.results import journal_reading\n"
        f"journal_reading.IN_PARALLEL_FROM = 1\nprint(len(balrog_rag.load({str(run)!r})), __name__)\n"
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("7 __main__\n", "")
