"""Episodes as scores: the available measures, their bounds, and what a single run could show."""

from math import inf, isnan, nan

import pytest

from balrog_rag.contracts.data import GameSpec, Seeds
from balrog_rag.results.episodes import Calls, Episode
from balrog_rag.results.scoring import (
    COMMON,
    NO_SAMPLE,
    PROGRESSION,
    bounds_by_env,
    count_lacking,
    figures_of,
    interval,
    measures_of,
    one_game_note,
    outlook,
    overall_interval,
    scores,
)


def episode(percent=0.0, env="nle", seed=0, task="T", **fields):
    game = GameSpec(env, task, Seeds(seed, 2))
    return Episode(
        f"{env}/{task}/00", game, {"name": "cot"}, {}, {}, "s", "c", progression=percent / 100, **fields
    )


def episodes(*percents, env="nle", seeds=None):
    return [
        episode(percent, env, place if seeds is None else seeds[place])
        for place, percent in enumerate(percents)
    ]


@pytest.mark.parametrize(
    ("name", "fields", "value"),
    [
        ("progression", {"percent": 12.5}, 12.5),
        ("steps", {"steps": 7}, 7),
        ("invalid", {"steps": 8, "invalid": 2}, 25.0),
        ("invalid", {"steps": 0, "invalid": 0}, 0.0),
        ("tokens", {"calls": {"act": Calls(1, 1500, 500)}}, 2.0),
        ("dollars", {"calls": {"act": Calls(dollars=0.25)}}, 0.25),
        ("seconds", {"calls": {"act": Calls(seconds=3.0)}}, 3.0),
        ("depth", {"most": {"depth": 5}, "last": {"depth": 2}}, 5.0),
        ("score", {"most": {"score": 90}, "last": {"score": 40}}, 40.0),
        ("held", {"followed": {"held": None}}, nan),
    ],
)
def test_the_value_of_a_measure(name, fields, value):
    measure = {each.name: each for each in measures_of(["nle"])}[name]
    assert list(figures_of([episode(**fields)], measure)) == pytest.approx([value], nan_ok=True)


def test_progression_is_first_then_the_kinds_own_then_what_every_game_has():
    names = [each.name for each in measures_of(["nle", "minihack"])]
    assert names[0] == "progression"
    assert names[-len(COMMON) :] == [each.name for each in COMMON]
    assert names.index("held") < names.index("steps")
    assert [each.kind for each in measures_of(["nle"]) if each.name in ("held", "steps")] == ["nle", ""]
    assert [each.name for each in measures_of([])] == ["progression", *[each.name for each in COMMON]]


def test_bounds_of_progression_are_each_kinds_and_those_of_a_measure_its_own():
    bounds = bounds_by_env(["nle", "minihack"])
    assert (bounds["nle"].binary, bounds["minihack"].binary) == (False, True)
    assert bounds["nle"].rise == 2.0
    depth = {each.name: each for each in measures_of(["nle"])}["depth"]
    assert set(map(repr, bounds_by_env(["nle", "minihack"], depth).values())) == {repr(depth.bounds)}
    assert (depth.bounds.least, depth.bounds.most, depth.bounds.rise) == (1.0, 50.0, 1.0)


def test_counts_of_events_have_no_upper_bound_and_are_never_drawn():
    measures = {each.name: each for each in measures_of(["nle"])}
    assert (measures["turns"].bounds.most, measures["turns"].bounds.counted) == (inf, True)
    assert not measures["turns"].drawn
    assert measures["depth"].drawn
    assert not measures["achievements"].drawn  # its kind says so


def test_only_measures_that_need_something_can_be_lacking():
    held = {each.name: each for each in measures_of(["nle"])}["held"]
    known, unknown = episode(followed={"held": 3.0}), episode(followed={"held": None})
    assert [count_lacking(each, held) for each in ([], [known], [known, unknown], [unknown] * 3)] == [
        0,
        0,
        1,
        3,
    ]
    assert count_lacking([unknown], PROGRESSION) == 0
    assert not interval([known, known, unknown], held).known
    assert interval([known, episode(followed={"held": 4.0}), known], held).known


def test_there_is_no_interval_of_nothing():
    found = interval([])
    assert not found.known
    assert isnan(found.low)
    assert not overall_interval({}).known


def test_a_score_carries_its_game_and_its_task():
    (score,) = scores([episode(25.0, task="A/b", seed=9)])
    assert (score.value, score.env, score.task) == (25.0, "nle", "A/b")
    assert score.game == "9/2/None/@"


@pytest.mark.parametrize(
    ("percents", "partial", "said"),
    [
        ([], "", "no finished episode, no verdict."),
        ([], "partial: 0 of 5", "no finished episode, no verdict."),
        (
            [1.0, 3.0],
            "partial: 2 of 5",
            f"partial: 2 of 5: 2.00 % of ended episodes, no interval: {NO_SAMPLE}.",
        ),
    ],
)
def test_without_episodes_or_with_a_part_of_them_nothing_is_concluded(percents, partial, said):
    assert outlook(episodes(*percents), partial) == said


@pytest.mark.parametrize(
    ("percents", "begins", "has"),
    [
        ([1.0], "1 episode: 1.00 % (", "too few episodes to compare with anything."),
        ([1.0, 2.0, 3.0], "3 episodes: 2.00 % (", "too few episodes to compare with anything."),
        ([2.0] * 8, "8 episodes: 2.00 % (", "too little spread to estimate what such a run could detect."),
        ([0.5, 1.0, 2.0, 1.5] * 5, "20 episodes: 1.25 % (", "against another 20 episodes it detects "),
    ],
)
def test_what_a_run_alone_could_show(percents, begins, has):
    said = outlook(episodes(*percents))
    assert said.startswith(begins)
    assert has in said
    assert "generalize" not in said


def test_how_many_episodes_would_do_is_said_only_where_they_do_not_do_yet():
    few, many = (outlook(episodes(*[0.5, 1.0, 2.0, 1.5] * times)) for times in (5, 400))
    assert "episodes an arm would detect 0.4" in few
    assert "an arm would detect" not in many
    assert "1600 episodes" in many


@pytest.mark.parametrize(
    ("seeds", "said"),
    [
        ([0], ""),
        ([0, 0, 0], " All of them play one game: results do not generalize to others."),
        ([0, 0, 1], ""),
    ],
)
def test_many_plays_of_one_game_are_pointed_out(seeds, said):
    assert one_game_note(episodes(*[1.0] * len(seeds), seeds=seeds)) == said
    assert one_game_note([]) == ""


def test_games_that_were_played_often_are_counted_as_games():
    said = outlook(episodes(*[0.5, 1.0, 2.0, 1.5, 1.0] * 4, seeds=[0, 1, 2, 3, 4] * 4))
    assert said.startswith("5 games: 1.20 % (")
    assert "20" not in said.split(":")[0]
