"""`append` writes what reads back as it was; anything else it refuses, and writes nothing."""

import dataclasses
import math
from datetime import datetime
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec
import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from balrog_rag.contracts.data import Passage, Reply, Rise, Usage
from balrog_rag.contracts.errors import JournalError
from balrog_rag.episode import journal
from balrog_rag.episode.journal import Completion, End, Entry, Lookup, Recording, Start, Step
from balrog_rag.episode.journal_writer import Writer
from balrog_rag.episode.readable import equal
from tests.episode.test_journal import ENTRIES, header


class Colour(Enum):
    RED = "red"


@dataclasses.dataclass(frozen=True)
class Pair:
    left: int = 1
    right: str = ""


class Odd:
    """No encoder knows it."""


ENDLESS: list[Any] = []
ENDLESS.append(ENDLESS)
STRANGE = [
    Odd(), ENDLESS, Pair(), Colour.RED, datetime(2026, 1, 1), UUID(int=3), Decimal("1.10"), 1j, {1, 2},
    np.int64(3), np.float32(0.5), np.zeros(2), b"bytes", bytearray(b"x"), range(3), print, Odd,
    msgspec.Raw(b"1"), msgspec.UNSET, {1: "one"}, {None: 1}, {"": math.inf}, "\ud83d", 2**70, -0.0,
]  # fmt: skip
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters())
    | st.binary(max_size=4)
    | st.sampled_from(STRANGE)
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text(st.characters(), max_size=3) | st.integers(), inner, max_size=3)
    ),
    max_leaves=6,
)
SOUND: dict[str, Any] = {
    "n": 0, "step": 0, "action": "a", "taken": "a", "obs": "o", "purpose": "act", "request": "r",
    "reply": Reply("x"), "query": "q", "k": 1, "outcome": "died", "steps": 0, "numbers": {},
}  # fmt: skip


def strays(kind: type[msgspec.Struct]) -> st.SearchStrategy[Any]:
    """Entries of this kind with up to three fields of any value."""
    names = [field.name for field in msgspec.structs.fields(kind)]
    needed = {field.name: SOUND[field.name] for field in msgspec.structs.fields(kind) if field.required}
    return st.dictionaries(st.sampled_from(names), VALUES, min_size=1, max_size=3).map(
        lambda odd: kind(**needed | odd)
    )


def inside(kind: type[msgspec.Struct], wrap: Any, **needed: Any) -> st.SearchStrategy[Any]:
    """Entries with a struct inside whose fields have any value."""
    names = [field.name for field in msgspec.structs.fields(kind)]
    return st.dictionaries(st.sampled_from(names), VALUES, min_size=1, max_size=2).map(
        lambda odd: wrap(kind(**needed | odd))
    )


ANY_ENTRY = st.one_of(
    *(strays(kind) for kind in (Start, Completion, Lookup, Step, End)),
    inside(Reply, lambda reply: Completion(0, "act", "r", reply), text=""),
    inside(Usage, lambda usage: Completion(0, "act", "r", Reply("", usage=usage))),
    inside(Passage, lambda passage: Lookup(0, "q", 1, (passage,)), id="", title="", text=""),
    inside(Rise, lambda rise: Step(0, "a", "a", "o", rises=(rise,))),
)


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(entry=ANY_ENTRY)
@example(entry=Step(0, "a", "a", "o", numbers={"at": 1.5}))  # type: ignore[dict-item]
@example(entry=Step(0, "a", "a", "o", reward=math.nan))
@example(entry=Step(0, "a", "a", "o", notes={"share": math.nan}))
@example(entry=Step(0, "a", "a", "o", notes={3: "three"}))  # type: ignore[dict-item]
@example(entry=Completion(0, "guess", "r", Reply("paid")))  # type: ignore[arg-type]
@example(entry=Completion(0, "act", "r", Reply("paid", cost=-1.0)))
def test_append_refuses_what_it_could_not_read_back(tmp_path: Path, entry: Entry) -> None:
    path = tmp_path / "j"
    before = (header(),) if isinstance(entry, Start) else (header(), ENTRIES[0])
    with Writer(path) as writer:
        for earlier in before:
            writer.append(earlier)
        size = path.stat().st_size
        try:
            writer.append(entry)
        except JournalError:
            assert path.stat().st_size == size
            written: tuple[Any, ...] = before
        else:
            written = (*before, entry)
            if not isinstance(entry, End):  # what may follow is still accepted
                writer.append(last(entry))
                written = (*written, last(entry))
    read = journal.read(path)
    assert equal((read.header, *read.entries), written)


def last(entry: Entry) -> End:
    return End("steps", entry.count if isinstance(entry, Step) else 0)


@pytest.mark.parametrize(
    ("written", "entry", "what"),
    [
        ((), ENTRIES[0], "the header is missing"),
        ((header(),), header(), "a second header"),
        ((header(),), ENTRIES[1], "the start must follow the header"),
        ((header(), *ENTRIES[:2]), ENTRIES[0], "the start must follow the header"),
        ((header(), *ENTRIES[:2]), Step(1, "a", "a", "o"), "step 1, expected step 0"),
        ((header(), *ENTRIES[:4]), End("died", 2), "the end counts 2 steps, the journal has 1"),
        ((header(), *ENTRIES), ENTRIES[3], "an entry after the end"),
    ],
)
@pytest.mark.parametrize("resumed", [False, True])
def test_append_refuses_an_entry_in_the_wrong_place(
    tmp_path: Path, written: tuple[Entry, ...], entry: Entry, what: str, resumed: bool
) -> None:
    path = tmp_path / "j"
    with Writer(path) as writer:
        for earlier in written:
            writer.append(earlier)
        if not resumed:
            with pytest.raises(JournalError, match=f"{path}: not written: {what}"):
                writer.append(entry)
    found = journal.read(path) if written else Recording(None)
    with (
        Writer(path, found.ends[-1] if written else 0, found.size, found) as writer,
        pytest.raises(JournalError, match=f"{path}: not written: {what}"),
    ):
        writer.append(entry)
    assert path.stat().st_size == found.size
