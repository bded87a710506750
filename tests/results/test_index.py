"""The index of a run folder: it saves time, and only the user's own is trusted."""

import os
import shutil
from pathlib import Path

import msgspec
import pytest

from balrog_rag.results.episode_index import _Index, segment_of
from balrog_rag.results.run_seal import SEAL_BYTES, state_folder
from balrog_rag.results.runs import load
from balrog_rag.util.files import MEGABYTE
from tests.support import unstored


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A home with its own key."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def run(builder) -> Path:
    """A run of two episodes that end at depth 1, with its index."""
    for number in range(2):
        builder.nethack(number, [{"depth": 1}])
    load(builder.path)
    return builder.path


def depths(run: Path) -> list[int]:
    return [episode.most["depth"] for episode in load(run).episodes]


def forged(run: Path) -> bytes:
    """The rows of the index with other scores, matching the journals' sizes and times."""
    index = stored(run)
    (segment,) = index.segments
    made = [(journal, unstored(episode)) for journal, episode in segment.by_journal()]
    for _, episode in made:
        episode.most["depth"] = 50
        episode.progression = 1.0
    index.segments[:] = [segment_of("", 0, 0, made)]
    return msgspec.msgpack.encode(index)


def stored(run: Path) -> _Index:
    return msgspec.msgpack.decode((run / ".episodes").read_bytes()[SEAL_BYTES:], type=_Index)


def test_an_unchanged_run_is_read_from_its_index(run):
    assert load(run).fresh == frozenset()
    assert len(load(run, use_index=False).fresh) == 2


@pytest.mark.parametrize("seal", ["none", "old", "random", "another key"])
def test_a_forged_index_is_rebuilt_from_the_journals(run, seal):
    index = run / ".episodes"
    old, rows = index.read_bytes()[:SEAL_BYTES], forged(run)
    if seal == "another key":
        (state_folder() / "key").rename(state_folder() / "away")
        load(run)
        old = index.read_bytes()[:SEAL_BYTES]
        (state_folder() / "away").rename(state_folder() / "key")
    index.write_bytes({"none": b"", "random": os.urandom(SEAL_BYTES)}.get(seal, old) + rows)
    loaded = load(run)
    assert [episode.most["depth"] for episode in loaded.episodes] == [1, 1]
    assert [episode.progression for episode in loaded.episodes] != [1.0, 1.0]
    assert len(loaded.fresh) == 2
    assert load(run).fresh == frozenset()  # what was rebuilt is believed


def test_an_index_of_this_user_with_a_good_seal_is_believed(run):
    """What makes the tests above mean something: the seal alone decides."""
    from balrog_rag.results.run_seal import sealed_by_user

    (run / ".episodes").write_bytes(sealed_by_user(forged(run)))
    assert depths(run) == [50, 50]


def test_another_runs_index_is_rebuilt(run, new_run):
    other = new_run("other", agent="naive")
    for number in range(2):
        other.nethack(number, [{"depth": 2}])
        ours, theirs = (sorted(each.rglob("*.jsonl"))[number] for each in (run, other.path))
        os.utime(theirs, ns=(ours.stat().st_atime_ns, ours.stat().st_mtime_ns))
    shutil.copy(run / ".episodes", other.path / ".episodes")
    assert depths(other.path) == [2, 2]


def test_a_journal_of_another_time_or_size_is_read_again(run):
    journals = sorted(run.rglob("*.jsonl"))
    os.utime(journals[0], ns=(1, 1))
    assert load(run).fresh == {"nle/NetHackChallenge-v0/00"}
    with journals[1].open("ab") as file:
        file.write(b"{")
    assert load(run).fresh == {"nle/NetHackChallenge-v0/01"}


def test_each_row_holds_size_time_and_the_chains_last_digest(run):
    rows = stored(run).segments[0].journals
    assert len(rows) == 2
    for row in rows:
        status = (run / row.name).stat()
        assert (row.size, row.time) == (status.st_size, status.st_mtime_ns)
        assert f'"chain":"{row.head}"' in (run / row.name).read_text().splitlines()[-1]


def test_an_index_too_large_for_its_journals_is_not_read(run):
    os.truncate(run / ".episodes", 5000 * MEGABYTE)
    assert depths(run) == [1, 1]
    assert (run / ".episodes").stat().st_size < MEGABYTE


def test_without_a_key_every_report_reads_the_journals(run, tmp_path, monkeypatch):
    made_up = forged(run)
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    for _ in range(2):
        assert len(load(run).fresh) == 2
    (run / ".episodes").write_bytes(made_up)
    assert depths(run) == [1, 1]
