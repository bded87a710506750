"""Traces: the same from a journal and from a rebuilt episode, and what the page of a run draws of them."""

import shutil
from pathlib import Path

import pytest

from balrog_rag.contracts.kinds import kind_of
from balrog_rag.results.comparing import one_arm
from balrog_rag.results.scoring import interval
from balrog_rag.viewer.listing import listed
from balrog_rag.viewer.marks import Curves
from balrog_rag.viewer.overview import overview
from balrog_rag.viewer.rebuilding import RebuiltEpisode
from balrog_rag.viewer.run_traces import TraceLibrary, first_difference
from balrog_rag.viewer.traces import MOST_POINTS, axes, drawn_points, read_trace
from tests.support import numbers


def test_a_journal_and_its_replay_have_the_same_trace(runs: Path) -> None:
    episode = listed([runs / "told"])[0]
    rebuilt = RebuiltEpisode(episode.path)
    rebuilt.run()
    names: dict[str, int] = {}
    replayed, read = rebuilt.trace(names), read_trace(episode.path, names)
    assert replayed.points == read.points
    assert list(replayed.actions) == list(read.actions)
    assert replayed.passages == read.passages
    assert (replayed.decisions, len(read.actions)) == (70, 70)


def test_the_same_passages_are_counted(runs: Path) -> None:
    """Two queries alternate in the scripted answers, so at most steps the prompt has one of two sets."""
    found = TraceLibrary().document(listed([runs / "told"]))
    (same,) = found["same"]
    assert same["run"] == "told"
    assert 0 < same["most"] <= same["shown"] <= same["steps"] == 140
    assert same["titles"]
    assert TraceLibrary().document(listed([runs / "plain"]))["same"] == []


def test_two_runs_of_the_same_games_part_at_their_first_different_action(runs: Path, tmp_path: Path) -> None:
    episodes = listed([runs / "told", runs / "plain"])
    pairs = TraceLibrary().document(episodes)["pairs"]
    assert len(pairs) == 2  # two episodes each, from the same seeds
    for pair in pairs:
        one, other = (episodes[place] for place in pair["episodes"])
        assert (one.run, one.row["name"]) != (other.run, other.row["name"])
        taken = [actions_of(each.path) for each in (one, other)]
        assert all(each[: pair["step"]] == taken[0][: pair["step"]] for each in taken)
        assert pair["actions"] == [each[pair["step"]] for each in taken]
        assert pair["actions"][0] != pair["actions"][1]
        assert pair["cost"] == other.row["progression"] - one.row["progression"]
    assert TraceLibrary().document(listed([runs / "told"]))["pairs"] == []


def actions_of(path: Path) -> list[str]:
    names: dict[str, int] = {}
    trace = read_trace(path, names)
    return [list(names)[each] for each in trace.actions]


def test_a_shorter_episode_parts_at_its_end() -> None:
    assert first_difference([1, 2], [1, 2, 3]) == 2
    assert first_difference([1, 2], [1, 2]) is None
    assert first_difference([1, 2], [2, 2]) == 0


def test_a_long_episode_keeps_its_ends_its_changes_and_its_worst_moments() -> None:
    curves = Curves(kind_of("nle"))
    for turn in range(10_000):
        hp = 2 if turn == 4_321 else 10
        curves.see(numbers(turn=turn, depth=1 + turn // 3_000, hp=hp, max_hp=10), 0.0)
    points = drawn_points(curves, range(10_000))
    assert len(points["at"]) <= MOST_POINTS
    assert {0, 3_000, 4_321, 6_000, 9_000, 9_999} <= set(points["at"])
    assert min(points["health"]) == 20
    assert points["heights"]["depth"][-1] == 4


def test_every_kind_declares_what_its_map_draws() -> None:
    found = axes(kind_of("nle"))
    assert (found["clock"], found["first"]) == ("turn", "depth")
    depth = next(each for each in found["heights"] if each["name"] == "depth")
    assert (depth["down"], depth["title"]) == (True, "dungeon level")  # a line may rise again
    assert axes(kind_of("babyai")) == {
        "title": "BabyAI",
        "clock": "step",
        "heights": [{"name": "progression", "title": "progression", "unit": "%"}],
        "first": "progression",
    }


def test_a_changed_journal_is_read_again_and_the_rest_is_not(runs: Path, tmp_path: Path) -> None:
    run = Path(shutil.copytree(runs / "told", tmp_path / "told"))
    library, episodes = TraceLibrary(), listed([run])
    first = library.document(episodes, patience=0.0)
    assert (len(first["of"]), first["left"]) == (1, 1)  # one per request at least, the rest later
    assert (len(library.document(episodes, patience=0.0)["of"])) == 2
    path = episodes[0].path
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:100]))
    again = library.document(episodes)
    assert again["of"]["0"]["at"][-1] < first["of"]["0"]["at"][-1]
    assert again["of"]["1"]["at"][-1] == 70


def test_a_head_has_the_reports_interval_and_none_while_the_run_is_open(runs: Path, tmp_path: Path) -> None:
    (head,) = overview(listed([runs / "told"]))["heads"]
    known = interval(one_arm(runs / "told").episodes)
    (mean,) = head["means"]
    assert (mean["n"], mean["low"], mean["high"]) == (2, round(known.low, 3), round(known.high, 3))
    assert ["agent.retrieval.enabled", "true"] in head["settings"]
    run = Path(shutil.copytree(runs / "told", tmp_path / "told"))
    path = listed([run])[1].path
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))
    (mean,) = overview(listed([run]))["heads"][0]["means"]
    assert (mean["n"], mean["low"], mean["partial"]) == (1, None, True)


@pytest.mark.parametrize("cut", [3, 40])
def test_an_open_episode_is_interrupted_if_nobody_writes_it(runs: Path, tmp_path: Path, cut: int) -> None:
    run = Path(shutil.copytree(runs / "told", tmp_path / "told"))
    path = listed([run])[0].path
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:cut]))
    row = next(each.row for each in listed([run]) if each.path == path)
    assert (row["state"], row["doing"]) == ("open", "interrupted")
    assert row["steps"] == sum(b'"t":"step"' in line for line in path.read_bytes().splitlines())
    assert row["how"].startswith("Dlvl 1")
    with path.open("rb") as file:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX)
        row = next(each.row for each in listed([run]) if each.path == path)
        assert row["doing"] in ("playing", "waiting for the model")
