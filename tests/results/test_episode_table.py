"""The table of episodes: the same columns for all, blank if a kind lacks a figure, safe to open."""

import csv
import io
import json

import pytest

from balrog_rag.contracts.data import GameSpec, Seeds
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.contracts.kinds import kind_of
from balrog_rag.results import episode_table
from balrog_rag.results.episode_table import PURPOSES, csv_text, episodes_csv, json_text, kinds_of, row
from balrog_rag.results.episodes import Calls, Episode, Lookups


def episode(env="nle", number=0, **fields):
    fields = {"agent": {"name": "cot"}, "model": {"name": "m"}, "facts": {}} | fields
    game = GameSpec(env, "T", Seeds(1, 2, 3), options={"b": 1, "a": "é"})
    return Episode(f"{env}/T/{number:02d}", game, knowledge={}, spec_digest="s", config_digest="c", **fields)


def rows_of(*episodes):
    return list(csv.DictReader(io.StringIO(episodes_csv(episodes))))


def test_kinds_are_in_order_of_appearance_and_once():
    found = kinds_of([episode("minihack"), episode("nle"), episode("minihack", 1)])
    assert [kind.name for kind in found] == ["minihack", "nle"]
    assert kinds_of([]) == []


def test_a_row_has_every_kinds_measures_and_blanks_where_they_are_not_its_own():
    nethack, minihack = rows_of(
        episode(last={"score": 7}, most={"depth": 3}, followed={"held": 1.5, "achievements": None}),
        episode("minihack"),
    )
    assert list(nethack) == list(minihack)
    measures = [measure.name for measure in kind_of("nle").scoring.measures]
    assert {name: nethack[name] for name in measures} == {
        "held": "1.5", "achievements": "", "depth": "3", "experience": "0", "score": "7", "turns": "0",
    }  # fmt: skip
    assert {minihack[name] for name in measures} == {""}


def test_without_nethack_there_are_no_columns_of_it():
    (found,) = rows_of(episode("minihack"))
    assert "held" not in found
    assert "steps" in found


def test_an_unknown_figure_is_blank_and_a_zero_is_zero():
    found = row(episode(followed={"held": 0.0, "achievements": None}), [kind_of("nle")])
    assert (found["held"], found["achievements"], found["highest_achievement"]) == (0.0, None, "")


@pytest.mark.parametrize(
    ("calls", "counts"),
    [
        ({}, [0, 0, 0, 0, 0]),
        ({"act": Calls(3), "rerank": Calls(2)}, [3, 0, 0, 2, 0]),
        ({purpose: Calls(n) for n, purpose in enumerate(PURPOSES)}, [0, 1, 2, 3, 4]),
    ],
)
def test_every_purpose_has_its_column_also_where_nothing_was_asked_for_it(calls, counts):
    found = row(episode(calls=calls), [kind_of("nle")])
    assert [found[f"{purpose}_calls"] for purpose in PURPOSES] == counts
    assert found["calls"] == sum(counts)
    assert found["model"] == ("m" if calls else "")


def test_costs_searches_and_seeds_are_the_episodes():
    made = episode(
        calls={"act": Calls(2, 100, 10, 40, 5, 0.5, 1, 3.0)},
        lookups=Lookups(4, 3, 9, 2, 3, 0.5, {"fresh": 2, "none": 9}), answered_by=["a", "b"],
    )  # fmt: skip
    found = row(made, [kind_of("nle")])
    names = (
        "input_tokens",
        "output_tokens",
        "cached_tokens",
        "reasoning_tokens",
        "dollars",
        "unpriced_calls",
    )
    assert [found[name] for name in names] == [100, 10, 40, 5, 0.5, 1]
    names = ("searches", "search_hits", "different_queries", "steps_with_search", "steps_using_passages")
    assert [found[name] for name in names] == [4, 3, 2, 3, 2]
    assert [found[f"{name}_seed"] for name in ("core", "disp", "lgen")] == [1, 2, 3]
    assert (found["seconds_waiting"], found["answered_by"]) == (3.5, "a, b")


def test_options_are_json_with_sorted_keys_so_that_equal_games_have_equal_cells():
    assert json_text({"b": [1, None], "a": {"y": 1.5, "x": True}}) == '{"a":{"x":true,"y":1.5},"b":[1,null]}'
    (found,) = rows_of(episode())
    assert json.loads(found["options"]) == {"a": "é", "b": 1}


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("plain", "plain"),
        ("=1+1", "'=1+1"),
        (" =1+1", "' =1+1"),
        ("＝SUM(A1)", "'＝SUM(A1)"),
        ("-5", "'-5"),
        ("\tx", "'·x"),
        ("a\x1b[31mb", "a·[31mb"),
        ('a,"b"', 'a,"b"'),
        ("", ""),
    ],
)
def test_a_cell_is_neither_a_formula_nor_an_order_to_the_terminal(text, cell):
    (found,) = csv.DictReader(io.StringIO(csv_text([{"a": text, "b": -5}])))
    assert (found["a"].replace("\t", "·"), found["b"]) == (cell, "-5")


def test_a_table_of_nothing_is_empty():
    assert csv_text([]) == episodes_csv([]) == ""


def test_parquet_without_its_package_is_one_clear_error(monkeypatch):
    monkeypatch.setattr(episode_table, "find_spec", lambda name: None)
    with pytest.raises(ConfigError, match=r"pyarrow is not installed; pip install 'balrog_rag\[parquet\]'"):
        episode_table.require_parquet()
    assert not episode_table.has_parquet()


def test_parquet_holds_what_csv_holds(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    kinds = [kind_of("nle")]
    played = [episode(number=n, followed={"held": float(n) if n else None}) for n in range(2)]
    rows = [row(each, kinds) for each in played]
    # The types of a column that is empty in one table follow from the other.
    tables = [episode_table.columns_of([each], kinds) for each in played]
    episode_table.write_tables(tmp_path / "a", tables, ["parquet"])
    assert parquet.read_table(tmp_path / "a.parquet").to_pylist() == rows
