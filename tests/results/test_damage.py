"""A run folder with damaged journals: each is reported by name, and the rest is summarised."""

import io
import re
import shutil

import pytest
from rich.console import Console

from balrog_rag.contracts.errors import JournalError
from balrog_rag.episode import journal
from balrog_rag.episode.journal import End
from balrog_rag.results.runs import load
from balrog_rag.results.summary import write_all
from balrog_rag.results.terminal_tables import print_summary
from tests.support import rechained

NAME = "nle/NetHackChallenge-v0/NetHackChallenge-v0_run_01"


@pytest.fixture
def run(builder):
    """Three valid episodes; the tests damage the middle one."""
    for number in range(3):
        builder.nethack(number, [{"depth": 2}, {"depth": 3}])
    return builder


def lines(run):
    return run.journal("nle/NetHackChallenge-v0/01").read_bytes().splitlines(keepends=True)


def damage(run, content: bytes):
    run.journal("nle/NetHackChallenge-v0/01").write_bytes(content)
    return write_all(run.path)


def swap(old: bytes, new: bytes):
    return lambda whole: b"".join(whole).replace(old, new, 1)


BROKEN = {
    "nested": (
        swap(b'"taken":"north"', b'"taken":"north","more":' + b"[" * 100_000 + b"]" * 100_000),
        "line 7 is not a journal entry",
    ),
    "NaN reward": (
        swap(b'"taken":"north"', b'"taken":"north","reward":NaN'),
        "line 7 is not a journal entry",
    ),
    "infinite reward": (
        swap(b'"taken":"north"', b'"taken":"north","reward":1e999'),
        "line 7 is not a journal",
    ),
    "NaN cost": (swap(b'"cost":0.001', b'"cost":NaN'), "line 3 is not a journal entry"),
    "step twice": (
        lambda whole: b"".join([*whole[:7], whole[6], *whole[7:]]),
        "line 8: step 0, expected step 1",
    ),
    "step lost": (lambda whole: b"".join(whole[:6] + whole[7:]), "line 11: step 1, expected step 0"),
    "end miscounts": (swap(b'"steps":2,', b'"steps":3,'), "the end counts 3 steps, the journal has 2"),
    "behind the end": (lambda whole: b"".join([*whole, whole[6]]), "line 14: an entry after the end"),
    "second header": (lambda whole: b"".join([*whole, whole[0]]), "line 14: a second header"),
    "no header": (lambda whole: b"".join(whole[1:]), "line 1: the header is missing"),
    "two starts": (
        lambda whole: b"".join([*whole[:2], *whole[1:]]),
        "line 3: the start must follow the header, exactly once",
    ),
    "foreign line": (swap(b'"t":"search"', b'"t":"sarch"'), "line 4 is not a journal entry"),
    "NUL bytes": (lambda whole: b"\0\0\0\n" + b"".join(whole), "line 1 is not a journal entry"),
    "byte order mark": (lambda whole: b"\xef\xbb\xbf" + b"".join(whole), "line 1 is not a journal entry"),
    "bad UTF-8": (swap(b'"taken":"north"', b'"taken":"no\xffrth"'), "line 7 is not a journal entry"),
    "a list": (lambda whole: b"[1]\n" + b"".join(whole), "line 1 is not a journal entry"),
    "bad UTF-8 in an answer": (swap(b'"text":"newt"', b'"text":"ne\xffwt"'), "line 3 is not a journal entry"),
    "a number that is a word": (swap(b'"hp":12', b'"hp":"12"'), "line 2 is not a journal entry"),
    "an unknown purpose": (swap(b'"purpose":"act"', b'"purpose":"win"'), "line 6 is not a journal entry"),
    "blank line": (lambda whole: b"".join([*whole[:4], b"\n", *whole[4:]]), "line 5 is not a journal entry"),
    "later version": (swap(b'"v":3', b'"v":9'), "line 1: journal version 9, this program reads versions 1"),
    "a changed cost": (swap(b'"cost":0.001', b'"cost":0.002'), "line 3 was changed"),
    "a negative cost": (swap(b'"cost":0.001', b'"cost":-9.5'), "line 3: an answer with a negative cost"),
    "negative tokens": (
        swap(b'"input":100', b'"input":-100'),
        "line 3: an answer with a negative number of tokens",
    ),
    "a changed score": (swap(b'"score":0.5', b'"score":0.7'), "line 9 was changed"),
    "a last line that is torn and ends": (
        lambda whole: b"".join(whole[:-1]) + b'{"t":"end","outc\n',
        "line 13 is not a journal entry (Input data was truncated); "
        "restore the file, or delete this last line",
    ),
    "a blank last line": (lambda whole: b"".join(whole) + b"\n", "line 14 is not a journal entry"),
}
CHAINED = ("step twice", "step lost", "end miscounts", "a negative cost", "negative tokens")
"""Damage that is detected however well the chain was forged."""


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_journal_is_named_and_the_rest_summarised(run, case):
    change, what = BROKEN[case]
    summary = damage(run, rechained(change(lines(run))) if case in CHAINED else change(lines(run)))
    assert [(problem.path, what in problem.what) for problem in summary.run.problems] == [
        (NAME + ".journal.jsonl", True)
    ], summary.run.problems
    assert summary.overall["environments"]["nle"]["episodes_played"] == 2


@pytest.mark.parametrize("tail", [b"{torn", b"\0" * 64])
def test_a_torn_tail_harms_no_end(run, tail):
    assert len(damage(run, b"".join(lines(run)) + tail).run.episodes) == 3


@pytest.mark.parametrize("case", BROKEN)
def test_what_is_not_scored_is_not_replayed_either(run, case):
    path = run.journal("nle/NetHackChallenge-v0/01")
    path.write_bytes(BROKEN[case][0](lines(run)))
    with pytest.raises(JournalError):
        journal.read(path)


def test_what_stands_before_a_broken_line_can_be_kept_as_it_is_told(run):
    path, told = run.journal("nle/NetHackChallenge-v0/01"), 0
    whole = lines(run)
    for change, _ in BROKEN.values():
        path.write_bytes(change(whole))
        with pytest.raises(JournalError) as raised:
            journal.read(path)
        if found := re.search(r"line (\d+).*; restore the file, or delete this", str(raised.value)):
            told += 1
            path.write_bytes(b"".join(change(whole).splitlines(keepends=True)[: int(found.group(1)) - 1]))
            assert journal.read(path).header is not None
    assert told > len(BROKEN) / 2


def test_a_journal_cut_at_any_byte_is_unfinished_and_never_an_error(run):
    whole = b"".join(lines(run))
    for length in range(0, len(whole) - 1, 7):
        run.journal("nle/NetHackChallenge-v0/01").write_bytes(whole[:length])
        found = load(run.path, use_index=False)
        assert (len(found.episodes), len(found.problems), found.unfinished) == (2, 0, [NAME]), length


def test_a_last_line_that_lost_only_its_newline_counts(run):
    assert len(damage(run, b"".join(lines(run))[:-1]).run.episodes) == 3


def test_windows_line_ends_do_no_harm(run):
    assert len(damage(run, b"".join(lines(run)).replace(b"\n", b"\r\n")).run.episodes) == 3


def test_an_episode_of_another_configuration_is_foreign(run, new_run):
    other = new_run("other", agent="cot")
    other.nethack(1, [{"depth": 9}])
    shutil.copy(other.journal("nle/NetHackChallenge-v0/01"), run.journal("nle/NetHackChallenge-v0/01"))
    summary = write_all(run.path)
    assert "foreign: played under another configuration" in summary.run.problems[0].what
    assert len(summary.run.episodes) == 2


def test_a_copied_journal_is_no_second_episode(run):
    shutil.copy(run.journal("nle/NetHackChallenge-v0/01"), run.journal("nle/NetHackChallenge-v0/07"))
    summary = write_all(run.path)
    assert summary.run.problems[0].path.endswith("_run_07.journal.jsonl")
    assert (
        "duplicate or misplaced: contains episode nle/NetHackChallenge-v0/01" in summary.run.problems[0].what
    )
    assert len(summary.run.episodes) == 3


def test_problems_come_back_from_the_index_too(run):
    damage(run, b"nonsense\n" + b"".join(lines(run)))
    assert load(run.path).problems == load(run.path, use_index=False).problems


def test_the_terminal_names_what_was_left_out_and_obeys_nothing_in_it(run):
    change = swap(b'"t":"search"', b'"t":"\\u001b[31mred[bold]"')
    summary = damage(run, change(lines(run)))
    console = Console(record=True, width=100, file=io.StringIO())
    print_summary(summary, console)
    text = console.export_text()
    assert f"{NAME}.journal.jsonl: line 4 is not a journal entry" in text
    assert "\x1b" not in text
    assert "[bold]" in text


@pytest.mark.parametrize("outcome", ["crashed", "timed_out"])
def test_a_crash_that_earlier_versions_scored_has_no_score_now(run, new_run, outcome):
    run.nethack(1, [{"depth": 9}], outcome=outcome)
    summary = write_all(run.path)
    assert len(summary.run.episodes) == 2
    assert "earlier versions scored as 0" in summary.run.problems[0].what
    board = new_run("board")
    board.write("nethackers/arc-dwa-law-fem/00", [End(outcome, 0)])
    assert [episode.outcome for episode in load(board.path).episodes] == [outcome]


NESTED = b"[" * 100_000 + b"]" * 100_000


@pytest.mark.parametrize("name", ["run.json", "looks.json", ".looks", ".made_here", ".episodes"])
def test_a_file_beside_the_journals_that_nests_deeply_costs_no_result(run, name):
    whole = write_all(run.path).overall
    (run.path / name).write_bytes(NESTED)
    assert write_all(run.path).overall == whole
