"""The hash chain of a journal's lines: any flipped bit is found, with its line."""

import asyncio
import random
import re
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from balrog_rag.contracts.errors import JournalError, PluginError
from balrog_rag.episode import chain, journal
from balrog_rag.episode.journal_writer import Writer
from balrog_rag.results.run_folder import journal_path
from balrog_rag.run.replay import verify
from tests.support import edit_journal, unchained

FLIPS = 2000
played: dict[str, bytes] = {}
"""The journal, created once for all tests."""


@pytest.fixture
def small(specs, player, tmp_path: Path) -> Path:
    """The journal of a short episode with answers, searches and an end."""
    words = ("env.tasks=[nle/NetHackChallenge-v0]", "agent=robust_star_rag", "env.max_steps.nle=4")
    (spec,) = specs(*words, steps=100)
    path = journal_path(tmp_path / "run", spec.episode)
    if not played:
        asyncio.run(player()(spec))
        played[spec.episode] = path.read_bytes()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(played[spec.episode])
    kinds = {msgspec.json.decode(line)["t"] for line in path.read_bytes().splitlines()}
    assert kinds == {"header", "start", "llm", "search", "step", "end"}
    return path


def flipped(data: bytes, place: int, bit: int) -> bytes:
    return data[:place] + bytes([data[place] ^ 1 << bit]) + data[place + 1 :]


def refused_at(data: bytes) -> int:
    """The number of the line at which a journal is rejected; 0 if it is accepted."""
    try:
        journal.parse(data, Path("j"))
    except JournalError as error:
        return int(re.findall(r"line (\d+)", str(error))[0])
    return 0


def test_any_flipped_bit_is_found_with_its_line(small: Path) -> None:
    data, chance = small.read_bytes(), random.Random(21)
    ends = [place for place, sign in enumerate(data) if sign == 10]
    places = [(chance.randrange(len(data)), chance.randrange(8)) for _ in range(FLIPS)]
    places += [(place, bit) for place in (0, *ends) for bit in range(8)]
    places += [(len(data) - 1 - back, bit) for back in range(1, 60) for bit in range(8)]
    for place, bit in places:
        line = data.count(b"\n", 0, place) + 1
        assert refused_at(flipped(data, place, bit)) == line, (place, bit)


@pytest.mark.slow
def test_every_bit_of_a_journal_is_found_with_its_line(small: Path) -> None:
    data = b"".join(small.read_bytes().splitlines(keepends=True)[:8])
    for place in range(len(data)):
        line = data.count(b"\n", 0, place) + 1
        for bit in range(8):
            assert refused_at(flipped(data, place, bit)) == line, (place, bit)


EDITS: dict[str, tuple[str, Callable[[dict], object]]] = {
    "a cost": ("llm", lambda line: line["reply"].update(cost=0.25)),
    "usage": ("llm", lambda line: line["reply"]["usage"].update(input=1)),
    "a model's name": ("llm", lambda line: line["reply"].update(model="openai/better")),
    "a latency": ("llm", lambda line: line["reply"].update(latency=0.5)),
    "a passage's score": ("search", lambda line: line["passages"][0].update(score=0.99)),
    "a passage's source": ("search", lambda line: line["passages"][0].update(source="elsewhere")),
    "seconds": ("end", lambda line: line.update(seconds=1e6)),
    "a version": ("header", lambda line: line["versions"].update(nle="9")),
}
"""Edits that no replay notices, since nothing in the game depends on them."""


@pytest.mark.parametrize("what", EDITS)
def test_an_edit_that_no_replay_notices_is_found_by_the_chain(small: Path, what: str) -> None:
    kind, change = EDITS[what]
    before = small.read_bytes().splitlines()
    edit_journal(small, kind, change)
    asyncio.run(verify(small))  # with a chain forged to fit: what it does not prove
    after = small.read_bytes().splitlines()
    number = next(n for n, (old, new) in enumerate(zip(before, after, strict=True), 1) if old != new)
    bare = after[number - 1][: -chain.TAIL] + before[number - 1][-chain.TAIL :]
    small.write_bytes(b"\n".join([*before[: number - 1], bare, *before[number:]]) + b"\n")
    with pytest.raises(JournalError, match=f"line {number} was changed"):
        asyncio.run(verify(small))


@pytest.mark.parametrize(
    "change", [{"cost": -1.0}, {"usage": {"input": -5}}, {"attempts": 0}, {"latency": -1}]
)
def test_figures_that_cannot_be_are_refused_though_the_chain_fits(small: Path, change: dict) -> None:
    edit_journal(small, "llm", lambda line: line["reply"].update(change))
    with pytest.raises(JournalError, match="line 3: an answer with "):
        asyncio.run(verify(small))


def test_lines_taken_out_put_in_or_moved_are_found(small: Path) -> None:
    lines = small.read_bytes().splitlines(keepends=True)
    answers = [n for n, line in enumerate(lines) if line.startswith(b'{"t":"llm"')]
    first, second = answers[0], answers[1]
    taken_out = [*lines[:first], *lines[first + 1 :]]
    put_in = [*lines[: first + 1], lines[first], *lines[first + 1 :]]
    moved = list(lines)
    moved[first], moved[second] = lines[second], lines[first]
    for spoiled in (taken_out, moved):
        assert refused_at(b"".join(spoiled)) == first + 1
    assert refused_at(b"".join(put_in)) == first + 2


def test_a_journal_cut_behind_a_whole_line_is_open_and_no_damage(small: Path) -> None:
    """What no chain can show: that there was more."""
    lines = small.read_bytes().splitlines(keepends=True)
    small.write_bytes(b"".join(lines[:-1]))
    assert not asyncio.run(verify(small)).complete


def test_the_head_stands_for_the_whole_journal(small: Path) -> None:
    head = journal.read(small).head
    assert small.read_bytes().endswith(f'"{head}"}}\n'.encode())
    edit_journal(small, "llm", lambda line: line["reply"].update(cost=0.25))
    assert journal.read(small).head not in ("", head)


def test_a_journal_of_version_1_is_read_and_gone_on_with_by_its_own_rules(small: Path) -> None:
    old = unchained(small.read_bytes())
    small.write_bytes(old)
    verdict = asyncio.run(verify(small))
    assert (verdict.complete, verdict.head) == (True, "")
    lines = old.splitlines(keepends=True)
    recording = journal.parse(b"".join(lines[:-1]), small)
    end = journal.read(small).end
    assert end is not None
    with Writer(small, keep=recording.ends[-1]) as writer:
        writer.append(end)
    assert small.read_bytes() == old


def test_a_chain_that_was_taken_off_is_no_version_1(small: Path) -> None:
    data = small.read_bytes()
    assert refused_at(unchained(data).replace(b'"v":1', b'"v":3', 1)) == 1
    assert refused_at(data.replace(b'"v":3', b'"v":1', 1)) == 1


def test_a_model_whose_figures_cannot_be_is_refused_before_it_is_written(specs, player, tmp_path) -> None:
    from balrog_rag.contracts.data import Reply, Usage
    from balrog_rag.run.services import LiveServices

    class Wrong(LiveServices):
        def model(self, player):
            class Model:
                name = "wrong"

                async def complete(self, request):
                    return Reply("north", usage=Usage(-1, 2))

            return Model()

    (spec,) = specs("env.tasks=[nle/NetHackChallenge-v0]", "agent=naive", steps=2)
    with pytest.raises(
        PluginError, match="step 0: model wrong gave an answer with a negative number of tokens"
    ):
        asyncio.run(player(Wrong())(spec))
    assert len(journal.read(journal_path(tmp_path / "run", spec.episode)).entries) == 1
