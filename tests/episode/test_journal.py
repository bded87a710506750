"""Journals: what is read back, what is dropped and what is rejected, at every byte."""

import subprocess
import sys
from pathlib import Path

import pytest

from balrog_rag.contracts.data import GameSpec, Passage, Reply, Seeds
from balrog_rag.contracts.errors import JournalError, RunFolderError
from balrog_rag.episode import journal
from balrog_rag.episode.journal import Completion, End, Header, Lookup, Start, Step, changed_numbers
from balrog_rag.episode.journal_writer import Writer
from balrog_rag.episode.spec import EpisodeSpec, PlayerSpec, episode_seeds
from tests.support import numbers, rechained

SPEC = EpisodeSpec(
    episode="nle/NetHackChallenge-v0/00",
    game=GameSpec(env="nle", task="NetHackChallenge-v0", seeds=Seeds(1, 2)),
    player=PlayerSpec(agent={"name": "naive"}, model={"name": "scripted"}, knowledge={}),
)
ENTRIES = (
    Start("aa", {"hp": 16, "turn": 1}),
    Completion(0, "act", "d1", Reply('north \u2588 \ud7ff\n"quoted"')),
    Lookup(0, "newt", 3, (Passage("p1", "Newt", "A small lizard."), Passage("p2", "", ""))),
    Step(0, "north", "north", "bb", numbers={"turn": 2}, notes={"lenient": True}),
    Completion(1, "query", "d2", Reply("", finish="refused", cost=0.01)),
    Step(1, "fly", "esc", "bb", valid=False, reward=-0.5, keys=3),
    End("died", 2, {"death": "killed by a newt"}, 1.5),
)


def header(spec: EpisodeSpec = SPEC) -> Header:
    return Header(journal.VERSION, spec, spec.digest, "c0", {"nle": "1.3.0"})


def written(path: Path) -> bytes:
    with Writer(path) as writer:
        for entry in (header(), *ENTRIES):
            writer.append(entry)
    return path.read_bytes()


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    data = written(tmp_path / "j")
    recording = journal.read(tmp_path / "j")
    assert (recording.header, recording.entries) == (header(), ENTRIES)
    assert recording.ends[-1] == len(data)
    assert recording.end == ENTRIES[-1]
    assert [step.n for step in recording.steps] == [0, 1]


def test_cut_at_every_byte_whole_lines_survive_and_the_rest_can_be_written_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.fsync", lambda descriptor: None)  # no power fails here
    data = written(tmp_path / "whole")
    lines = data.splitlines(keepends=True)
    path = tmp_path / "cut"
    for size in range(len(data) + 1):
        path.write_bytes(data[:size])
        recording = journal.read(path)
        whole = sum(1 for i in range(len(lines)) if size >= len(b"".join(lines[: i + 1])) - 1)
        kept = ([recording.header] if recording.header else []) + list(recording.entries)
        assert kept == [header(), *ENTRIES][:whole], size
        with Writer(path, keep=recording.ends[-1] if recording.ends else 0) as writer:
            for entry in [header(), *ENTRIES][whole:]:
                writer.append(entry)
        assert path.read_bytes() == data, size


@pytest.mark.parametrize(
    ("spoil", "line"),
    [
        (lambda lines: [*lines[:2], b"{not json}\n", *lines[2:]], "line 3"),
        (lambda lines: [*lines[:4], b'{"t":"unknown"}\n', *lines[4:]], "line 5"),
        (lambda lines: [lines[0], lines[0], *lines[1:]], "line 2"),
        (lambda lines: lines[1:], "line 1"),
        (lambda lines: [*lines[:4], *lines[5:]], "line 5 was changed"),  # step 0 is gone
        (lambda lines: [*lines, lines[2]], "line 9"),
        (lambda lines: [lines[0], *lines[2:]], "line 2"),
        (lambda lines: [lines[0].replace(b'"v":3', b'"v":9'), *lines[1:]], "journal version 9"),
        (lambda lines: [b"\xef\xbb\xbf" + lines[0], *lines[1:]], "line 1"),
        (lambda lines: [lines[0], b"\x00" * 50 + b"\n", *lines[1:]], "line 2"),
    ],
)
def test_what_does_not_fit_is_refused_by_its_line(tmp_path: Path, spoil, line: str) -> None:
    lines = written(tmp_path / "j").splitlines(keepends=True)
    (tmp_path / "j").write_bytes(b"".join(spoil(lines)))
    with pytest.raises(JournalError, match=line):
        journal.read(tmp_path / "j")


def test_what_a_forged_chain_cannot_hide_is_refused_by_its_line(tmp_path: Path) -> None:
    lines = written(tmp_path / "j").splitlines(keepends=True)
    (tmp_path / "j").write_bytes(rechained(b"".join([*lines[:4], *lines[5:]])))
    with pytest.raises(JournalError, match="line 6: step 1, expected step 0"):
        journal.read(tmp_path / "j")


def test_a_tail_of_zeros_after_a_power_cut_is_torn(tmp_path: Path) -> None:
    data = written(tmp_path / "j")
    (tmp_path / "j").write_bytes(data + b"\x00" * 4096)
    recording = journal.read(tmp_path / "j")
    assert recording.entries == ENTRIES
    assert recording.ends[-1] == len(data)


CROWDED = """
import resource, signal, sys
from pathlib import Path
from balrog_rag.episode.journal import Step
from balrog_rag.episode.journal_writer import Writer
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
path = Path(sys.argv[1])
keep = path.stat().st_size
sys.dont_write_bytecode = True  # the cache of a module compiled now would be its beginning
resource.setrlimit(resource.RLIMIT_FSIZE, (keep + 250, keep + 250))
writer = Writer(path, keep)
for n in range(100):
    writer.append(Step(n, "a" * 20, "a" * 20, "bb"))
"""


def test_no_room_left_is_one_clear_line_and_leaves_whole_lines_only(tmp_path: Path) -> None:
    path = tmp_path / "j"
    with Writer(path) as writer:
        writer.append(header())
        writer.append(ENTRIES[0])
    keep = path.stat().st_size
    child = subprocess.run([sys.executable, "-c", CROWDED, path], capture_output=True, text=True)
    assert "RunFolderError" in child.stderr
    assert (
        f"{path}: cannot be written (File too large); the entries already written are intact" in child.stderr
    )
    assert path.read_bytes().endswith(b"}\n")
    assert keep < path.stat().st_size <= keep + 250


def test_an_unwritable_folder_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(RunFolderError, match="cannot be written"):
        Writer(tmp_path / "file" / "j")


def test_seeds_follow_from_the_run_seed_and_the_name_alone() -> None:
    names = [f"nle/NetHackChallenge-v0/{i:02d}" for i in range(50)]
    seeds = {name: episode_seeds(7, name) for name in names}
    assert seeds == {name: episode_seeds(7, name) for name in names}
    assert len({(s.core, s.disp) for s in seeds.values()}) == 50
    assert episode_seeds(8, names[0]) != episode_seeds(7, names[0])


def test_moved_holds_only_what_changed() -> None:
    before = numbers(hp=10, turn=5)
    assert changed_numbers(before, before) == {}
    assert changed_numbers(before, {**before, "hp": 8, "depth": 2}) == {"hp": 8, "depth": 2}
