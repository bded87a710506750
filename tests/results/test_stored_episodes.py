"""Episodes in columns: the same values as the objects that they were made of."""

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from balrog_rag.contracts.data import GameSpec, Seeds
from balrog_rag.contracts.kinds import kind_of
from balrog_rag.results.episode_table import columns_of as columns_table
from balrog_rag.results.episode_table import csv_lines, episodes_csv
from balrog_rag.results.episodes import Calls, Episode, Lookups, Point
from balrog_rag.results.report.curves import height_curve, mean_curve
from balrog_rag.results.scoring import figures_of, measures_of
from balrog_rag.results.stored_episodes import StoredRows, columns_of
from balrog_rag.results.stored_sequence import in_display_order
from tests.support import unstored

ints = st.integers(-(2**63) + 1, 2**63 - 1)
words = st.text(max_size=5)
floats = st.floats(allow_nan=False)
calls = st.builds(Calls, count=ints, input=ints, output=ints, dollars=floats, cut=ints)
numbers = st.sampled_from(["00", "7", "007", "123"])
episodes = st.builds(
    Episode,
    name=st.builds("{}/{}".format, st.sampled_from(["nle/A", "nle/B/C", "x/y"]), numbers),
    game=st.builds(GameSpec, words, words, st.builds(Seeds, ints, ints, st.none() | ints)),
    agent=st.sampled_from([{"name": "a"}, {"name": "b", "retrieval": {"k": 3}}]),
    model=st.just({}), knowledge=st.just({}), spec_digest=words, config_digest=words, outcome=words,
    progression=floats, highest=st.none() | words,
    milestones=st.dictionaries(words, st.lists(words, max_size=2)),
    last=st.dictionaries(words, ints, max_size=3), most=st.dictionaries(words, ints, max_size=3),
    followed=st.dictionaries(words, st.none() | floats, max_size=2),
    course=st.lists(st.tuples(ints, ints), max_size=2), steps=ints, cut=st.booleans(),
    calls=st.dictionaries(st.sampled_from(["act", "query", "a\x1fb"]), calls, max_size=2),
    lookups=st.builds(Lookups, ints, seconds=floats, ends=st.dictionaries(words, ints, max_size=2)),
    curve=st.lists(st.builds(Point, ints, ints, floats, floats), max_size=2),
    facts=st.dictionaries(words, words),
    answered_by=st.lists(words, max_size=2), forked=words,
)  # fmt: skip


@settings(max_examples=40, deadline=None)
@given(st.lists(episodes, max_size=4))
def test_columns_hold_every_field_exactly(made):
    rows = StoredRows(len(made), {name: memoryview(data) for name, data in columns_of(made).items()})
    for before, after in zip(made, rows, strict=True):
        assert unstored(after) == before
        assert after.total == before.total


def test_what_follows_from_the_fields_is_the_same(builder):
    from balrog_rag.results.tally import read_episode

    for number in range(3):
        builder.nethack(number, [{"depth": 1 + number}, {"experience_level": 3}], outcome="steps")
    read = [read_episode(path) for path in sorted(builder.path.rglob("*.jsonl"))]
    rows = list(StoredRows(3, {name: memoryview(data) for name, data in columns_of(read).items()}))
    names = (
        *("env", "task", "number", "percent", "game_name", "world_name", "ended_by", "cause"),
        *("preventable", "seconds", "agent_name", "asked_model", "model_name", "total"),
    )
    for before, after in zip(read, rows, strict=True):
        assert {name: getattr(after, name) for name in names} == {
            name: getattr(before, name) for name in names
        }
    for measure in measures_of(["nle"]):
        one, other = figures_of(read, measure).tolist(), figures_of(rows, measure).tolist()
        assert one == pytest.approx(other, rel=0, abs=0, nan_ok=True), measure.name
    assert episodes_csv(rows) == episodes_csv(read) == "".join(csv_lines(map(one_row, rows)))
    for against in ("step", "tokens", "dollars"):
        assert mean_curve(rows, against) == mean_curve(read, against)
    assert height_curve(rows) == height_curve(read)


def one_row(episode):
    """The table of one episode."""
    return columns_table([episode], [kind_of("nle")])


def test_a_number_of_more_than_64_bits_has_no_column(builder):
    from balrog_rag.results.runs import load

    builder.nethack(0, [{"depth": 1}])
    builder.nethack(1, [{"depth": 2**64 - 1}])
    loaded = load(builder.path)
    assert [each.number for each in loaded.episodes] == ["00"]  # the other journal is not affected
    assert [each.what for each in loaded.problems] == ["contains numbers of more than 64 bits"]


@pytest.mark.parametrize("count", [6, 6_000])
def test_display_order_is_by_environment_task_and_number(count):
    made = [
        Episode(f"{env}/T/{number:02d}", GameSpec(env, "T", Seeds(1, 2)), {}, {}, {}, str(part), "c")
        for part in range(2)
        for env in ("nle", "babyai")
        for number in reversed(range(count // 2))
    ]
    parts = [made[: len(made) // 2], made[len(made) // 2 :]]
    rows = [StoredRows(len(each), {k: memoryview(v) for k, v in columns_of(each).items()}) for each in parts]
    found = in_display_order(rows)
    assert [each.name for each in found] == [
        f"{env}/T/{number:02d}" for env in ("babyai", "nle") for number in range(count // 2)
    ]
    assert {each.spec_digest for each in found} == {"1"}  # of two of one name, the later
    assert msgspec.structs.asdict(unstored(found[0]))["name"] == "babyai/T/00"
